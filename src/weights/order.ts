// The order in which a file's rows or columns lie, where it is not Hugging Face's, and how they are put in that order.
import { bad } from '../base/refuse.ts';
import type { TensorInfo } from './checkpoint.ts';

/** Row 2i of a head is Hugging Face's row i, row 2i + 1 is row i + half: for rotation of adjacent pairs. */
interface Pairs {
  readonly kind: 'pairs';
  readonly heads: number;
  /** Heads of which this is true: the first so many. */
  readonly permuted: number;
}

/** Head j · groups + i is Hugging Face's head i · members + j. */
interface Groups {
  readonly kind: 'groups';
  /** `values`: columns of heads that blocks of the file's type do not fit, so that they are moved once decoded. */
  readonly axis: 'rows' | 'columns' | 'values';
  /** Rows before the heads. */
  readonly from: number;
  readonly groups: number;
  readonly members: number;
  /** What a stored value stands for. */
  readonly value?: (stored: number) => number;
}

export type Order = Pairs | Groups;

/** Rows that must be read together, of a tensor of so many. */
export const unitOf = (order: Order | null, { name, shape }: TensorInfo, rows: number): number => {
  if (order === null || (order.kind === 'groups' && order.axis !== 'rows')) return 1;
  const parts = order.kind === 'pairs' ? 2 * order.heads : order.groups * order.members;
  if ((rows - (order.kind === 'groups' ? order.from : 0)) % parts !== 0)
    throw bad(`${name} is [${shape}]: ${order.kind === 'pairs' ? order.heads : parts} heads do not divide its rows`);
  // Rows of a head are put in order together; a vector is one block, as other vectors are.
  return order.kind === 'groups' || shape.length < 2 ? rows : rows / order.heads;
};

/** Puts rows in order, in their place. `firstRow`: of the block, which has whole units of the tensor's `rows`. */
export const orderRows = (order: Order, raw: Uint8Array, rowBytes: number, firstRow: number, rows: number): void => {
  if (order.kind === 'groups') {
    if (order.axis === 'rows') regroup(order, raw.subarray(order.from * rowBytes));
    if (order.axis === 'columns')
      for (let at = 0; at < raw.length; at += rowBytes) regroup(order, raw.subarray(at, at + rowBytes));
    return;
  }
  const headRows = rows / order.heads;
  const permuted = Math.max(0, order.permuted * headRows - firstRow) * rowBytes;
  unpair(raw.subarray(0, permuted), rowBytes, headRows);
};

const unpair = (bytes: Uint8Array, rowBytes: number, headRows: number): void => {
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

/** Of anything that can be cut into heads of one length. */
const regroup = ({ groups, members }: Groups, heads: Uint8Array | Float32Array): void => {
  const stored = heads.slice();
  const length = heads.length / (groups * members);
  for (let i = 0; i < groups; i++)
    for (let j = 0; j < members; j++) {
      const from = (j * groups + i) * length;
      heads.set(stored.subarray(from, from + length), (i * members + j) * length);
    }
};

/** Whether rows as stored are rows in order; else they must be decoded. */
export const isOrderedByRows = (order: Order | null): boolean =>
  order?.kind !== 'groups' || (order.value === undefined && order.axis !== 'values');

/** The part of the order that concerns decoded values. */
export const orderValues = (order: Order | null, values: Float32Array, columns: number): void => {
  if (order?.kind !== 'groups') return;
  if (order.axis === 'values')
    for (let at = 0; at < values.length; at += columns) regroup(order, values.subarray(at, at + columns));
  const { value } = order;
  if (value) for (let i = 0; i < values.length; i++) values[i] = value(values[i] as number);
};
