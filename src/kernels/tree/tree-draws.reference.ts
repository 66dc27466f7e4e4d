/** The position that follows each node of a tree. */
export const treeDrawsReference = (parents: readonly number[], position: number): number[] => {
  const positions: number[] = [];
  for (const parent of parents) positions.push(parent < 0 ? position + 1 : (positions[parent] as number) + 1);
  return positions;
};
