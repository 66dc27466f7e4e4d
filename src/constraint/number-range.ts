// Numbers between two bounds, and multiples of whole numbers, as regular expressions over their digits.

/** Digits of a number that are written. Two such numbers that differ also differ once a parser has read them. */
const MOST_DIGITS = 15;
const MOST = 10 ** MOST_DIGITS;

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

/** An end of a range of numbers of 0 or more. */
interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

/** What an end still asks of the digits after the point. Null: nothing, because a digit before was not the end's own. */
type Rest = { readonly digits: string; readonly exclusive: boolean } | null;

const rest = ({ value, exclusive }: Bound): Rest => {
  const [, whole = '', digits = '', power] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  return { digits: power === undefined ? digits : '0'.repeat(Number(power) - 1) + whole + digits, exclusive };
};

/** One to `room` digits after the point; null: none are between the ends. */
const fraction = (low: Rest, high: Rest, room: number): string | null => {
  if (room === 0) return null;
  if (low === null && high === null) return `[0-9]{1,${room}}`;
  const after = (first: number, last: number, nextLow: Rest, nextHigh: Rest): readonly string[] => {
    if (first > last) return [];
    const more = fraction(nextLow, nextHigh, room - 1);
    const mayEnd = (nextLow === null || (nextLow.digits === '' && !nextLow.exclusive)) && !isPassed(nextHigh);
    if (more === null) return mayEnd ? [digit(first, last)] : [];
    return [`${digit(first, last)}(${more})${mayEnd ? '?' : ''}`];
  };
  if (isPassed(high)) return null;
  const next = (end: Rest): Rest => end && { ...end, digits: end.digits.slice(1) };
  const [from, to] = [low === null ? -1 : Number(low.digits[0] ?? 0), high === null ? 10 : Number(high.digits[0] ?? 0)];
  const parts =
    from === to
      ? after(from, to, next(low), next(high))
      : [
          ...(low === null || from > to ? [] : after(from, from, next(low), null)),
          ...after(from + 1, to - 1, null, null),
          ...(high === null || from > to ? [] : after(to, to, null, next(high))),
        ];
  return parts.length === 0 ? null : parts.join('|');
};

/** Whether all digits are too many: zeros follow an end that is excluded. */
const isPassed = (high: Rest): boolean => high !== null && high.digits === '' && high.exclusive;

/** Numbers of 0 or more with decimals. */
const decimals = (low: Bound, high: Bound): readonly string[] => {
  const [first, last] = [Math.floor(low.value), Math.floor(high.value)];
  const parts: string[] = [];
  const add = (from: number, to: number, least: Rest, most: Rest): void => {
    const digits = String(from).length;
    const end = Math.min(to, 10 ** digits - 1);
    const after = from > to || digits >= MOST_DIGITS ? null : fraction(least, most, MOST_DIGITS - digits);
    if (after !== null) parts.push(`(${natural(from, end).join('|')})\\.(${after})`);
    if (end < to) add(end + 1, to, least, most);
  };
  if (first === last) add(first, last, rest(low), rest(high));
  else {
    add(first, first, rest(low), null);
    add(first + 1, last - 1, null, null);
    add(last, last, null, rest(high));
  }
  return parts;
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
  if (least > most) return null;
  const exclusive = { least: exclusiveMinimum >= minimum, most: exclusiveMaximum <= maximum };
  const whole = integerPattern(
    exclusive.least && Number.isInteger(least) ? least + 1 : least,
    exclusive.most && Number.isInteger(most) ? most - 1 : most,
  );
  const [low, high] = [
    { value: least, exclusive: exclusive.least },
    { value: most, exclusive: exclusive.most },
  ];
  const zero = { value: 0, exclusive: false };
  const negative = ({ value, exclusive }: Bound): Bound => ({ value: -value, exclusive });
  const parts = [
    ...(whole === null ? [] : [whole]),
    ...(most >= 0 ? decimals(least < 0 ? zero : low, high) : []),
    ...(least < 0 ? decimals(most > 0 ? zero : negative(high), negative(low)).map((x) => `-(${x})`) : []),
  ];
  return parts.length === 0 ? null : parts.join('|');
};

/** Multiples between bounds that are written out. */
const MOST_MULTIPLES = 500;

/** Multiples of 0 or more of a step that divides 10 ** `digits`: the last digits tell. */
const endingInMultiples = (step: number, digits: number, first: number, last: number): readonly string[] => {
  const whole = 10 ** digits;
  const short: string[] = [];
  /** Last digits, by the digits that may stand before them. */
  const longer = new Map<string, string[]>();
  for (let ending = 0; ending < whole; ending += step) {
    if (first <= ending && ending <= last) short.push(`${ending}`);
    const before = natural(Math.max(1, Math.ceil((first - ending) / whole)), Math.floor((last - ending) / whole));
    if (before.length > 0) longer.set(before.join('|'), [...(longer.get(before.join('|')) ?? []), `${ending}`]);
  }
  return [
    ...short,
    ...[...longer].map(
      ([before, endings]) => `(${before})(${endings.map((each) => each.padStart(digits, '0')).join('|')})`,
    ),
  ];
};

/** A pattern of the whole multiples of a step; null: none lies between the bounds; undefined: they cannot be kept. */
export const multiplePattern = (step: number, least: number, most: number): string | null | undefined => {
  if (!Number.isSafeInteger(step)) return undefined;
  const [first, last] = [Math.ceil(least / step), Math.floor(most / step)];
  if (first > last) return null;
  if (last - first < MOST_MULTIPLES) {
    if (Math.max(-first, last) * step > MOST) return undefined;
    return Array.from({ length: last - first + 1 }, (_, i) => `${(first + i) * step}`).join('|');
  }
  const digits = [1, 2, 3].find((count) => 10 ** count % step === 0);
  if (digits === undefined) return undefined;
  const [low, high] = [Math.max(least, 1 - MOST), Math.min(most, MOST - 1)];
  const below = endingInMultiples(step, digits, Math.max(1, -high), -low);
  const parts = [...below.map((each) => `-${each}`), ...endingInMultiples(step, digits, Math.max(0, low), high)];
  return parts.length === 0 ? null : parts.join('|');
};
