// Streams tensors in file order, in blocks of whole rows of a few megabytes. All blocks share one buffer, so that
// loading a model takes the memory of one block, whatever the garbage collector does.
import { checkAborted } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import { matrixShape, type RowBlock, type StreamOptions, type TensorInfo } from './checkpoint.ts';
import type { ByteSource } from './files/byte-source.ts';
import { type Decoders, dequantize } from './quantize/dequantize.ts';
import { type Repackers, repackerOf } from './quantize/repack.ts';

/** A tensor and where its bytes are. */
export interface PlacedTensor {
  readonly info: TensorInfo;
  readonly source: ByteSource;
  readonly start: number;
  /** Heads in its rows, of which the first so many are permuted as llama's in GGUF; null where none is. */
  readonly heads: { readonly count: number; readonly permuted: number } | null;
  /** How quantised blocks are read, if the format has them. */
  readonly blocks?: { readonly decoders: Decoders; readonly repackers: Repackers };
}

/** The most bytes of a block, as stored and as f32: 4-bit rows grow sevenfold when they are decoded. */
const BLOCK_BYTES = 4 * 2 ** 20;

export async function* streamRowBlocks(
  placed: readonly PlacedTensor[],
  options: StreamOptions = {},
): AsyncGenerator<RowBlock> {
  const { signal, onProgress, wanted } = options;
  let buffer = new Uint8Array(0);
  let delivered = 0;
  let previous: ByteSource | undefined;
  for (const tensor of placed) {
    const { info, source, start, blocks } = tensor;
    if (info.bytes === 0 || wanted?.(info.name) === false) continue;
    if (previous !== source) previous?.release?.();
    previous = source;
    const { rows, rowBytes, blockRows } = rowBlocksOf(tensor);
    for (let firstRow = 0; firstRow < rows; firstRow += blockRows) {
      checkAborted(signal);
      const count = Math.min(blockRows, rows - firstRow);
      if (buffer.length < count * rowBytes) buffer = new Uint8Array(count * rowBytes);
      const raw = buffer.subarray(0, count * rowBytes);
      await source.readInto(raw, start + firstRow * rowBytes, signal);
      if (tensor.heads) {
        const headRows = rows / tensor.heads.count;
        const permuted = Math.min(count, Math.max(0, tensor.heads.permuted * headRows - firstRow));
        restoreRows(raw.subarray(0, permuted * rowBytes), rowBytes, headRows);
      }
      yield {
        tensor: info,
        ...block(info, firstRow, count),
        raw,
        decode: () => dequantize(info.type, raw, blocks?.decoders),
        repacker: (format) => repackerOf(info.type, format, blocks?.repackers),
      };
      delivered += raw.length;
      onProgress?.(delivered);
    }
  }
}

/** A vector counts as one row for readers of blocks, though its elements may be permuted like rows. */
const block = (info: TensorInfo, firstRow: number, rows: number): Pick<RowBlock, 'firstRow' | 'rows'> =>
  info.shape.length < 2 ? { firstRow: 0, rows: 1 } : { firstRow, rows };

const rowBlocksOf = ({ info, heads }: PlacedTensor): { rows: number; rowBytes: number; blockRows: number } => {
  const rows = heads && info.shape.length < 2 ? (info.shape[0] ?? 1) : matrixShape(info.shape).rows;
  const rowBytes = info.bytes / rows;
  if (heads && rows % (2 * heads.count) !== 0)
    throw bad(`${info.name} is [${info.shape}]: ${heads.count} heads do not divide its rows`);
  // Rows of a head are restored together; a permuted vector is one block, as other vectors are.
  const unit = heads ? (info.shape.length < 2 ? rows : rows / heads.count) : 1;
  const decodedRowBytes = info.shape.reduce((product, size) => product * size, 4) / rows;
  const most = Math.max(rowBytes, decodedRowBytes);
  return { rows, rowBytes, blockRows: Math.max(1, Math.floor(BLOCK_BYTES / most / unit)) * unit };
};

/** Row 2i of a head goes to row i, row 2i + 1 to row i + half: rotation then pairs (i, i + half), as in safetensors. */
const restoreRows = (bytes: Uint8Array, rowBytes: number, headRows: number): void => {
  const head = new Uint8Array(headRows * rowBytes);
  const half = headRows / 2;
  for (let at = 0; at < bytes.length; at += head.length) {
    head.set(bytes.subarray(at, at + head.length));
    for (let row = 0; row < headRows; row++) {
      const from = head.subarray(row * rowBytes, (row + 1) * rowBytes);
      bytes.set(from, at + ((row >> 1) + (row & 1) * half) * rowBytes);
    }
  }
};
