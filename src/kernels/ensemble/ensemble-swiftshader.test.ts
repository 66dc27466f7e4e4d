// The kernels of ensembles again on SwiftShader, which rounds differently.
import { expect, test } from 'vitest';
import { decide, expectReference, questions } from '../../testing/contract/ensemble-questions.ts';
import { noSwiftShader, swiftShaderGpu } from '../../testing/device/swiftshader.ts';

test.skipIf(noSwiftShader)(
  'on SwiftShader: verdicts under a combined distribution equal the CPU reference',
  async () => {
    const gpu = await swiftShaderGpu();
    let committed = 0;
    for (const question of questions([2, 3], [33])) {
      const verdict = await decide(gpu, question);
      expectReference(verdict, question);
      committed += verdict.committed.length;
    }
    expect(committed).toBeGreaterThan(40);
  },
);
