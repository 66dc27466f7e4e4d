// A probability or a share as a percentage: one decimal where it is below 10 %, and no tail of zeros for what is nearly impossible.
export const percent = (probability: number): string => {
  const hundred = 100 * probability;
  if (hundred > 0 && hundred < 0.1) return '< 0.1 %';
  return `${hundred.toFixed(hundred < 9.95 ? 1 : 0)} %`;
};
