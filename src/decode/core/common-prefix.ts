// How much of a text that was read already can be used again for another one.
/** The number of tokens with which both texts begin: a cursor over one need not read them again for the other. */
export const commonPrefix = (a: readonly number[], b: readonly number[]): number => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
};
