import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { markovGateReference, markovRecurReference } from './markov-heads.reference.ts';
import { addRow, markovGate, markovInput, markovRecur, NO_PART } from './markov-heads.ts';

const RANKS = [1, 16, 31, 65];

for (const features of ['all', 'baseline'] as const) {
  test(`the input of a head on ${features}`, async () => {
    const gpu = await testGpu(features);
    const upload = (values: readonly number[]) => tensorOf(gpu, Float32Array.from(values));
    for (const [hidden, rank] of [
      [1, 1],
      [33, 16],
      [64, 31],
    ] as const) {
      const random = noise(hidden);
      const rows = Array.from({ length: 3 }, () => Array.from({ length: hidden }, random));
      const [embedded, state] = [0, 1].map(() => Array.from({ length: rank }, random)) as [number[], number[]];
      const tensors = {
        hidden: tensorOf(gpu, strided(rows, stride32(hidden))),
        embedded: upload(embedded),
        state: upload(state),
      };
      const h = rows[2] as number[];
      const cases = [
        { at: { hiddenAt: 0, embeddedAt: NO_PART, stateAt: NO_PART }, expected: h },
        { at: { hiddenAt: 0, embeddedAt: hidden, stateAt: NO_PART }, expected: [...h, ...embedded] },
        { at: { stateAt: 0, embeddedAt: rank, hiddenAt: 2 * rank }, expected: [...state, ...embedded, ...h] },
      ];
      for (const { at, expected } of cases) {
        const columns = expected.length;
        const output = gpu.activation(2, stride32(columns), 'output');
        const [values] = await runKernel(gpu, [output], (plan) =>
          markovInput(plan, { ...tensors, output }, { row: 2, to: 1, hidden, rank, ...at, columns }),
        );
        const zeros = Array<number>(columns).fill(0);
        expect(values).toEqual(strided([zeros, expected], stride32(columns)));
      }
    }
  });

  test(`gated and recurrent heads on ${features}`, async () => {
    const gpu = await testGpu(features);
    const upload = (values: readonly number[]) => tensorOf(gpu, Float32Array.from(values));
    for (const rank of RANKS) {
      const random = noise(rank);
      // Ten times as wide as noise, so that sigmoid and tanh saturate somewhere.
      const values = (length: number): number[] => Array.from({ length }, () => 10 * random());
      const [joint, embedded, state] = [values(3 * rank), values(rank), values(rank)];
      const output = gpu.activation(1, stride32(rank), 'output');
      const gates = upload(joint);
      const e = upload(embedded);
      const [gated] = await runKernel(gpu, [output], (plan) =>
        markovGate(plan, { gates, embedded: e, output }, { rank }),
      );
      const close = (actual: Float32Array | undefined, expected: number[]): void =>
        expect(deviation((actual as Float32Array).subarray(0, rank), Float32Array.from(expected))).toBeLessThan(1e-5);
      close(gated, markovGateReference(joint, embedded));

      const s = upload(state);
      const [next, recurred] = await runKernel(gpu, [s, output], (plan) =>
        markovRecur(plan, { joint: gates, state: s, output }, { rank }),
      );
      const expected = markovRecurReference(joint, state);
      close(next, expected.state);
      close(recurred, expected.output);
    }
  });

  test(`a row of logits is corrected and no other, on ${features}`, async () => {
    const gpu = await testGpu(features);
    const upload = (values: readonly number[]) => tensorOf(gpu, Float32Array.from(values));
    for (const columns of [1, 31, 33, 331]) {
      const random = noise(columns);
      const rows = Array.from({ length: 3 }, () => Array.from({ length: columns }, random));
      const bias = Array.from({ length: columns }, random);
      const tensor = tensorOf(gpu, strided(rows, stride32(columns)));
      const [values] = await runKernel(gpu, [tensor], (plan) =>
        addRow(plan, { bias: upload(bias), rows: tensor }, { row: 1, columns, stride: stride32(columns) }),
      );
      const f32 = (x: number): number => Math.fround(x);
      const expected = rows.map((row, i) =>
        row.map((x, j) => (i === 1 ? f32(f32(x) + f32(bias[j] as number)) : f32(x))),
      );
      expect(values).toEqual(strided(expected, stride32(columns)));
    }
  });
}
