// In a stream of text: how much of its end may be the beginning of a mark, and has to wait for the next piece.

/** The length of the longest end of `text` with which one of the marks begins. Callers look for whole marks first. */
export const partialMark = (text: string, marks: readonly string[]): number => {
  const longest = Math.max(0, ...marks.map(({ length }) => length - 1));
  for (let n = Math.min(longest, text.length); n > 0; n--)
    if (marks.some((mark) => mark.startsWith(text.slice(-n)))) return n;
  return 0;
};
