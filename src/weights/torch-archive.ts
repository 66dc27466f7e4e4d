// PyTorch's checkpoint files (`pytorch_model.bin`): a zip archive of a pickle, which is the table of tensors, and of raw
// storages. Every offset and length is checked against the file before it is used.
import { bad } from '../base/refuse.ts';
import { elementType } from './element-types.ts';
import { type ByteSource, readBytes, truncated } from './files/byte-source.ts';
import { readPickledTensors } from './pickle.ts';
import type { StoredTensor } from './safetensors.ts';

const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const LOCAL_HEADER = 0x04034b50;
const MAX_COMMENT = 65535;
/** The central directory and the pickle: a table of tens of thousands of tensors is a few megabytes. */
const MAX_TABLE = 64 << 20;

interface Member {
  readonly header: number;
  readonly bytes: number;
}

const wrong = (file: string, message: string) =>
  bad(`${file}: ${message}`, 'Expected a PyTorch checkpoint in zip form. Convert it to safetensors.');

/** The members of an archive, by their names within its folder. */
const readMembers = async (source: ByteSource, signal?: AbortSignal): Promise<ReadonlyMap<string, Member>> => {
  const { name: file, size } = source;
  if (size < END_BYTES) throw truncated(file, size, END_BYTES);
  const from = Math.max(0, size - END_BYTES - MAX_COMMENT);
  const tail = await readBytes(source, from, size, signal);
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  let end = tail.length - END_BYTES;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) {
    const start = await readBytes(source, 0, 4, signal);
    const isZip = new DataView(start.buffer).getUint32(0, true) === LOCAL_HEADER;
    // The directory comes last: an archive without one was cut off.
    if (isZip)
      throw bad(
        `${file}: truncated: its zip directory is not at its end, byte ${size}`,
        'The file is incomplete: download or copy it again.',
      );
    throw wrong(file, 'it is no zip archive');
  }
  const [bytes, start] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)];
  if (start + bytes > size || bytes > MAX_TABLE) throw wrong(file, `a directory of ${bytes} bytes at ${start}`);
  const directory = await readBytes(source, start, start + bytes, signal);
  const entries = new DataView(directory.buffer, directory.byteOffset, directory.byteLength);
  const members = new Map<string, Member>();
  for (let at = 0; at < bytes; ) {
    if (at + ENTRY_BYTES > bytes || entries.getUint32(at, true) !== 0x02014b50)
      throw wrong(file, 'its directory is damaged');
    const u16 = (offset: number): number => entries.getUint16(at + offset, true);
    const u32 = (offset: number): number => entries.getUint32(at + offset, true);
    const [method, packed, length, header] = [u16(10), u32(20), u32(24), u32(42)];
    const next = at + ENTRY_BYTES + u16(28) + u16(30) + u16(32);
    if (next > bytes) throw wrong(file, 'its directory is damaged');
    const path = new TextDecoder().decode(directory.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + u16(28)));
    if (method !== 0 || packed !== length) throw wrong(file, `${path.slice(0, 100)} is compressed`);
    if (length === 0xffff_ffff || header === 0xffff_ffff) throw wrong(file, 'archives over 4 GiB are not supported');
    const name = path.slice(path.indexOf('/') + 1);
    if (members.has(name)) throw wrong(file, `${name.slice(0, 100)} occurs twice`);
    members.set(name, { header, bytes: length });
    at = next;
  }
  return members;
};

/** Where a member's bytes begin. */
const startOf = async (source: ByteSource, { header, bytes }: Member, signal?: AbortSignal): Promise<number> => {
  const { name: file, size } = source;
  if (header + LOCAL_BYTES > size) throw truncated(file, size, header + LOCAL_BYTES);
  const local = await readBytes(source, header, header + LOCAL_BYTES, signal);
  const view = new DataView(local.buffer, local.byteOffset, local.byteLength);
  if (view.getUint32(0, true) !== LOCAL_HEADER) throw wrong(file, 'a member lies elsewhere than its directory says');
  const start = header + LOCAL_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
  if (start + bytes > size) throw truncated(file, size, start + bytes);
  return start;
};

export const readTorchArchive = async (source: ByteSource, signal?: AbortSignal): Promise<StoredTensor[]> => {
  const { name: file } = source;
  const members = await readMembers(source, signal);
  const pickle = members.get('data.pkl');
  if (!pickle) throw wrong(file, 'it has no data.pkl');
  if (pickle.bytes > MAX_TABLE) throw wrong(file, `a table of ${pickle.bytes} bytes`);
  const order = members.get('byteorder');
  if (order) {
    const at = await startOf(source, order, signal);
    const text = new TextDecoder().decode(await readBytes(source, at, at + Math.min(order.bytes, 16), signal));
    if (text !== 'little') throw wrong(file, `its byte order is ${JSON.stringify(text)}`);
  }
  const at = await startOf(source, pickle, signal);
  const table = readPickledTensors(file, await readBytes(source, at, at + pickle.bytes, signal));
  /** By storage: tensors may share one. */
  const starts = new Map<string, number>();
  const tensors: StoredTensor[] = [];
  for (const [name, { type, storage, offset, shape }] of table) {
    const shown = name.slice(0, 100);
    const member = members.get(`data/${storage}`);
    const element = elementType(type);
    if (!member || element?.elements !== 1) throw wrong(file, `${shown}: its storage is missing or of type ${type}`);
    const bytes = shape.reduce((product, dimension) => product * dimension, element.bytes);
    const first = offset * element.bytes;
    if (!Number.isSafeInteger(bytes) || first + bytes > member.bytes)
      throw wrong(file, `${shown}: ${bytes} bytes at ${first} of a storage of ${member.bytes}`);
    const start = starts.get(storage) ?? (await startOf(source, member, signal));
    starts.set(storage, start);
    tensors.push({ name, type, shape, start: start + first, bytes });
  }
  return tensors;
};
