// Damages files byte by byte: cuts, doubled stretches, extreme lengths, flipped bits, words that mean something to JSON.
import type { Random } from './random.ts';

/** Sizes that overflow something somewhere. */
const EXTREMES = [
  0n,
  1n,
  31n,
  127n,
  255n,
  65535n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 40n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const WORDS = [
  '-1',
  '1e400',
  '1e15',
  'null',
  '{}',
  '[',
  '"',
  '"a"',
  '9007199254740993',
  '0.5',
  'F64',
  '__proto__',
  '\\u0000',
];

const splice = (file: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array => {
  const longer = new Uint8Array(file.length - remove + insert.length);
  longer.set(file.subarray(0, at));
  longer.set(insert, at);
  longer.set(file.subarray(at + remove), at + insert.length);
  return longer;
};

/** One change, mostly within the first `header` bytes. */
export const mutateBytes = (file: Uint8Array, header: number, below: Random): Uint8Array => {
  const size = file.length;
  if (size === 0) return file;
  const at = below(below(8) ? Math.min(header, size) : size);
  const kind = below(9);
  if (kind === 0) return file.subarray(0, at);
  if (kind === 1) return splice(file, at, Math.min(1 + below(16), size - at), new Uint8Array(0));
  if (kind === 2) return splice(file, at, 0, file.slice(below(size), below(size)));
  if (kind === 3)
    return splice(
      file,
      at,
      Math.min(below(2), size - at),
      new TextEncoder().encode(WORDS[below(WORDS.length)] as string),
    );
  const changed = file.slice();
  const view = new DataView(changed.buffer);
  const extreme = EXTREMES[below(EXTREMES.length)] as bigint;
  if (kind === 4 && at + 8 <= size) view.setBigUint64(at, extreme, true);
  else if (kind === 5 && at + 4 <= size) view.setUint32(at, Number(extreme & 0xffffffffn), true);
  else if (kind === 6) changed[at] = below(256);
  else if (kind === 7) changed.copyWithin(at, below(size), below(size));
  else changed[at] = (changed[at] as number) ^ (1 << below(8));
  return changed;
};
