// Writes small GGUF files for tests: valid ones, and with a field changed ones that lie.
import type { GgufValue } from '../../weights/gguf/container.ts';

export interface GgufTensor {
  readonly name: string;
  /** As in the file: the fastest dimension first. */
  readonly dimensions: readonly number[];
  readonly type: number;
  readonly data: Uint8Array;
  /** Instead of the true place. */
  readonly offset?: number;
}

export interface GgufFile {
  readonly version?: number;
  readonly metadata: Readonly<Record<string, GgufValue>>;
  readonly tensors: readonly GgufTensor[];
}

class Writer {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  bytes(part: Uint8Array): void {
    this.#parts.push(part);
    this.length += part.length;
  }

  number(size: 4 | 8, write: (view: DataView) => void): void {
    const view = new DataView(new ArrayBuffer(size));
    write(view);
    this.bytes(new Uint8Array(view.buffer));
  }

  u32(value: number): void {
    this.number(4, (view) => view.setUint32(0, value, true));
  }

  u64(value: number): void {
    this.number(8, (view) => view.setBigUint64(0, BigInt(value), true));
  }

  string(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.u64(bytes.length);
    this.bytes(bytes);
  }

  pad(alignment: number): void {
    this.bytes(new Uint8Array((alignment - (this.length % alignment)) % alignment));
  }

  joined(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** Integers become u32, other numbers f32. */
const typeOf = (value: GgufValue): number => {
  if (Array.isArray(value)) return 9;
  if (typeof value === 'string') return 8;
  if (typeof value === 'boolean') return 7;
  return Number.isInteger(value) ? 4 : 6;
};

const writeValue = (writer: Writer, value: GgufValue): void => {
  if (Array.isArray(value)) {
    writer.u32(typeOf(value[0] ?? 0));
    writer.u64(value.length);
    for (const item of value) writeValue(writer, item);
  } else if (typeof value === 'string') writer.string(value);
  else if (typeof value === 'boolean') writer.bytes(Uint8Array.of(value ? 1 : 0));
  else if (Number.isInteger(value)) writer.u32(value as number);
  else writer.number(4, (view) => view.setFloat32(0, value as number, true));
};

export const writeGguf = ({ version = 3, metadata, tensors }: GgufFile): Uint8Array<ArrayBuffer> => {
  const writer = new Writer();
  writer.u32(0x46554747);
  writer.u32(version);
  writer.u64(tensors.length);
  writer.u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) {
    writer.string(key);
    writer.u32(typeOf(value));
    writeValue(writer, value);
  }
  const alignment = (metadata['general.alignment'] as number | undefined) ?? 32;
  let offset = 0;
  for (const tensor of tensors) {
    writer.string(tensor.name);
    writer.u32(tensor.dimensions.length);
    for (const size of tensor.dimensions) writer.u64(size);
    writer.u32(tensor.type);
    writer.u64(tensor.offset ?? offset);
    offset = Math.ceil((offset + tensor.data.length) / alignment) * alignment;
  }
  for (const tensor of tensors) {
    writer.pad(alignment);
    writer.bytes(tensor.data);
  }
  return writer.joined();
};
