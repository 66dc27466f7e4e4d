// The order of test files: the longest come first, so that none of them runs alone at the end. Those that share a process
// (`pure` in vite.config.ts) come last, because only neighbours can.
import { BaseSequencer } from 'vitest/node';

export const LONGEST = [
  'src/testing/contract/device-exact.test.ts',
  'src/model/load/batch-invariance.test.ts',
  'src/engine/memory.test.ts',
  'src/testing/contract/device-distribution.test.ts',
  'src/testing/contract/system-contract.test.ts',
  'src/model/smollm2.test.ts',
  'src/testing/contract/device-exact-swiftshader.test.ts',
  'src/engine/device-loss.test.ts',
  'src/model/golden.test.ts',
  'src/kernels/matmul/matmul.test.ts',
];

/** @param {import('vitest/node').TestSpecification} specification */
const rank = ({ moduleId, project }) => {
  if (project.name === 'pure') return LONGEST.length + 1;
  const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return place < 0 ? LONGEST.length : place;
};

export class LongestFirst extends BaseSequencer {
  /** @override @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
