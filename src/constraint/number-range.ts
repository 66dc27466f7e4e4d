// Numbers between two bounds, and multiples of whole numbers, as regular expressions over their digits.

/** Digits of bounds beyond this are not kept exactly by JSON parsers. */
const MOST = 1e15;
/** Decimals of a bound that are kept. */
const MOST_DECIMALS = 6;

const digit = (first: number, last: number): string => (first === last ? `${first}` : `[${first}-${last}]`);
const anyDigits = (count: number): string => (count === 0 ? '' : `[0-9]{${count}}`);

/** Digits of one length, from `first` to `last`, both of that length. */
const sameLength = (first: string, last: string): readonly string[] => {
  if (first === last) return [first];
  if (/^0*$/.test(first) && /^9*$/.test(last)) return [anyDigits(first.length)];
  const [low, high] = [Number(first[0]), Number(last[0])];
  const [lowRest, highRest] = [first.slice(1), last.slice(1)];
  if (first.length === 1) return [digit(low, high)];
  if (low === high) return sameLength(lowRest, highRest).map((rest) => `${low}${rest}`);
  const parts: string[] = [];
  const wholeLow = /^0*$/.test(lowRest);
  const wholeHigh = /^9*$/.test(highRest);
  if (!wholeLow) parts.push(...sameLength(lowRest, '9'.repeat(lowRest.length)).map((rest) => `${low}${rest}`));
  const [from, to] = [wholeLow ? low : low + 1, wholeHigh ? high : high - 1];
  if (from <= to) parts.push(`${digit(from, to)}${anyDigits(lowRest.length)}`);
  if (!wholeHigh) parts.push(...sameLength('0'.repeat(highRest.length), highRest).map((rest) => `${high}${rest}`));
  return parts;
};

/** Whole numbers of 0 or more, without leading zeros. */
const natural = (first: number, last: number): readonly string[] => {
  const parts: string[] = [];
  for (let low = first; low <= last; ) {
    const length = String(low).length;
    let longest = length;
    while (10 ** (longest + 1) - 1 <= last) longest++;
    if (low === 10 ** (length - 1) && longest > length) {
      // All numbers of several lengths.
      parts.push(`[1-9][0-9]{${length - 1},${longest - 1}}`);
      low = 10 ** longest;
      continue;
    }
    const high = Math.min(last, 10 ** length - 1);
    parts.push(...sameLength(String(low), String(high)));
    low = high + 1;
  }
  return parts;
};

/** A pattern of the whole numbers from `least` to `most`; null: there is none. */
export const integerPattern = (least = -MOST, most = MOST): string | null => {
  const [low, high] = [Math.max(Math.ceil(least), -MOST), Math.min(Math.floor(most), MOST)];
  const parts = [
    ...(low < 0 ? natural(Math.max(1, -high), -low).map((digits) => `-${digits}`) : []),
    ...natural(Math.max(0, low), high),
  ];
  return parts.length === 0 ? null : parts.join('|');
};

/** Numbers of 0 or more with decimals, from `least` to `most`. */
const decimals = (
  least: number,
  most: number,
  exclusive: { readonly least: boolean; readonly most: boolean },
): readonly string[] => {
  const places = Math.min(
    MOST_DECIMALS,
    Math.max(1, ...[least, most].map((x) => (String(x).split('.')[1] ?? '').length)),
  );
  const scale = 10 ** places;
  // In units of the last decimal: whole numbers.
  let [low, high] = [Math.ceil(least * scale - 1e-6), Math.floor(most * scale + 1e-6)];
  if (exclusive.least && low <= least * scale + 1e-6) low++;
  if (exclusive.most && high >= most * scale - 1e-6) high--;
  if (low > high) return [];
  const [firstWhole, lastWhole] = [Math.floor(low / scale), Math.floor(high / scale)];
  const fraction = (from: number, to: number): string =>
    `(${sameLength(String(from).padStart(places, '0'), String(to).padStart(places, '0')).join('|')})`;
  if (firstWhole === lastWhole) return [`${firstWhole}\\.${fraction(low % scale, high % scale)}`];
  const inner = natural(firstWhole + (low % scale === 0 ? 0 : 1), lastWhole - 1);
  return [
    ...(low % scale === 0 ? [] : [`${firstWhole}\\.${fraction(low % scale, scale - 1)}`]),
    ...(inner.length === 0 ? [] : [`(${inner.join('|')})\\.[0-9]{1,15}`]),
    `${lastWhole}\\.${fraction(0, high % scale)}`,
  ];
};

/** A pattern of the numbers between bounds; null: there is none. */
export const numberPattern = (bounds: {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}): string | null => {
  const { minimum = -MOST, maximum = MOST, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = bounds;
  const [least, most] = [Math.max(minimum, exclusiveMinimum, -MOST), Math.min(maximum, exclusiveMaximum, MOST)];
  const exclusive = { least: exclusiveMinimum >= minimum, most: exclusiveMaximum <= maximum };
  const whole = integerPattern(
    exclusive.least && Number.isInteger(least) ? least + 1 : least,
    exclusive.most && Number.isInteger(most) ? most - 1 : most,
  );
  const parts = [
    ...(whole === null ? [] : [whole]),
    ...(most > 0
      ? decimals(Math.max(0, least), most, { least: exclusive.least && least >= 0, most: exclusive.most })
      : []),
    ...(least < 0
      ? decimals(Math.max(0, -most), -least, { least: exclusive.most && most <= 0, most: exclusive.least }).map(
          (x) => `-${x}`,
        )
      : []),
  ];
  return parts.length === 0 ? null : parts.join('|');
};

/** Multiples between bounds that are written out. */
const MOST_MULTIPLES = 500;

/** A pattern of the whole multiples of a step; null: none lies between the bounds; undefined: they cannot be kept. */
export const multiplePattern = (step: number, least: number, most: number): string | null | undefined => {
  if (!Number.isSafeInteger(step)) return undefined;
  const [first, last] = [Math.ceil(least / step), Math.floor(most / step)];
  if (first > last) return null;
  if (last - first < MOST_MULTIPLES) {
    if (Math.max(-first, last) * step > MOST) return undefined;
    return Array.from({ length: last - first + 1 }, (_, i) => `${(first + i) * step}`).join('|');
  }
  // The last digits tell whether a step that divides a power of ten divides a number.
  const digits = [1, 2, 3].find((count) => 10 ** count % step === 0);
  const signed = least === -Infinity;
  if (digits === undefined || most !== Infinity || !(signed || (first >= 0 && first <= 1))) return undefined;
  const endings = Array.from({ length: 10 ** digits / step }, (_, i) => `${i * step}`);
  const longer = `[1-9][0-9]{0,${14 - digits}}(${endings.map((ending) => ending.padStart(digits, '0')).join('|')})`;
  return `${first > 0 ? '' : '0|'}${signed ? '-?' : ''}(${[...endings.slice(1), longer].join('|')})`;
};
