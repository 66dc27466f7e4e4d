// The order of test files: those of a minute and more come first, so that none of them runs alone at the end.
import { BaseSequencer } from 'vitest/node';

export const LONGEST = [
  'src/testing/contract/device-exact.test.ts',
  'src/model/load/batch-invariance.test.ts',
  'src/testing/contract/device-distribution.test.ts',
  'src/kernels/matmul/matmul.test.ts',
  'src/model/golden.test.ts',
  'src/testing/contract/system-contract.test.ts',
  'src/model/smollm2.test.ts',
];

/** @param {import('vitest/node').TestSpecification} specification */
const rank = ({ moduleId }) => {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return place < 0 ? LONGEST.length : place;
};

export class LongestFirst extends BaseSequencer {
  /** @override @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
