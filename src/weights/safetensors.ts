// The safetensors format (huggingface/safetensors): eight bytes of header length, a JSON header, then all tensors
// without gaps. A header is checked completely before any of it is used.

import { isObject } from '../base/is-object.ts';
import { bad } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import { elementType } from './element-types.ts';
import { type ByteSource, parseJson, readBytes, truncated } from './files/byte-source.ts';

/** A tensor and where its bytes lie in its file. */
export interface StoredTensor {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly start: number;
  readonly bytes: number;
}

/** The limit of the reference implementation. */
const MAX_HEADER_BYTES = 100_000_000;
const MAX_DIMENSIONS = 8;

export const readSafetensors = async (source: ByteSource, signal?: AbortSignal): Promise<StoredTensor[]> => {
  if (source.size < 8) throw truncated(source.name, source.size, 8);
  const length = new DataView((await readBytes(source, 0, 8, signal)).buffer).getBigUint64(0, true);
  if (length > BigInt(source.size - 8))
    throw bad(
      `${source.name}: its header would have ${length} bytes, and only ${source.size - 8} follow`,
      'Either the file is truncated or it is not a safetensors file.',
    );
  if (length > BigInt(MAX_HEADER_BYTES))
    throw bad(`${source.name}: a header of ${length} bytes is over the format's limit`);
  const header = await readBytes(source, 8, 8 + Number(length), signal);
  return parseSafetensorsHeader(source.name, header, source.size);
};

/** `size` is that of the whole file. */
export const parseSafetensorsHeader = (file: string, header: Uint8Array, size: number): StoredTensor[] => {
  const text = new TextDecoder().decode(header);
  const json = parseJson(file, text);
  const repeated = repeatedKey(text);
  if (repeated !== null) throw bad(`${file}: tensor ${repeated} is listed twice`);
  const dataStart = 8 + header.byteLength;
  const tensors = Object.entries(json)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, entry]) => tensorOf(file, name, entry, dataStart));
  tensors.sort((a, b) => a.start - b.start || a.bytes - b.bytes);
  let end = dataStart;
  let before = 'the header';
  for (const tensor of tensors) {
    if (tensor.start < end) throw bad(`${file}: ${tensor.name} overlaps ${before}`);
    if (tensor.start > end)
      throw bad(`${file}: ${tensor.start - end} unused bytes between ${before} and ${tensor.name}`);
    end = tensor.start + tensor.bytes;
    before = tensor.name;
  }
  if (end > size) throw truncated(file, size, end);
  if (end < size) throw bad(`${file}: ${size - end} unused bytes after ${before}`);
  return tensors;
};

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const tensorOf = (file: string, name: string, entry: unknown, dataStart: number): StoredTensor => {
  if (!isObject(entry)) throw bad(`${file}: ${name} has no dtype, shape and data_offsets`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string') throw bad(`${file}: ${name} has no dtype`);
  const element = elementType(dtype);
  if (element?.elements !== 1) throw bad(`${file}: ${name} has the dtype ${dtype}, which Outrider does not read`);
  if (!Array.isArray(shape) || shape.length > MAX_DIMENSIONS || !shape.every(isSize))
    throw bad(`${file}: ${name} has the shape ${shown(shape)}`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize))
    throw bad(`${file}: ${name} has the data_offsets ${shown(offsets)}`);
  const [start, end] = offsets as [number, number];
  const expected = shape.reduce((product: number, dimension: number) => product * dimension, element.bytes);
  if (end - start !== expected)
    throw bad(
      `${file}: ${name} is ${dtype} [${shape}]: ${expected} bytes expected, ${end - start} given by data_offsets`,
    );
  return { name, type: dtype, shape, start: dataStart + start, bytes: expected };
};

/**
 * The first key that occurs twice at the top level of a valid JSON object. `JSON.parse` silently keeps the last of two
 * equal keys, and another reader may keep the first: the two would read different models.
 */
const repeatedKey = (json: string): string | null => {
  const seen = new Set<string>();
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at] as string;
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const end = afterString(json, at);
      if (depth === 1 && isKey(json, end)) {
        const key = JSON.parse(json.slice(at, end)) as string;
        if (seen.has(key)) return key;
        seen.add(key);
      }
      at = end - 1;
    }
  }
  return null;
};

const isKey = (json: string, from: number): boolean => {
  let at = from;
  while (' \t\r\n'.includes(json[at] ?? ':')) at++;
  return json[at] === ':';
};

const afterString = (json: string, quote: number): number => {
  let at = quote + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
};

/** Tensor name → shard, as `model.safetensors.index.json` says. */
export const parseShardIndex = (file: string, index: Record<string, unknown>): Map<string, string> => {
  const map = index.weight_map;
  if (!isObject(map)) throw bad(`${file}: no weight_map`);
  if (Object.keys(map).length === 0) throw bad(`${file}: weight_map names no tensor`);
  return new Map(
    Object.entries(map).map(([name, shard]) => {
      if (typeof shard !== 'string' || !/^[\w.-]+\.safetensors$/.test(shard))
        throw bad(`${file}: ${name} lies in ${shown(shard)}, which is not a safetensors file next to the index`);
      return [name, shard];
    }),
  );
};
