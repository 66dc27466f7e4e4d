/** `ids[i]` is the token of entry i of the part. */
export const spreadLogitsReference = (
  part: readonly number[],
  ids: readonly number[],
  vocabulary: number,
): number[] => {
  const logits = Array<number>(vocabulary).fill(Math.fround(-1e30));
  for (const [i, id] of ids.entries()) logits[id] = part[i] as number;
  return logits;
};
