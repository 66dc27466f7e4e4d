// A number as people type it: decimal digits, with a point or an exponent if it need not be whole. `Number` would also
// read 0x10 and nothing at all, and 1e2 as a whole number.

const WHOLE = /^[+-]?\d+$/;
const ANY = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** NaN where the text is no such number. */
export const decimal = (text: string, whole: boolean): number =>
  (whole ? WHOLE : ANY).test(text.trim()) ? Number(text) : Number.NaN;
