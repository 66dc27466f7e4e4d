// A wrong value as an error shows it: short, and whatever it is.

const MOST_CHARACTERS = 60;

export const shown = (value: unknown): string => {
  // JSON writes NaN and the infinities as null.
  if (typeof value === 'number') return String(value);
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, MOST_CHARACTERS);
  } catch {
    return Object.prototype.toString.call(value); // a bigint, or an object that holds itself
  }
};
