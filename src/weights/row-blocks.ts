// Streams tensors in file order, in blocks of whole rows of a few megabytes. Blocks take turns in two buffers: one is
// read while the consumer works on the other. So loading a model takes the memory of two blocks, whatever the garbage
// collector does.
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

/** Rows [first, first + count) of a tensor, and where they lie in its file. */
interface Piece {
  readonly tensor: PlacedTensor;
  readonly rows: number;
  readonly first: number;
  readonly count: number;
  readonly start: number;
  readonly bytes: number;
}

function* piecesOf(placed: readonly PlacedTensor[], wanted: StreamOptions['wanted']): Generator<Piece> {
  for (const tensor of placed) {
    if (tensor.info.bytes === 0 || wanted?.(tensor.info.name) === false) continue;
    const { rows, rowBytes, blockRows } = rowBlocksOf(tensor);
    for (let first = 0; first < rows; first += blockRows) {
      const count = Math.min(blockRows, rows - first);
      yield { tensor, rows, first, count, start: tensor.start + first * rowBytes, bytes: count * rowBytes };
    }
  }
}

/** A read on its way. It never rejects: while the consumer works on another block, nothing awaits it. */
interface Reading {
  readonly piece: Piece;
  readonly raw: Uint8Array<ArrayBuffer>;
  readonly done: Promise<{ readonly error: unknown } | null>;
}

export async function* streamRowBlocks(
  placed: readonly PlacedTensor[],
  options: StreamOptions = {},
): AsyncGenerator<RowBlock> {
  const { signal, onProgress, wanted } = options;
  const left = new AbortController();
  const ending = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  const pieces = piecesOf(placed, wanted);
  let buffers = [new Uint8Array(0), new Uint8Array(0)] as const;
  let delivered = 0;
  let previous: ByteSource | undefined;
  const read = (): Reading | null => {
    const piece = pieces.next().value as Piece | undefined;
    if (!piece) return null;
    const { source } = piece.tensor;
    if (previous !== source) previous?.release?.();
    previous = source;
    const [spare, used] = buffers;
    const buffer = spare.length < piece.bytes ? new Uint8Array(piece.bytes) : spare;
    buffers = [used, buffer];
    const raw = buffer.subarray(0, piece.bytes);
    const done = source.readInto(raw, piece.start, ending).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    return { piece, raw, done };
  };
  checkAborted(signal);
  let reading = read();
  try {
    while (reading) {
      const { piece, raw, done }: Reading = reading;
      const failed = await done;
      if (failed) throw failed.error;
      checkAborted(signal);
      reading = read(); // while the consumer works on this block
      const { info, order, blocks } = piece.tensor;
      if (order) orderRows(order, raw, piece.bytes / piece.count, piece.first, piece.rows);
      yield {
        tensor: info,
        ...block(info, piece.first, piece.count),
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
  } finally {
    // A consumer may leave early. A source serves one read at a time, so none may be left to disturb the next stream.
    left.abort();
    await reading?.done;
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
