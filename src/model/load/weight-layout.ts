// How an architecture's weights lie on the device: q, k and v are rows of one matrix, gate and up rows are interleaved,
// vectors are f32, and the bias of a norm or of a convolution follows its weights. It follows from the declaration and the
// file's types; the loader, the memory estimate and `inspect` use it.
import { matrixLayout, ROW_PAD, splitRows, type WeightFormat } from '../../weights/quantize/device-layout.ts';
import { type Precision, storedFormat } from '../../weights/quantize/quantize.ts';
import {
  type Architecture,
  type Padding,
  type WeightName,
  type WeightSpec,
  weightKey,
  weightSpecs,
} from '../architecture.ts';

/** Row `from + r` of a checkpoint tensor, for r below `rows`, becomes row `first + r · step` of the matrix. */
export interface Piece {
  readonly checkpoint: string;
  readonly from: number;
  readonly rows: number;
  readonly first: number;
  readonly step: number;
}

export interface PlannedMatrix {
  readonly kind: 'matrix';
  /** `embedding`, `3.qkv` … */
  readonly key: string;
  readonly format: WeightFormat;
  readonly rows: number;
  readonly columns: number;
  readonly pieces: readonly Piece[];
  /** Rows of the tensors are columns here. */
  readonly transposed?: boolean;
  /** Its columns are heads, of which the tensors have fewer elements. */
  readonly widened?: Padding;
}

export interface PlannedVector {
  readonly kind: 'vector';
  readonly key: string;
  /** With the padding that a bias needs (one value for each padded row of its matrix). */
  readonly length: number;
  /** Added to every value of the file, which is then multiplied by `factor`. */
  readonly offset: number;
  readonly factor: number;
  readonly pieces: readonly Piece[];
}

export type PlannedWeight = PlannedMatrix | PlannedVector;

/** Weights that share one matrix or vector on the device; every other weight has its own. */
const TOGETHER: Partial<Record<WeightName, { readonly key: string; readonly interleaved: boolean }>> = {
  query: { key: 'qkv', interleaved: false },
  key: { key: 'qkv', interleaved: false },
  value: { key: 'qkv', interleaved: false },
  queryBias: { key: 'qkvBias', interleaved: false },
  keyBias: { key: 'qkvBias', interleaved: false },
  valueBias: { key: 'qkvBias', interleaved: false },
  deltaInput: { key: 'deltaInput', interleaved: false },
  deltaGate: { key: 'deltaInput', interleaved: false },
  deltaRate: { key: 'deltaRates', interleaved: false },
  deltaDecay: { key: 'deltaRates', interleaved: false },
  convolution: { key: 'convolution', interleaved: false },
  convolutionBias: { key: 'convolution', interleaved: false },
  attentionNorm: { key: 'attentionNorm', interleaved: false },
  attentionNormBias: { key: 'attentionNorm', interleaved: false },
  feedForwardNorm: { key: 'feedForwardNorm', interleaved: false },
  feedForwardNormBias: { key: 'feedForwardNorm', interleaved: false },
  finalNorm: { key: 'finalNorm', interleaved: false },
  finalNormBias: { key: 'finalNorm', interleaved: false },
  gate: { key: 'gateUp', interleaved: true },
  up: { key: 'gateUp', interleaved: true },
  gateBias: { key: 'gateUpBias', interleaved: true },
  upBias: { key: 'gateUpBias', interleaved: true },
};

/** From the least to the most exact: tensors of one matrix that are stored differently take the better one. */
const EXACTNESS: readonly WeightFormat[] = ['q4', 'q4m', 'q6', 'q8', 'f16', 'f32'];

const elementsOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** Only two dimensions make a matrix. The taps of a depthwise convolution, [channels, 1, taps], stay f32 as vectors do. */
const columnsOf = (shape: readonly number[]): number => (shape.length === 2 ? (shape[1] as number) : 1);
/** Types whose values stand by themselves. */
const PLAIN: readonly string[] = ['F32', 'F16', 'BF16', 'F64'];
/** Matrices with a row for each token keep at least 8 bits. */
const VOCABULARY: readonly string[] = ['embedding', 'positions', 'head', 'markovFrom', 'markovTo'];

/** Rows of a weight by heads, each put where it begins on the device. */
const padHeads = (pieces: readonly Piece[], { from: size, to }: Padding): Piece[] =>
  pieces.flatMap((piece) => {
    const byHead: Piece[] = [];
    for (let done = 0; done < piece.rows; ) {
      const row = piece.first + done;
      const rows = Math.min(size - (row % size), piece.rows - done);
      byHead.push({ ...piece, from: piece.from + done, rows, first: Math.floor(row / size) * to + (row % size) });
      done += rows;
    }
    return byHead;
  });

/** Moving columns breaks up the blocks of quantised types. */
const typeOnceMoved = (type: string): string => (PLAIN.includes(type) ? type : 'F32');

const planWeight = (
  key: string,
  members: readonly WeightSpec[],
  typeOf: (checkpoint: string) => string,
  precision: Precision | undefined,
): PlannedWeight => {
  const interleaved = TOGETHER[members[0]?.name as WeightName]?.interleaved ?? false;
  let rows = 0;
  /** Of one weight, from row `first` on. */
  const piecesOf = ({ checkpoint, firstRow: from, shape, stripes, order }: WeightSpec, first: number): Piece[] => {
    const own = elementsOf(shape) / columnsOf(shape);
    if (order)
      return Array.from({ length: own }, (_, row) => {
        const within = row % order.length;
        return {
          checkpoint,
          from: from + row - within + (order[within] as number),
          rows: 1,
          first: first + row,
          step: 1,
        };
      });
    if (!stripes) return [{ checkpoint, from, rows: own, first, step: interleaved ? members.length : 1 }];
    return Array.from({ length: own / stripes.rows }, (_, stripe) => ({
      checkpoint,
      from: stripe * stripes.of + stripes.from,
      rows: stripes.rows,
      first: first + stripe * stripes.rows,
      step: 1,
    }));
  };
  const pieces = members.flatMap((member, i): readonly Piece[] => {
    const { padded, shape } = member;
    const own = elementsOf(shape) / columnsOf(shape);
    const first = rows;
    if (padded?.axis !== 'rows') {
      rows += own;
      return piecesOf(member, interleaved ? i : first);
    }
    rows += (own / padded.from) * padded.to;
    return padHeads(piecesOf(member, 0), padded).map((piece) => ({ ...piece, first: first + piece.first }));
  });
  const [{ shape, padded, offset = 0, transposed = false }] = members as [WeightSpec];
  const widened = padded?.axis === 'columns' ? padded : undefined;
  const columns = widened ? (columnsOf(shape) / widened.from) * widened.to : columnsOf(shape);
  if (shape.length !== 2) {
    const length = Math.ceil(rows / ROW_PAD) * ROW_PAD;
    // The mean of squares over a padded head is smaller than that over its own elements.
    const normed = members[0]?.name === 'queryNorm' || members[0]?.name === 'keyNorm';
    const factor = normed && padded ? Math.sqrt(padded.from / padded.to) : 1;
    return { kind: 'vector', key, length, offset, factor, pieces };
  }
  const vocabulary = VOCABULARY.includes(key);
  const formats = members.map(({ checkpoint }) =>
    // A single row saves no memory, and thresholds are compared with what it gives.
    key === 'confidence'
      ? 'f32'
      : storedFormat(widened ? typeOnceMoved(typeOf(checkpoint)) : typeOf(checkpoint), precision, vocabulary),
  );
  const best = EXACTNESS[Math.max(...formats.map((each) => EXACTNESS.indexOf(each)))] as WeightFormat;
  // Weights of 4 bits with a minimum would lose more in 6 bits than they do in 8.
  const format = best === 'q6' && formats.some((each) => each !== 'q6') ? 'q8' : best;
  return { kind: 'matrix', key, format, rows, columns, pieces, transposed, ...(widened && { widened }) };
};

export const planWeights = (
  architecture: Architecture,
  typeOf: (checkpoint: string) => string,
  precision: Precision | undefined,
): readonly PlannedWeight[] => {
  const groups = new Map<string, WeightSpec[]>();
  for (const spec of weightSpecs(architecture)) {
    const key = weightKey({ name: TOGETHER[spec.name]?.key ?? spec.name, layer: spec.layer });
    const group = groups.get(key);
    if (group) group.push(spec);
    else groups.set(key, [spec]);
  }
  return [...groups].map(([key, members]) => planWeight(key, members, typeOf, precision));
};

/** The buffers of a matrix: parts of whole rows, each small enough for one binding. */
export const parts = ({ format, rows, columns }: PlannedMatrix, maxBinding: number) =>
  splitRows(format, rows, columns, maxBinding).map((part) => ({
    start: part.start,
    layout: matrixLayout(format, part.rows, columns),
  }));

export const plannedBytes = (it: PlannedWeight): number => {
  if (it.kind === 'vector') return it.length * 4;
  const { weightBytes, scaleBytes } = matrixLayout(it.format, it.rows, it.columns);
  return weightBytes + Math.max(16, scaleBytes);
};
