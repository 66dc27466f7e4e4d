/** How many tokens two texts begin with alike: what a cursor over the one need not read again for the other. */
export const commonPrefix = (a: readonly number[], b: readonly number[]): number => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
};
