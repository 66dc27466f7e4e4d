// What a language model is to everything above it: a cursor over one sequence, provisional forward passes, and values
// that stay on the device until somebody awaits them. Types only; `transformer.ts` and `cursor.ts` implement them.

/** A value on the device, `rows` rows. Handing it on costs nothing; `read` is a GPU sync. */
export interface Held {
  readonly rows: number;
  /** Row-major f32 without padding. */
  read(): Promise<Float32Array>;
}

/** temperature 0 is the one-hot argmax (lowest index wins ties); topK 0, topP 1 and minP 0 switch those filters off. */
export interface Sampling {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  /** 32-bit; the random numbers are keyed (seed, absolute position, token). */
  readonly seed: number;
}

/** A token drawn on the device, with its log-probability under the unmodified distribution (temperature 1). */
export interface Choice {
  readonly token: number;
  readonly logprob: number;
}

/** Tokens drawn on the device; `read` is the round's one readback. */
export interface Drawn {
  readonly rows: number;
  read(): Promise<readonly Choice[]>;
}

/** Every node names an earlier node as its parent, or -1: a root, normally node 0 alone, the last committed token. */
export interface Tree {
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
}

/** One forward pass. The cache forgets it unless a path is accepted. */
export interface Forward {
  readonly rows: number;
  /** Row i scores the children of node i: `[rows, vocabulary]`. */
  readonly logits: Held;
  /** For each tapped layer, in the order asked for: `[rows, hidden]`, the stream after that layer, before the final norm. */
  readonly taps: readonly Held[];
  /** Draws the child of `row`, at the position after it. */
  draw(row: number, sampling: Sampling): Drawn;
  /** The n most probable children of `row` with their log-probabilities. A readback of its own. */
  top(row: number, n: number): Promise<readonly Choice[]>;
  /** Keeps this root-to-leaf path in the cache (node indices, ascending); the rest is forgotten. */
  accept(path: readonly number[]): void;
}

export interface ExtendOptions {
  readonly signal?: AbortSignal;
  /** Rows a pass, at most 16. The result does not depend on it by a bit. */
  readonly chunk?: number;
  readonly onProgress?: (rows: number) => void;
}

/** One model's cached view of one sequence. */
export interface Cursor extends Disposable {
  /** Committed rows in the cache. */
  readonly length: number;
  /** Rows the cache can hold. */
  readonly capacity: number;
  /** Commits tokens as a causal chain and returns a one-row pass: that of the last token. */
  extend(tokens: readonly number[], options?: ExtendOptions): Promise<Forward>;
  /** Scores a tree of at most `nodes` nodes (OpenCursor) without committing it. A tree may have several roots. */
  forward(tree: Tree): Forward;
  /** Forgets everything after `length`. */
  rewind(length: number): void;
  /**
   * `count` continuations that read this cursor's rows without copying them, each with `room` rows of its own (which
   * the nodes of its provisional passes need too). While they live this cursor is frozen. `LanguageModel.forward`
   * scores several of them in one pass. Open the cursor with `forks` to set the memory aside.
   */
  fork(count: number, room: number): readonly Cursor[];
  /** Takes a fork's rows over as this cursor's own, and disposes of all its forks. */
  adopt(fork: Cursor): void;
}

export interface OpenCursor {
  /** Rows the cache must hold; at most the model's context limit. Default: that limit. */
  readonly capacity?: number;
  /** 0-based layers whose output stream every pass keeps. */
  readonly tapLayers?: readonly number[];
  readonly cache?: 'f32' | 'f16';
  /** What `fork` will be asked for at most: so many forks at once, each with so many rows. Default: none. */
  readonly forks?: { readonly count: number; readonly room: number };
  /** Nodes of the largest tree, at most 64; beyond 16 a tree takes several passes. Default 16. */
  readonly nodes?: number;
}

export interface LanguageModel extends Disposable {
  readonly family: string;
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  /** Most rows a cursor can hold: the model's own limit. */
  readonly context: number;
  /** Bytes on the device: weights, and activations that every cursor shares. */
  readonly bytes: number;
  /** False where this device does not score a row alone as it does among others; such a model pads its passes. */
  readonly batchInvariant: boolean;
  open(options?: OpenCursor): Promise<Cursor>;
  /** Several forks of one cursor in one pass; at most 16 rows together. */
  forward(batch: readonly { readonly cursor: Cursor; readonly tree: Tree }[]): readonly Forward[];
}
