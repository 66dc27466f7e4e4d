// What everything above sees of a language model: a cursor over one sequence, provisional forward passes, and values
// that stay on the device until they are awaited; and of the drafters that read a target's hidden states. Types only:
// transformer.ts, cache/cursor.ts, ensemble/ and drafters/ implement them.

import type { CachePrecision } from '../kernels/cache/cache-precision.ts';
import type { LogitRules } from '../kernels/sampling/adjust-logits.ts';

export type { LogitRules } from '../kernels/sampling/adjust-logits.ts';
/** How keys and values are kept. */
export type { CachePrecision };

/** A value on the device, `rows` rows. Handing it on costs nothing; `read` is a GPU sync. */
export interface DeviceTensor {
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

/** How the logits of a run are changed before anything is drawn from them, and the text that this depends on. */
export interface TextRules {
  readonly rules: LogitRules;
  /** Tokens of the prompt. */
  readonly prompt: number;
  /** Prompt and committed tokens: all rows of the cursor, and the token that the next pass begins with. */
  tokens(): readonly number[];
}

/** A token drawn on the device, with its log-probability at temperature 1 without filters. */
export interface Choice {
  readonly token: number;
  readonly logprob: number;
  /** It ends an answer that nothing may follow, so it has no alternatives: no pass is needed to know it. */
  readonly ends?: true;
}

/** A token that was drawn on the device and never read back. It lasts for a round. */
export interface DeviceToken {
  /** Records the draw if that has not happened yet; gives the serial number of its entry in the device's token ring. */
  record(): number;
}

export type Token = number | DeviceToken;

/**
 * A filtered, normalised distribution kept on the device: what a sampled draft was drawn from. It lasts for a round.
 */
export interface DeviceDistribution {
  /** Its place among the distributions that the device keeps. */
  readonly distribution: number;
}

/** A token drawn on the device; `read` is the round's one readback. */
export interface Drawn {
  readonly rows: number;
  /** For a later pass of this model, or of another one on the device, before the token has been read. */
  readonly token: DeviceToken;
  /** What it was drawn from, where that was asked for. */
  readonly distribution: DeviceDistribution | null;
  /** Waits for the device. */
  read(): Promise<readonly Choice[]>;
}

/** How many nodes of a tree are verified, which only the device knows. */
export interface DeviceLimit {
  readonly limit: unknown;
}

/** Every node names an earlier node as its parent, or -1: a root, normally node 0 alone, the last committed token. */
export interface Tree {
  readonly tokens: readonly Token[];
  readonly parents: readonly number[];
  /** Nodes after the limit are scored and not kept. */
  readonly limit?: DeviceLimit;
}

/** A tree whose tokens and shape a drafter chose on the device; node 0 is the last committed token. */
export interface DeviceTree {
  readonly nodes: number;
  /** What the drafter knows of it. */
  readonly device: unknown;
}

/**
 * What a target verifies. `distributions[i - 1]` is what node i was drawn from; null = the drafts are deterministic
 * (one-hot). Sampled drafts are chains.
 */
export interface Draft {
  readonly tree: Tree | DeviceTree;
  readonly distributions: readonly DeviceDistribution[] | null;
}

/** What became of a draft. */
export interface Verdict {
  /** The whole tree, less what its limit leaves out, read back together with the verdict. */
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /**
   * Of every node but the anchor, what the target and the drafter gave that token at temperature 1 without filters;
   * null where the drafter has no distribution. Null: they are not known, under a constraint.
   */
  readonly probabilities: readonly { readonly target: number; readonly draft: number | null }[] | null;
  /** The kept nodes, node 0 (the anchor) first. */
  readonly path: readonly number[];
  /** The kept drafts and then the corrected or bonus token: as many as the path has nodes. */
  readonly choices: readonly Choice[];
  /** Of the last choice: `bonus` when every node of a root-to-leaf path was kept. */
  readonly source: 'corrected' | 'bonus';
}

/** Scored rows: what can be drawn from. */
export interface Scores {
  readonly rows: number;
  /** Row i scores the children of node i: `[rows, vocabulary]`. */
  readonly logits: DeviceTensor;
  /**
   * Draws the child of `row`, at the position after it; `distribution` keeps the distribution that it is drawn from.
   */
  draw(row: number, sampling: Sampling, options?: { readonly distribution?: boolean }): Drawn;
  /** The n most probable children of each row with their log-probabilities. One readback for all. */
  top(rows: readonly number[], n: number): Promise<readonly (readonly Choice[])[]>;
}

/** One forward pass. The cache forgets it unless a path is accepted. */
export interface Forward extends Scores {
  /**
   * For each tapped layer, in the order asked for: `[rows, hidden]`, the stream after that layer, before the final
   * norm.
   */
  readonly taps: readonly DeviceTensor[];
  /**
   * Draws the child of `row` among the allowed tokens (bit t % 32 of word t / 32), with one readback. A token that `draw`
   * gives and that is allowed is the one drawn here. Also after `accept` and `verify`, until the next pass.
   */
  drawAllowed(row: number, sampling: Sampling, allowed: Uint32Array): Promise<Choice>;
  /** Keeps this root-to-leaf path in the cache (node indices, ascending); the rest is forgotten. */
  accept(path: readonly number[]): void;
  /**
   * Decides on the device which drafts the target keeps, and keeps their path in the cache: one submit and one
   * readback of a few dozen bytes, with everything recorded before. The pass stays readable until the next one.
   */
  verify(distributions: Draft['distributions'], sampling: Sampling): Promise<Verdict>;
}

/** How `extend` reads tokens. */
export interface ExtendOptions {
  readonly signal?: AbortSignal;
  /**
   * Rows a pass: at most 32; 16 with a rollout, or with a capacity past longrope's original length. The result does not
   * depend on it by a bit.
   */
  readonly chunk?: number;
  /** Called with the number of rows computed so far. */
  readonly onProgress?: (rows: number) => void;
  /**
   * Called when a chunk has been recorded, before the next one reuses its memory: its rows are the next committed ones.
   */
  readonly onPass?: (pass: Pick<Forward, 'rows' | 'taps'>) => void;
}

/** One model's cached view of one sequence. */
export interface Cursor extends Disposable {
  /** Committed rows in the cache. */
  readonly length: number;
  /** Rows the cache can hold. */
  readonly capacity: number;
  /** The most levels of a tree that a drafter may grow on the device now; absent: any number. */
  readonly levels?: number;
  /** Commits tokens as a causal chain and returns a one-row pass: that of the last token. */
  extend(tokens: readonly number[], options?: ExtendOptions): Promise<Forward>;
  /** Scores a tree of at most `nodes` nodes (OpenCursor) without committing it. A tree may have several roots. */
  forward(tree: Tree | DeviceTree): Forward;
  /** Forgets everything after `length`. */
  rewind(length: number): void;
  /**
   * Whether a rewind to `length` leaves every row that the next pass needs. If not, that pass first reads all rows
   * again, without progress: a caller that has the text may rewind to 0 instead. Absent: always.
   */
  keeps?(length: number): boolean;
  /**
   * `count` continuations that read this cursor's rows without copying them, each with `room` rows of its own (which
   * the nodes of its provisional passes need too). While they live this cursor is frozen. `LanguageModel.forward`
   * scores several of them in one pass. Open the cursor with `forks` to set the memory aside.
   */
  fork(count: number, room: number): readonly Cursor[];
  /** Takes a fork's rows over as this cursor's own, and disposes of all its forks. */
  adopt(fork: Cursor): void;
  /**
   * A tree is refused until so many rows are committed: it is called with the prompt of a run, so that a system
   * which forgets to read the prompt gets an error. The default is 0.
   */
  expectPrompt(rows: number): void;
  /**
   * Passes to come change their logits by these rules, each row by its own text: what is committed, and the drafts on the
   * way to the row. Null: they leave them as they are, which is the default.
   */
  adjust(rules: TextRules | null): Promise<void>;
  /**
   * Of a cursor with `rollout`: in passes to come, rows are grounded on those at positions below `length`, and forks
   * made later too. It may lie beyond `length`. Until it is called every row is a source.
   */
  groundOn(length: number): void;
}

/** How the grounding of a token is computed from the model's own attention, over its last layers (SpecGuard). */
export interface Rollout {
  /** Where the model has fewer, all of them. */
  readonly layers: number | 'all';
  /** `threshold`: entries below 0.01 are dropped (the paper's); `residual`: half of every row stays where it is. */
  readonly variant: 'threshold' | 'renormalised' | 'plain' | 'residual';
  /** First positions that are never sources: 1 leaves out the attention sink. Default 0. */
  readonly skip?: number;
}

/** Committed rows [first, first + count) of a cursor. */
export interface CursorRows {
  readonly cursor: Cursor;
  readonly first: number;
  readonly count: number;
}

/** Draws of several passes, and values of rows, read together. */
export interface Gathered {
  readonly choices: readonly Choice[];
  /**
   * One list for each entry of rows: the share of every row's attention that ends in the sources. Empty without
   * `rollout`.
   */
  readonly grounding: readonly Float32Array[];
  /** One vector for each: the mean of the rows' hidden states after the last layer. Empty without `pool`. */
  readonly pooled: readonly Float32Array[];
}

/** What a cursor is opened with. */
export interface OpenCursor {
  /** Rows the cache must hold; at most the model's context limit. Default: that limit. */
  readonly capacity?: number;
  /** 0-based layers whose output stream every pass keeps. */
  readonly tapLayers?: readonly number[];
  readonly cache?: CachePrecision;
  /** What `fork` will be asked for at most: so many forks at once, each with so many rows. Default: none. */
  readonly forks?: { readonly count: number; readonly room: number };
  /** Nodes of the largest tree, at most 64; beyond 16 a tree takes several passes. Default 16. */
  readonly nodes?: number;
  /** Keeps the grounding of every row. Such a cursor scores chains only. */
  readonly rollout?: Rollout;
  /** Keeps every row's hidden state after the last layer. */
  readonly pool?: boolean;
  /**
   * Rows that the whole sequence will have, where it is known. With longrope (Phi-3) the logits of every row depend on
   * it; without it a row's are those of a sequence that ends with the row.
   */
  readonly length?: number;
  /**
   * Rows before its window that a layer with a window keeps too. After a rewind by more than that, the next pass may
   * have to read all rows again first (`Cursor.keeps`). Default 192.
   */
  readonly spare?: number;
}

/** One row of a model's raw logits, kept on the device past its pass: see `Ensemble.keep`. */
export interface KeptRow {
  readonly kept: number;
}

/**
 * How models of one vocabulary become one distribution r, by the identity of each and never by its role in a round.
 * `weighted`: r = Σ λₖ·pₖ, where pₖ is member k's distribution after temperature and filters; the weights λ are made to
 * sum to 1. `contrastive`: r is the distribution of the logits l₀ − μ · mean(l₁ …), after temperature and filters. At
 * temperature 0 r is one-hot at the argmax of what it is at temperature 1 without filters.
 */
export type Combination =
  | { readonly kind: 'weighted'; readonly weights: readonly number[] }
  | { readonly kind: 'contrastive'; readonly mu: number };

/** What an ensemble is opened with. */
export interface OpenEnsemble {
  /** Most drafts of a chain, at most 63. Default 15. */
  readonly drafts?: number;
}

/** Drafts of any of the members, in a chain. */
export interface EnsembleChain {
  readonly tokens: readonly Token[];
  /** Absolute, of the first draft. */
  readonly position: number;
  /** For each draft, the member whose distribution it was drawn from. */
  readonly proposers: readonly number[];
  /** For each draft, what every member (by identity) says of its position: the row that scores it. */
  readonly rows: readonly (readonly KeptRow[])[];
  /**
   * What every member says of the position after the last draft: a chain kept whole ends in a draw from r. Null: none.
   */
  readonly bonus: readonly KeptRow[] | null;
  /** Tokens that are not verified yet, read back with the verdict because the host has to know them. At most 64. */
  readonly pending: readonly DeviceToken[];
}

/** What became of a chain. */
export interface EnsembleVerdict {
  /** All drafts. */
  readonly tokens: readonly number[];
  readonly pending: readonly number[];
  /** How many drafts stay. */
  readonly kept: number;
  /**
   * The kept drafts, and the corrected or bonus token if there is one; `logprob` is log r, at temperature 0 as at 1.
   */
  readonly choices: readonly Choice[];
  /**
   * Of the last choice, where it is no draft: `bonus` was drawn from r itself, `corrected` from norm(max(0, r − q)).
   */
  readonly source: 'corrected' | 'bonus' | null;
  /** One for each choice. */
  readonly votes: readonly DeviceVote[];
}

/** How a token came about, for people: probabilities after temperature and filters, at temperature 0 as at 1. */
export interface DeviceVote {
  /** Of the chosen token under r. */
  readonly r: number;
  /** For each member: the token that it finds most probable, and what it gives the chosen one. */
  readonly own: readonly { readonly token: number; readonly probability: number; readonly committed: number }[];
}

/**
 * Models of one vocabulary on one device whose distributions are combined there. It borrows the models and does not own
 * them.
 */
export interface Ensemble extends Disposable {
  readonly members: number;
  /** Bytes on the device. */
  readonly bytes: number;
  /**
   * Keeps rows of a pass, which must be the newest of its model. They last until 2 · members · (drafts + 1) more rows
   * have been kept; after that they are refused.
   */
  keep(pass: Scores, first: number, count: number): readonly KeptRow[];
  /** Lets the device begin with what has been recorded so far. Without it a round is one submit. */
  submit(): void;
  /** The sampling with which a member draws its drafts, but for the seed: contrastive decoding draws them warmer. */
  drafting(sampling: Sampling): Sampling;
  /**
   * Decides under r which drafts stay, on the device: one submit and one readback, with everything recorded before.
   * Draft x stays with probability min(1, r(x)/q(x)), q being its member's distribution under `drafting`. A chain
   * without drafts is a draw from r.
   */
  verify(chain: EnsembleChain, sampling: Sampling): Promise<EnsembleVerdict>;
  /** The n most probable tokens under r, of the rows that every member keeps of each position. One readback for all. */
  top(
    positions: readonly (readonly KeptRow[])[],
    n: number,
    sampling: Sampling,
  ): Promise<readonly (readonly Choice[])[]>;
}

/** A model on the device. */
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
  /**
   * Takes the memory that drafts drawn at random need: awaited before `draw` with `distribution`, and before `verify`
   * with distributions. Absent where they are kept on the host.
   */
  keepDistributions?(): Promise<void>;
  /** A cursor at the beginning of a sequence. */
  open(options?: OpenCursor): Promise<Cursor>;
  /**
   * The one way into the model: `Cursor.forward` and `Cursor.extend` come through here. Several forks of one cursor are
   * scored in one pass, at most 16 rows together; a DeviceTree has a pass of its own.
   */
  forward(batch: readonly { readonly cursor: Cursor; readonly tree: Tree | DeviceTree }[]): readonly Forward[];
  /**
   * Reads draws of this round's passes and what is known of committed rows: one submit and one readback for all. Until
   * it is there, the cursors must stay and no other pass may begin.
   */
  gather(draws: readonly Drawn[], rows: readonly CursorRows[]): Promise<Gathered>;
  /** This model is member 0, the others follow; all of one vocabulary and on one device. */
  join(others: readonly LanguageModel[], combination: Combination, options?: OpenEnsemble): Promise<Ensemble>;
}

export interface OpenDrafter {
  /** Context rows it must hold; at most the drafter's limit, which is the default. */
  readonly capacity?: number;
  readonly cache?: CachePrecision;
}

/** A drafter that reads its target's taps, and was loaded for this target. */
interface Drafter extends Disposable {
  readonly family: string;
  /** 0-based layers of the target whose output it reads. */
  readonly tapLayers: readonly number[];
  /** Most context rows that a cursor can hold. */
  readonly context: number;
  /** Bytes on the device; what it borrows of its target is not counted. */
  readonly bytes: number;
  /** As a language model's. */
  keepDistributions?(): Promise<void>;
}

/** Drafts a block in one pass (DFlash). */
export interface BlockDrafter extends Drafter {
  readonly kind: 'dflash';
  /** The block it was trained for, the anchor counted: smaller ones are safe. */
  readonly blockSize: number;
  /** The target's token for each entry of its own vocabulary; null: it has the target's. */
  readonly ids: readonly number[] | null;
  open(options?: OpenDrafter): Promise<BlockCursor>;
}

export interface BlockCursor extends Disposable {
  /** Context rows appended. */
  readonly length: number;
  readonly capacity: number;
  /**
   * Takes the taps of these rows of a target's pass: one dispatch. They are fused, 16 at a time, before the next draft.
   */
  append(pass: Pick<Forward, 'taps'>, rows: readonly number[]): void;
  /**
   * [anchor, MASK …]: row j from 1 to blockSize - 1 scores the token at position length + j, and draws that position.
   * `logits` are over the drafter's own vocabulary.
   */
  draft(anchor: Token, blockSize: number): Scores;
  rewind(length: number): void;
}

/** Drafts a block in one pass and corrects each row by the token drafted before it (DSpark). */
export interface MarkovDrafter extends Drafter {
  readonly kind: 'dspark';
  /** The most drafts of a block: fewer are safe. */
  readonly drafts: number;
  /** Rows of the largest block: as many as drafts, or one more where the anchor's row does not draft. */
  readonly blockSize: number;
  /** Whether it says how probable it is that the target keeps a draft. */
  readonly confident: boolean;
  /** The target's token for each entry of its own vocabulary; null: it has the target's. */
  readonly ids: readonly number[] | null;
  open(options?: OpenDrafter): Promise<MarkovCursor>;
}

/** Drafts that follow the anchor. */
export interface MarkovBlock {
  readonly tokens: readonly DeviceToken[];
  /** What they were drawn from, at a temperature above 0. */
  readonly distributions: Draft['distributions'];
  /** Corrected, over the drafter's own vocabulary. */
  readonly logits: DeviceTensor;
  /**
   * For each draft, how probable it is that the target keeps it if it keeps all before it. It is made from the tokens
   * before that draft. One submit and one readback.
   */
  confidences(): Promise<readonly number[]>;
  /** How many of them are verified, by the same confidences. It stays on the device. */
  limit(rule: DraftLimit): DeviceLimit;
}

/** Which drafts of a block are verified: whether draft k is depends on the tokens before it alone. */
export type DraftLimit =
  /** Those before the first one whose confidence, or product of confidences so far, is below the threshold. */
  | { readonly rule: 'each' | 'survival'; readonly threshold: number }
  /** As long as the tokens expected for the cost still rise. `costs[n]`: of a pass over n drafts and the anchor. */
  | { readonly rule: 'schedule'; readonly costs: readonly number[] };

export interface MarkovCursor extends Disposable {
  /** Context rows appended. */
  readonly length: number;
  readonly capacity: number;
  /** Takes the taps of these rows of a target's pass. */
  append(pass: Pick<Forward, 'taps'>, rows: readonly number[]): void;
  /** Drafts from left to right. `confidence`: the confidences, or a limit by them, will be asked for. */
  draft(anchor: Token, drafts: number, sampling: Sampling, options?: { readonly confidence?: boolean }): MarkovBlock;
  /** The logits of a block before any correction, over the drafter's own vocabulary. */
  base(anchor: Token, drafts: number): DeviceTensor;
  rewind(length: number): void;
}

/** Drafts token by token from the target's features (EAGLE-3, or a layer of the target's checkpoint, MTP). */
export interface FeatureDrafter extends Drafter {
  readonly kind: 'eagle3' | 'mtp';
  /** The target's token for each entry of the drafter's vocabulary. */
  readonly ids: readonly number[];
  /** The most levels of a tree of this width. */
  deepest(width: number): number;
  open(options?: OpenDrafter): Promise<FeatureCursor>;
}

export interface TreeShape {
  /** Levels of drafts. */
  readonly depth: number;
  /** Beam of a level, and children of each of its nodes. */
  readonly width: number;
  /** Drafts kept, the anchor not counted. */
  readonly nodes: number;
}

/**
 * Drafts that follow the anchor, as the target's ids; with the distributions they were drawn from at a temperature
 * above 0.
 */
export interface FeatureChain {
  readonly tokens: readonly DeviceToken[];
  readonly distributions: Draft['distributions'];
  /** Of the last draft, over the drafter's own vocabulary: `FeatureDrafter.ids`. */
  readonly logits: DeviceTensor;
}

export interface FeatureCursor extends Disposable {
  /** Context rows appended. */
  readonly length: number;
  readonly capacity: number;
  /**
   * Takes the taps of these rows; `next[i]` is the token that follows `rows[i]`, so the last one is the next anchor. A
   * row depends on the token after it: of n tokens in common, n - 1 rows are.
   */
  append(pass: Pick<Forward, 'taps'>, rows: readonly number[], next: readonly Token[]): void;
  /** Drafts after the anchor, one by one. */
  chain(depth: number, sampling: Sampling): FeatureChain;
  /**
   * The most probable drafts after the anchor, one by one: of each place the `n` most probable tokens, best first, as the
   * target's ids. The first is drafted. `more` is told them and says whether the next place is drafted too, up to
   * `depth` places. A submit and a readback for each place.
   */
  chainWhile(
    depth: number,
    n: number,
    more: (best: readonly Choice[]) => boolean,
  ): Promise<readonly (readonly Choice[])[]>;
  /** The most probable drafts as a tree after the anchor. Growing another one forgets it. */
  tree(anchor: Token, shape: TreeShape): DeviceTree;
  rewind(length: number): void;
}
