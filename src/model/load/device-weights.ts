// A model's weights as device tensors, by the interpreter's names, and how the rows of a checkpoint reach them: each
// part of a matrix is packed on the host, written to the device when it is complete, and freed.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Matrix, MatrixPart } from '../../kernels/matmul/matmul.ts';
import type { RowBlock } from '../../weights/checkpoint.ts';
import { MatrixPacker } from '../../weights/quantize/quantize.ts';
import { type Architecture, type Padding, weightKey } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import { type Piece, type PlannedMatrix, type PlannedWeight, parts } from './weight-layout.ts';

export interface AttentionWeights {
  readonly kind: 'attention';
  readonly qkv: Matrix;
  readonly qkvBias: Tensor | undefined;
  readonly queryNorm: Tensor | undefined;
  readonly keyNorm: Tensor | undefined;
  readonly output: Matrix;
  readonly outputBias: Tensor | undefined;
  readonly gate: Matrix | undefined;
  readonly gateBias: Tensor | undefined;
}

export interface ConvolutionWeights {
  readonly kind: 'convolution';
  /** Rows are B, C and u. */
  readonly input: Matrix;
  readonly inputBias: Tensor | undefined;
  /** `[channel][tap]`, and then the biases. */
  readonly taps: Tensor;
  readonly output: Matrix;
  readonly outputBias: Tensor | undefined;
}

export interface DeltaWeights {
  readonly kind: 'delta-net';
  /** Rows are queries, keys, values and gates. */
  readonly input: Matrix;
  /** Rows are the rates and then the decays of the value heads. */
  readonly rates: Matrix;
  /** `[channel][tap]`. */
  readonly taps: Tensor;
  readonly decayLog: Tensor;
  readonly decayBias: Tensor;
  readonly norm: Tensor;
  readonly output: Matrix;
}

export type MixerWeights = AttentionWeights | ConvolutionWeights | DeltaWeights;

export interface BlockWeights {
  /** Norms are undefined where the family has none. */
  readonly attentionNorm: Tensor | undefined;
  readonly mixer: MixerWeights;
  readonly attentionPostNorm: Tensor | undefined;
  readonly feedForwardNorm: Tensor | undefined;
  /** Of a plain feed-forward part up alone. */
  readonly gateUp: Matrix;
  readonly gateUpBias: Tensor | undefined;
  readonly down: Matrix;
  readonly downBias: Tensor | undefined;
  readonly feedForwardPostNorm: Tensor | undefined;
}

/** Projection and norm of what a drafter reads of its target. */
export interface FeatureWeights {
  readonly fuse: Matrix;
  readonly norm: Tensor;
  /** Of the token's embedding, where both are joined. */
  readonly embeddingNorm: Tensor | undefined;
  /** Of the taps before they are fused; one value for each of a row's taps side by side. */
  readonly tapNorm: Tensor | undefined;
}

/** The heads of a DSpark drafter (architecture.ts). */
export interface MarkovWeights {
  /** `[vocabulary of the target, rank]`. */
  readonly from: Matrix | undefined;
  /** `[vocabulary of the draft, rank]`. */
  readonly to: Matrix | undefined;
  readonly gate: Matrix | undefined;
  readonly gateBias: Tensor | undefined;
  readonly confidence: Matrix | undefined;
  readonly confidenceBias: Tensor | undefined;
}

/** What a drafter borrows of its target. */
export interface Lent {
  readonly embedding: Matrix;
  readonly head: Matrix;
  readonly headBias: Tensor | undefined;
  readonly finalNorm: Tensor;
  readonly epsilon: number;
}

export interface Weights {
  readonly embedding: Matrix;
  readonly positions: Matrix | undefined;
  /** Null in a language model. */
  readonly features: FeatureWeights | null;
  readonly blocks: readonly BlockWeights[];
  readonly finalNorm: Tensor;
  readonly head: Matrix;
  readonly headBias: Tensor | undefined;
  /** Empty but in a DSpark drafter. */
  readonly markov: MarkovWeights;
}

/** Takes the row blocks of one checkpoint tensor. */
export type Sink = (block: RowBlock) => void;

/** Device memory for every planned weight, and where the row blocks of each checkpoint tensor go. */
export interface Allocated {
  readonly matrices: ReadonlyMap<string, Matrix>;
  readonly vectors: ReadonlyMap<string, Tensor>;
  readonly sinks: ReadonlyMap<string, Sink>;
}

const allocateMatrix = (arena: Arena, weight: PlannedMatrix, maxBinding: number): Matrix => ({
  format: weight.format,
  rows: weight.rows,
  columns: weight.columns,
  parts: parts(weight, maxBinding).map(({ start, layout }) => ({
    start,
    layout,
    weights: arena.storage(layout.weightBytes, weight.key),
    scales: arena.storage(layout.scaleBytes, `${weight.key} scales`),
  })),
});

/** Packs one part; the host copy exists from the part's first row until its last. */
class PartSink {
  readonly #gpu: Gpu;
  readonly #part: MatrixPart;
  #packer: MatrixPacker | null = null;
  #missing: number;

  /** `pieces`: all that the matrix is made of. What none of them fills is zero. */
  constructor(gpu: Gpu, part: MatrixPart, pieces: readonly Piece[]) {
    this.#gpu = gpu;
    this.#part = part;
    const { start, layout } = part;
    this.#missing = pieces.reduce((sum, { rows, first, step }) => {
      const below = (row: number): number => Math.min(rows, Math.max(0, Math.ceil((row - first) / step)));
      return sum + below(start + layout.rows) - below(start);
    }, 0);
  }

  put(piece: Piece, { firstRow, rows, raw, decode, repacker }: RowBlock): void {
    const { start, layout, weights, scales } = this.#part;
    const { first, step } = piece;
    const offset = piece.from - firstRow;
    // Row r of the piece is row offset + r of the block and row first + r · step of the matrix. Of the block's rows,
    // [from, to) are the piece's and this part's.
    const blockRow = (row: number): number => Math.ceil((row - first) / step) + offset;
    const from = Math.max(0, offset, blockRow(start));
    const to = Math.min(rows, offset + piece.rows, blockRow(start + layout.rows));
    if (from >= to) return;
    this.#packer ??= new MatrixPacker(layout);
    const row = first + (from - offset) * step - start;
    const rowBytes = raw.byteLength / rows;
    if (!this.#packer.putRaw(row, repacker(layout.format), raw.subarray(from * rowBytes, to * rowBytes), step))
      this.#packer.put(row, decode().subarray(from * layout.columns, to * layout.columns), step);
    this.#missing -= to - from;
    if (this.#missing > 0) return;
    const { queue } = this.#gpu.device;
    queue.writeBuffer(weights.buffer, 0, this.#packer.weights);
    if (layout.scaleBytes > 0) queue.writeBuffer(scales.buffer, 0, this.#packer.scales);
    this.#packer = null;
  }
}

/** Keeps the rows of a tensor until all are there, and hands its columns on as rows. */
const transposing = (take: Sink): Sink => {
  let columns = new Float32Array();
  return (block) => {
    const [inputs, outputs] = block.tensor.shape as [number, number];
    const values = block.decode();
    if (block.firstRow === 0) columns = new Float32Array(inputs * outputs);
    for (let i = 0; i < values.length; i++)
      columns[(i % outputs) * inputs + block.firstRow + Math.floor(i / outputs)] = values[i] as number;
    if (block.firstRow + block.rows < inputs) return;
    const decoded = columns;
    columns = new Float32Array();
    const raw = new Uint8Array(decoded.buffer);
    take({ ...block, firstRow: 0, rows: outputs, raw, decode: () => decoded, repacker: () => undefined });
  };
};

/** Hands rows on with the zeros that each head has on the device. */
const widening =
  (take: Sink, { from, to }: Padding): Sink =>
  (block) => {
    const values = block.decode();
    const wide = new Float32Array((values.length / from) * to);
    for (let head = 0; head * from < values.length; head++)
      wide.set(values.subarray(head * from, (head + 1) * from), head * to);
    take({ ...block, decode: () => wide, repacker: () => undefined });
  };

/** The pieces of one weight, by the tensor that they come from. */
const byTensor = (pieces: readonly Piece[]): ReadonlyMap<string, readonly Piece[]> => {
  const made = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const known = made.get(piece.checkpoint);
    if (known) known.push(piece);
    else made.set(piece.checkpoint, [piece]);
  }
  return made;
};

export const allocate = (gpu: Gpu, arena: Arena, planned: readonly PlannedWeight[]): Allocated => {
  const matrices = new Map<string, Matrix>();
  const vectors = new Map<string, Tensor>();
  const sinks = new Map<string, Sink>();
  /** One tensor may hold several weights. */
  const sink = (checkpoint: string, take: Sink): void => {
    const others = sinks.get(checkpoint);
    sinks.set(
      checkpoint,
      others
        ? (block) => {
            others(block);
            take(block);
          }
        : take,
    );
  };
  for (const weight of planned) {
    if (weight.kind === 'vector') {
      const tensor = arena.storage(weight.length * 4, weight.key);
      vectors.set(weight.key, tensor);
      const whole = new Float32Array(weight.length);
      for (const [checkpoint, pieces] of byTensor(weight.pieces))
        sink(checkpoint, (block) => {
          // A vector is one row of its tensor, and comes in one block; taps of a convolution may come in several.
          const values = block.decode();
          const at = (block.firstRow * values.length) / block.rows;
          for (const { from, rows, first, step } of pieces) {
            const own = values.subarray(Math.max(0, from - at), Math.max(0, from + rows - at));
            const skipped = Math.max(0, at - from);
            for (const [i, value] of own.entries())
              whole[first + (skipped + i) * step] = (value + weight.offset) * weight.factor;
          }
          gpu.device.queue.writeBuffer(tensor.buffer, 0, whole);
        });
      continue;
    }
    const matrix = allocateMatrix(arena, weight, gpu.device.limits.maxStorageBufferBindingSize);
    const partSinks = matrix.parts.map((part) => new PartSink(gpu, part, weight.pieces));
    matrices.set(weight.key, matrix);
    for (const [checkpoint, pieces] of byTensor(weight.pieces)) {
      const putAll: Sink = (block) => {
        for (const piece of pieces) for (const part of partSinks) part.put(piece, block);
      };
      const put = weight.widened ? widening(putAll, weight.widened) : putAll;
      sink(checkpoint, weight.transposed ? transposing(put) : put);
    }
  }
  return { matrices, vectors, sinks };
};

/** What was allocated, by the names that the interpreter uses. */
export const assemble = (
  { blocks, input, head }: Architecture,
  { matrices, vectors }: Allocated,
  lent?: Lent,
): Weights => {
  const need = <T>(found: T | undefined, key: string): T => {
    if (!found) throw new Error(`no device memory was planned for ${key}`);
    return found;
  };
  const matrix = (key: string): Matrix => need(matrices.get(key), key);
  const vector = (key: string): Tensor => need(vectors.get(key), key);
  return {
    embedding: input.embedding === 'target' ? need(lent?.embedding, 'embedding') : matrix('embedding'),
    positions: matrices.get('positions'),
    features: input.features
      ? {
          fuse: matrix('fuse'),
          norm: vector('featureNorm'),
          embeddingNorm: vectors.get('embeddingNorm'),
          tapNorm: vectors.get('tapNorm'),
        }
      : null,
    blocks: blocks.map((block, layer) => {
      const of = (name: string): string => weightKey({ name, layer });
      const attention = (): AttentionWeights => ({
        kind: 'attention',
        qkv: matrix(of('qkv')),
        qkvBias: vectors.get(of('qkvBias')),
        queryNorm: vectors.get(of('queryNorm')),
        keyNorm: vectors.get(of('keyNorm')),
        output: matrix(of('output')),
        outputBias: vectors.get(of('outputBias')),
        gate: matrices.get(of('outputGate')),
        gateBias: vectors.get(of('outputGateBias')),
      });
      const convolution = (): ConvolutionWeights => ({
        kind: 'convolution',
        input: matrix(of('convolutionInput')),
        inputBias: vectors.get(of('convolutionInputBias')),
        taps: vector(of('convolution')),
        output: matrix(of('convolutionOutput')),
        outputBias: vectors.get(of('convolutionOutputBias')),
      });
      const deltaNet = (): DeltaWeights => ({
        kind: 'delta-net',
        input: matrix(of('deltaInput')),
        rates: matrix(of('deltaRates')),
        taps: vector(of('convolution')),
        decayLog: vector(of('decayLog')),
        decayBias: vector(of('decayBias')),
        norm: vector(of('deltaNorm')),
        output: matrix(of('deltaOutput')),
      });
      const mixers = { attention, convolution, 'delta-net': deltaNet };
      return {
        attentionNorm: vectors.get(of('attentionNorm')),
        mixer: mixers[block.mixer.kind](),
        attentionPostNorm: vectors.get(of('attentionPostNorm')),
        feedForwardNorm: vectors.get(of('feedForwardNorm')),
        gateUp: matrix(of('gateUp')),
        gateUpBias: vectors.get(of('gateUpBias')),
        down: matrix(of('down')),
        downBias: vectors.get(of('downBias')),
        feedForwardPostNorm: vectors.get(of('feedForwardPostNorm')),
      };
    }),
    finalNorm: vector('finalNorm'),
    head: head === 'target' ? need(lent?.head, 'head') : matrix(head === 'tied' ? 'embedding' : 'head'),
    headBias: head === 'target' ? lent?.headBias : vectors.get('headBias'),
    markov: {
      from: matrices.get('markovFrom'),
      to: matrices.get('markovTo'),
      gate: matrices.get('markovGate'),
      gateBias: vectors.get('markovGateBias'),
      confidence: matrices.get('confidence'),
      confidenceBias: vectors.get('confidenceBias'),
    },
  };
};
