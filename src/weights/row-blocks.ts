// Streams tensors in file order, in blocks of whole rows of a few megabytes. All blocks share one buffer, so that
// loading a model takes the memory of one block, whatever the garbage collector does.
import { checkAborted } from '../base/errors.ts';
import { matrixShape, type RowBlock, type StreamOptions, type TensorInfo } from './checkpoint.ts';
import type { ByteSource } from './files/byte-source.ts';
import { isOrderedByRows, type Order, orderRows, orderValues, unitOf } from './order.ts';
import { type Decoders, dequantize } from './quantize/dequantize.ts';
import { type Repackers, repackerOf } from './quantize/repack.ts';

/** A tensor and where its bytes are. */
export interface PlacedTensor {
  readonly info: TensorInfo;
  readonly source: ByteSource;
  readonly start: number;
  /** How its rows lie; null: as they are wanted. */
  readonly order: Order | null;
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
    const { info, source, start, order, blocks } = tensor;
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
      if (order) orderRows(order, raw, rowBytes, firstRow, rows);
      yield {
        tensor: info,
        ...block(info, firstRow, count),
        raw,
        decode: () => {
          const values = dequantize(info.type, raw, blocks?.decoders);
          orderValues(order, values, info.shape.at(-1) ?? 1);
          return values;
        },
        repacker: (format) => (isOrderedByRows(order) ? repackerOf(info.type, format, blocks?.repackers) : undefined),
      };
      delivered += raw.length;
      onProgress?.(delivered);
    }
  }
}

/** A vector counts as one row for readers of blocks, though its elements may be permuted like rows. */
const block = (info: TensorInfo, firstRow: number, rows: number): Pick<RowBlock, 'firstRow' | 'rows'> =>
  info.shape.length < 2 ? { firstRow: 0, rows: 1 } : { firstRow, rows };

const rowBlocksOf = ({ info, order }: PlacedTensor): { rows: number; rowBytes: number; blockRows: number } => {
  const rows = order && info.shape.length < 2 ? (info.shape[0] ?? 1) : matrixShape(info.shape).rows;
  const rowBytes = info.bytes / rows;
  const unit = unitOf(order, info, rows);
  const decodedRowBytes = info.shape.reduce((product, size) => product * size, 4) / rows;
  const most = Math.max(rowBytes, decodedRowBytes);
  return { rows, rowBytes, blockRows: Math.max(1, Math.floor(BLOCK_BYTES / most / unit)) * unit };
};
