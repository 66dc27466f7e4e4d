// The activations of a pass, declared once: a model allocates this list, and the memory estimate adds it up. Scratch
// for a new kernel is one line in `declare`; if it grows with the context, in `cacheScratch` (cache/kv-cache.ts).
import { MOST_ROWS, PROMPT_ROWS } from '../../base/pass-rows.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { ROW_WORDS } from '../../kernels/cache/rows.ts';
import { deltaChannels } from '../../kernels/delta-net/delta-shape.ts';
import type { Architecture, Block } from '../architecture.ts';
import { type Arena, activationBytes } from '../arena.ts';

/** The window of a block; other mixers than attention go along all rows, so they need those without a window. */
const windowOf = ({ mixer }: Block): number | null => (mixer.kind === 'attention' ? mixer.window : null);

/** Distinct windows, in the order of their first layer. */
export const windowsOf = ({ blocks }: Architecture): readonly (number | null)[] => [...new Set(blocks.map(windowOf))];

/** `width`: rows of so many f32, those of a prompt's pass if `rows` is left out; `words`: so many words. */
type Size = { readonly width: number; readonly rows?: number } | { readonly words: number };

const rowsIn = ({ rows = PROMPT_ROWS }: { readonly rows?: number }): number => rows;

/** Every delta net of a model has the same shape. */
const deltaScratch = ({ blocks }: Architecture) => {
  const mixer = blocks.map((block) => block.mixer).find(({ kind }) => kind === 'delta-net');
  if (mixer?.kind !== 'delta-net') return null;
  const { shape } = mixer;
  const values = shape.valueHeads * shape.valueDim;
  return {
    /** Queries, keys, values and gates, as they were projected. */
    projected: { width: deltaChannels(shape) + values },
    rates: { width: 2 * shape.valueHeads },
    mixed: { width: deltaChannels(shape) },
    queries: { width: shape.keyHeads * shape.keyDim },
    ruled: { width: values },
    gatedOutput: { width: values },
  };
};

/**
 * `head`: rows of the matrix that gives the logits; `scored`: the most rows that have logits. A smaller pass uses the
 * first rows of each activation.
 */
const declare = (architecture: Architecture, head: number, scored = MOST_ROWS) => {
  const { sizes, blocks, spreadOver } = architecture;
  const { features } = architecture.input;
  const { hidden, heads, keyValueHeads, paddedHead: headDim, feedForward } = sizes;
  return {
    always: {
      stream: { width: hidden },
      normed: { width: hidden },
      qkv: { width: (heads + 2 * keyValueHeads) * headDim },
      query: { width: heads * headDim },
      attended: { width: heads * headDim },
      gated: { width: feedForward },
      /** The rows of the stream that a head of few rows scores. */
      picked: { width: hidden },
      pickedIndices: { words: MOST_ROWS },
      everyIndex: { words: PROMPT_ROWS },
      /** What the head gives. */
      logits: { width: head, rows: scored },
    },
    /** The rows as kernels read them. One list for each distinct window, because visibility differs. */
    rows: { words: PROMPT_ROWS * ROW_WORDS },
    convolution: blocks.some(({ mixer }) => mixer.kind === 'convolution')
      ? {
          /** B, C and u side by side. */
          gates: { width: 3 * hidden },
          convolved: { width: hidden },
        }
      : null,
    delta: deltaScratch(architecture),
    outputGate: blocks.some(({ mixer }) => mixer.kind === 'attention' && mixer.gate)
      ? { gate: { width: heads * headDim } }
      : null,
    /** Logits of a reduced head, spread over the target's vocabulary. */
    scores: spreadOver === null ? null : { width: spreadOver, rows: MOST_ROWS },
    /** What drafters need besides. */
    features: features && {
      /** The taps of each row side by side. */
      gathered: { width: features.count * hidden },
      /** The same after a norm, which cannot write where it reads. */
      normedTaps: { width: features.count * hidden },
      /** Projected and normed, where blocks make keys of them. */
      fused: { width: hidden },
      /** The tokens' embeddings, where they do not begin the stream. */
      embedded: { width: hidden },
      /** Embedding and stream, normed, side by side. */
      paired: { width: 2 * hidden },
    },
  };
};

type Declared = ReturnType<typeof declare>;
type Tensors<T> = { readonly [Name in keyof T]: Tensor };

export interface Scratch extends Tensors<Declared['always']> {
  /** By window; [0] is also what embedding and RoPE read. */
  readonly rows: readonly Tensor[];
  /** What tokens are drawn from: the logits, or those of a reduced head spread over the whole vocabulary. */
  readonly scores: Tensor;
  /** Null where no layer convolves. */
  readonly convolution: Tensors<NonNullable<Declared['convolution']>> | null;
  /** Null where no layer is a delta net. */
  readonly delta: Tensors<NonNullable<Declared['delta']>> | null;
  /** Null where no attention is gated. */
  readonly outputGate: Tensors<NonNullable<Declared['outputGate']>> | null;
  /** Null in a language model. */
  readonly features: Tensors<NonNullable<Declared['features']>> | null;
}

/** `head`: rows of the matrix that gives the logits; the vocabulary, or a judge's labels. `scored`: as in `declare`. */
export const makeScratch = (
  gpu: Gpu,
  arena: Arena,
  architecture: Architecture,
  head = architecture.sizes.vocabulary,
  scored = MOST_ROWS,
): Scratch => {
  const { always, rows, convolution, delta, outputGate, scores, features } = declare(architecture, head, scored);
  const make = (size: Size, label: string): Tensor =>
    'width' in size ? arena.activation(rowsIn(size), size.width, label) : arena.storage(size.words * 4, label);
  const all = <T extends Readonly<Record<string, Size>>>(sizes: T): Tensors<T> =>
    Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, make(size, name)])) as Tensors<T>;
  const tensors = all(always);
  const indices = Uint32Array.from({ length: PROMPT_ROWS }, (_, i) => i);
  gpu.device.queue.writeBuffer(tensors.everyIndex.buffer, 0, indices);
  return {
    ...tensors,
    rows: windowsOf(architecture).map(() => make(rows, 'rows')),
    scores: scores ? make(scores, 'scores') : tensors.logits,
    convolution: convolution && all(convolution),
    delta: delta && all(delta),
    outputGate: outputGate && all(outputGate),
    features: features && all(features),
  };
};

const bytesOf = (size: Size): number => ('width' in size ? activationBytes(rowsIn(size), size.width) : size.words * 4);

/** Bytes of what `makeScratch` allocates for a language model. */
export const scratchBytes = (architecture: Architecture): number => {
  const { vocabulary } = architecture.sizes;
  const { always, rows, convolution, delta, outputGate, scores, features } = declare(architecture, vocabulary);
  const sizes: readonly Size[] = [
    ...Object.values(always),
    ...windowsOf(architecture).map(() => rows),
    ...(scores ? [scores] : []),
    ...Object.values(convolution ?? {}),
    ...Object.values(delta ?? {}),
    ...Object.values(outputGate ?? {}),
    ...Object.values(features ?? {}),
  ];
  return sizes.reduce((sum, size) => sum + bytesOf(size), 0);
};
