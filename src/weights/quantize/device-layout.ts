// How a weight matrix lies in device memory: groups of 32 columns interleaved over rows, so that neighbouring rows are
// adjacent and one 16-byte load is (at 4 bits) a whole group. Pure arithmetic: the packers and the kernels both read
// it.

/** `q4m` is q4 with a minimum for each group (GGUF Q4_1 and Q4_K); `q6` has a scale for 16 weights (GGUF Q6_K). */
export type WeightFormat = 'f32' | 'f16' | 'q8' | 'q6' | 'q4' | 'q4m';

/** Columns in a quantisation group. */
export const GROUP = 32;
/** Rows are padded to a multiple of this, so that no lane needs a bounds check on loads. */
export const ROW_PAD = 16;

/** Elements between two rows of an activation: columns rounded up to whole groups. */
export const stride32 = (columns: number): number => Math.ceil(columns / GROUP) * GROUP;

export interface MatrixLayout {
  readonly format: WeightFormat;
  readonly rows: number;
  readonly columns: number;
  /** Rows with padding: the distance, in cells, between two groups. */
  readonly paddedRows: number;
  readonly groups: number;
  readonly weightBytes: number;
  /** 0 for f32 and f16. */
  readonly scaleBytes: number;
}

/** A matrix in memory, as the device will read it; `scales` is empty for f32 and f16. */
export interface Packed {
  readonly weights: Uint32Array<ArrayBuffer>;
  readonly scales: Uint32Array<ArrayBuffer>;
}

/** Bytes that one group of 32 weights of one row takes. */
const GROUP_BYTES: Readonly<Record<WeightFormat, number>> = { f32: 128, f16: 64, q8: 32, q6: 16, q4: 16, q4m: 16 };
/** Of q6 two scales, and two high bits of each weight: three planes of a word, each `[row]`, for a group. */
const SCALE_BYTES: Readonly<Record<WeightFormat, number>> = { f32: 0, f16: 0, q8: 2, q6: 12, q4: 2, q4m: 4 };

export const matrixLayout = (format: WeightFormat, rows: number, columns: number): MatrixLayout => {
  const paddedRows = Math.ceil(rows / ROW_PAD) * ROW_PAD;
  const groups = Math.ceil(columns / GROUP);
  const cells = paddedRows * groups;
  return {
    format,
    rows,
    columns,
    paddedRows,
    groups,
    weightBytes: cells * GROUP_BYTES[format],
    scaleBytes: cells * SCALE_BYTES[format],
  };
};

/** Row ranges such that each part's weights fit one binding of `maxBinding` bytes. */
export const splitRows = (
  format: WeightFormat,
  rows: number,
  columns: number,
  maxBinding: number,
): { start: number; rows: number }[] => {
  const perRow = Math.ceil(columns / GROUP) * GROUP_BYTES[format];
  const most = Math.max(ROW_PAD, Math.floor(maxBinding / perRow / ROW_PAD) * ROW_PAD);
  return Array.from({ length: Math.ceil(rows / most) }, (_, i) => ({
    start: i * most,
    rows: Math.min(most, rows - i * most),
  }));
};
