// The GGUF container (ggml's docs/gguf.md), versions 2 and 3: metadata, a tensor table, then aligned tensor data. The
// header has no length of its own, so it is parsed from a growing prefix. Counts and lengths in it are checked
// against the file's size.
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import { elementType } from '../element-types.ts';
import { type ByteSource, truncated } from '../files/byte-source.ts';
import type { StoredTensor } from '../safetensors.ts';

export type GgufValue = number | boolean | string | readonly GgufValue[];

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** Under ggml's names, in file order, with the slowest dimension first. */
  readonly tensors: readonly StoredTensor[];
}

const FIRST_READ = 2 ** 20;
/** The largest vocabularies known (262 144 tokens with merges) take 20 MB. */
const MAX_HEADER_BYTES = 48 * 2 ** 20;
const MAX_ARRAY = 2 ** 22;
const MAX_DEPTH = 4;
const MAX_DIMENSIONS = 4;

/**
 * Types are numbers (ggml.h, `enum ggml_type`); gaps are types that were removed. One that nothing here reads has a
 * name all the same, for its refusal.
 */
const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, 'F32'],
  [1, 'F16'],
  [2, 'Q4_0'],
  [3, 'Q4_1'],
  [6, 'Q5_0'],
  [7, 'Q5_1'],
  [8, 'Q8_0'],
  [9, 'Q8_1'],
  [10, 'Q2_K'],
  [11, 'Q3_K'],
  [12, 'Q4_K'],
  [13, 'Q5_K'],
  [14, 'Q6_K'],
  [15, 'Q8_K'],
  [16, 'IQ2_XXS'],
  [17, 'IQ2_XS'],
  [18, 'IQ3_XXS'],
  [19, 'IQ1_S'],
  [20, 'IQ4_NL'],
  [21, 'IQ3_S'],
  [22, 'IQ2_S'],
  [23, 'IQ4_XS'],
  [24, 'I8'],
  [25, 'I16'],
  [26, 'I32'],
  [27, 'I64'],
  [28, 'F64'],
  [29, 'IQ1_M'],
  [30, 'BF16'],
  [34, 'TQ1_0'],
  [35, 'TQ2_0'],
  [39, 'MXFP4'],
  [40, 'NVFP4'],
  [41, 'Q1_0'],
]);

export const readGguf = async (source: ByteSource, signal?: AbortSignal): Promise<GgufHeader> => {
  let bytes = new Uint8Array(0);
  for (let length = FIRST_READ; ; length *= 2) {
    const end = Math.min(length, source.size, MAX_HEADER_BYTES);
    // Only the new part is asked for: an address can then be read in one go, without going back.
    const longer = new Uint8Array(end);
    longer.set(bytes);
    await source.readInto(longer.subarray(bytes.length), bytes.length, signal);
    bytes = longer;
    const header = parseGgufHeader(source.name, bytes, source.size);
    if (header) return header;
    if (end === MAX_HEADER_BYTES) throw bad(`${source.name}: its header is longer than ${MAX_HEADER_BYTES} bytes`);
  }
};

/** Null when `bytes`, a prefix of a file of `size` bytes, ends inside the header. */
export const parseGgufHeader = (file: string, bytes: Uint8Array, size: number): GgufHeader | null => {
  const reader = new Reader(file, bytes, size);
  try {
    return readHeader(reader);
  } catch (error) {
    if (error === NEED_MORE) return null;
    throw error;
  }
};

const NEED_MORE = Symbol('the prefix ends inside the header');

class Reader {
  readonly file: string;
  readonly size: number;
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  // ignoreBOM: a vocabulary may have a U+FEFF as a token.
  readonly #text = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(file: string, bytes: Uint8Array, size: number) {
    this.file = file;
    this.size = size;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The place of `length` bytes, which the file can hold and the prefix does hold. */
  #take(length: number): number {
    const at = this.at;
    if (length > this.size - at)
      throw bad(
        `${this.file}: truncated, or a wrong length at byte ${at}: ${length} bytes wanted, ${this.size - at} left`,
      );
    if (at + length > this.#bytes.length) throw NEED_MORE;
    this.at += length;
    return at;
  }

  number(type: number): number | boolean {
    const view = this.#view;
    if (type === 0) return view.getUint8(this.#take(1));
    if (type === 1) return view.getInt8(this.#take(1));
    if (type === 2) return view.getUint16(this.#take(2), true);
    if (type === 3) return view.getInt16(this.#take(2), true);
    if (type === 4) return view.getUint32(this.#take(4), true);
    if (type === 5) return view.getInt32(this.#take(4), true);
    if (type === 6) return shortest(view.getFloat32(this.#take(4), true));
    if (type === 7) return view.getUint8(this.#take(1)) !== 0;
    if (type === 10) return Number(view.getBigUint64(this.#take(8), true));
    if (type === 11) return Number(view.getBigInt64(this.#take(8), true));
    if (type === 12) return view.getFloat64(this.#take(8), true);
    throw bad(`${this.file}: unknown metadata type ${type} before byte ${this.at}`);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  /** A count or size. One above 2^53 cannot be true, and fails the next comparison. */
  u64(): number {
    return Number(this.#view.getBigUint64(this.#take(8), true));
  }

  /** A count of things that take at least `bytes` each, as the rest of the file can hold them. */
  count(bytes: number, what: string): number {
    const count = this.u64();
    if (count * bytes > this.size - this.at)
      throw bad(`${this.file}: ${count} ${what} do not fit in the ${this.size - this.at} bytes that follow`);
    return count;
  }

  string(): string {
    const length = this.u64();
    const at = this.#take(length);
    return this.#text.decode(this.#bytes.subarray(at, at + length));
  }

  value(type: number, depth = 0): GgufValue {
    if (type === 8) return this.string();
    if (type !== 9) return this.number(type);
    if (depth === MAX_DEPTH) throw bad(`${this.file}: metadata arrays nested deeper than ${MAX_DEPTH}`);
    const of = this.u32();
    const count = this.count(of === 8 ? 8 : of === 9 ? 12 : 1, 'array elements');
    if (count > MAX_ARRAY) throw bad(`${this.file}: a metadata array of ${count} elements`);
    const values: GgufValue[] = [];
    for (let i = 0; i < count; i++) values.push(this.value(of, depth + 1));
    return values;
  }
}

/** 0.00001 was written as a 32-bit float: the decimal that people meant, not its 17 digits in 64 bits. */
const shortest = (value: number): number => {
  const short = Number(value.toPrecision(7));
  return Math.fround(short) === value ? short : value;
};

const readHeader = (reader: Reader): GgufHeader => {
  const { file } = reader;
  if (reader.u32() !== 0x46554747) throw bad(`${file}: not a GGUF file`, 'It must begin with the letters GGUF.');
  const version = reader.u32();
  if (version !== 2 && version !== 3) {
    const found = version > 0xffff ? 'a big-endian GGUF' : `GGUF version ${version}`;
    throw bad(`${file}: ${found}; Outrider reads little-endian files of version 2 and 3`);
  }
  const tensorCount = reader.count(24, 'tensors');
  const metadataCount = reader.count(13, 'metadata entries');
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < metadataCount; i++) {
    const key = reader.string();
    if (key === '') throw bad(`${file}: a metadata entry has no name`);
    if (metadata.has(key)) throw bad(`${file}: metadata ${key} occurs twice`);
    metadata.set(key, reader.value(reader.u32()));
  }
  const alignment = metadata.get('general.alignment') ?? 32;
  const isCount = typeof alignment === 'number' && Number.isInteger(alignment);
  if (!isCount || !(alignment >= 1 && alignment <= 65536) || alignment & (alignment - 1))
    throw bad(`${file}: general.alignment is ${shown(alignment)}, not a power of two`);
  return { metadata, tensors: readTensors(reader, tensorCount, alignment) };
};

const readTensors = (reader: Reader, count: number, alignment: number): StoredTensor[] => {
  const { file } = reader;
  const aligned = (value: number): number => Math.ceil(value / alignment) * alignment;
  const names = new Set<string>();
  const tensors: StoredTensor[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const name = reader.string();
    if (names.has(name)) throw bad(`${file}: tensor ${name} is listed twice`);
    names.add(name);
    const dimensions = reader.u32();
    if (dimensions > MAX_DIMENSIONS) throw bad(`${file}: ${name} has ${dimensions} dimensions`);
    const shape = Array.from({ length: dimensions }, () => reader.u64()).reverse();
    const type = typeName(file, name, reader.u32());
    const start = reader.u64();
    const bytes = tensorBytes(file, name, type, shape);
    // As ggml has it: tensors lie in the table's order, each at the next aligned place.
    if (start !== offset)
      throw bad(`${file}: ${name} lies at ${start} in the data, expected ${offset}: an overlap or a gap`);
    offset = aligned(start + bytes);
    tensors.push({ name, type, shape, start, bytes });
  }
  const dataStart = aligned(reader.at);
  const placed = tensors.map((tensor) => ({ ...tensor, start: dataStart + tensor.start }));
  const last = placed.at(-1);
  if (last && last.start + last.bytes > reader.size) throw truncated(file, reader.size, last.start + last.bytes);
  return placed;
};

const typeName = (file: string, tensor: string, type: number): string => {
  const name = TYPE_NAMES.get(type);
  if (name && elementType(name)) return name;
  throw bad(
    `${file}: ${tensor} has the type ${name ?? `number ${type}`}, which Outrider does not read`,
    'Of quantised types it reads Q1_0 to Q8_0, Q2_K to Q6_K, TQ1_0, TQ2_0, all IQ types, MXFP4 and NVFP4.',
  );
};

const tensorBytes = (file: string, name: string, type: string, shape: readonly number[]): number => {
  const { elements, bytes } = elementType(type) as { elements: number; bytes: number };
  const columns = shape.at(-1) ?? 1;
  if (columns % elements)
    throw bad(`${file}: ${name} is ${type} [${shape}]: rows must be multiples of ${elements} elements`);
  const total = (shape.reduce((product, size) => product * size, 1) / elements) * bytes;
  if (!Number.isSafeInteger(total)) throw bad(`${file}: ${name} has the impossible shape [${shape}]`);
  return total;
};
