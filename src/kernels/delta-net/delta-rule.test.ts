import { expect, test } from 'vitest';
import { type Past, treeRows } from '../../model/cache/visibility.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { packRows } from '../cache/rows.ts';
import { type DeltaInput, deltaReference } from './delta-rule.reference.ts';
import { deltaRows, deltaRule, STATE_SPAN } from './delta-rule.ts';
import { deltaChannels, deltaWords, stateWords } from './delta-shape.ts';

const SLOTS = 256;
/** Branches on both sides of the 32nd node. */
const PARENTS = [-1, 0, 1, 1, 0, 3, 5, 2, ...Array.from({ length: 30 }, (_, i) => (i % 7 === 3 ? 2 : 7 + i))];
const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

/** A row of the convolution's output, and of the rates. */
interface Raw {
  readonly convolved: readonly number[];
  readonly rates: readonly number[];
}

for (const features of ['all', 'baseline'] as const)
  test(`delta-rows and delta-rule on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const [shape, past] of [
      [
        { keyHeads: 1, keyDim: 1, valueHeads: 1, valueDim: 1 },
        { prefix: 0, start: 0, own: 0 },
      ],
      [
        { keyHeads: 1, keyDim: 5, valueHeads: 3, valueDim: 31 },
        { prefix: 3, start: 3, own: 0 },
      ],
      [
        { keyHeads: 2, keyDim: 33, valueHeads: 4, valueDim: 7 },
        { prefix: 3, start: 64, own: 2, state: 1 },
      ],
      [
        { keyHeads: 3, keyDim: 16, valueHeads: 3, valueDim: 24 },
        { prefix: 5, start: 5, own: 0 },
      ],
    ] as const satisfies (readonly [object, Past])[]) {
      const { keyHeads, keyDim, valueHeads, valueDim } = shape;
      const random = noise(keyDim + valueDim);
      const [keys, values, channels] = [keyHeads * keyDim, valueHeads * valueDim, deltaChannels(shape)];
      const raw = (): Raw => ({ convolved: list(channels, random), rates: list(2 * valueHeads, random) });
      const [decayLog, decayBias] = [list(valueHeads, random), list(valueHeads, random)];
      const length = past.prefix + past.own;
      const committed = list(length, raw);
      const nodes = PARENTS.map(raw);
      const tensors = {
        kept: tensorOf(gpu, new Float32Array(SLOTS * deltaWords(shape))),
        states: tensorOf(gpu, new Float32Array(3 * stateWords(shape)).fill(7)), // of two sequences, and the working one
        decayLog: tensorOf(gpu, Float32Array.from(decayLog)),
        decayBias: tensorOf(gpu, Float32Array.from(decayBias)),
      };
      /** A pass over some rows; `next`: rows that the state has taken. */
      const pass = async (all: readonly Raw[], rows: Uint32Array, group: number, next: number) => {
        const padded = list(group, (i) => all[i] ?? raw());
        const { kept, states, decayLog, decayBias } = tensors;
        const convolved = tensorOf(
          gpu,
          strided(
            padded.map((row) => row.convolved.slice()),
            stride32(channels),
          ),
        );
        const rates = tensorOf(
          gpu,
          strided(
            padded.map((row) => row.rates.slice()),
            stride32(2 * valueHeads),
          ),
        );
        const queries = gpu.activation(group, stride32(keys), 'queries');
        const output = gpu.activation(group, stride32(values), 'output');
        const { state = 0, ...own } = { state: 0, ...past };
        const span = { next, end: length, prefix: own.prefix, start: own.start, begins: next === 0 ? 1 : 0 };
        const none = { next: 0, end: 0, prefix: 0, start: 0, begins: 0 };
        const spans = tensorOf(
          gpu,
          STATE_SPAN.pack(
            list(2, (i) => (i === state ? span : none)),
            2,
          ),
        );
        const packed = tensorOf(gpu, rows);
        const inputs = { convolved, rates, rows: packed, decayLog, decayBias };
        const [out, left] = await runKernel(gpu, [output, states], (plan) => {
          deltaRows(plan, { ...inputs, kept, queries }, { rows: group, ...shape });
          deltaRule(plan, { queries, kept, rows: packed, spans, states, output }, { rows: group, ...shape, states: 3 });
        });
        return { out: out as Float32Array, left: left as Float32Array, state };
      };
      const tree = (parents: readonly number[]) => ({
        tokens: parents.map(() => ({ token: 0, ringEntry: 0 })),
        parents,
      });
      /** Everything from the beginning: the committed rows are put at their slots, and then the tree is scored. */
      const run = async (group: number) => {
        for (const [position, row] of committed.entries()) {
          const at: Past =
            position < past.prefix
              ? { prefix: position, start: position, own: 0 }
              : { ...past, own: position - past.prefix };
          await pass(
            [row],
            packRows(treeRows({ ...at, state: 1 - (past.state ?? 0) }, tree([-1]), null, 0, 1), 1),
            1,
            length,
          );
        }
        const outputs: Float32Array[] = [];
        let left = new Float32Array();
        for (let first = 0; first < PARENTS.length; first += group) {
          const count = Math.min(group, PARENTS.length - first);
          const rows = packRows(treeRows(past, tree(PARENTS), null, first, count), group);
          const {
            out,
            left: states,
            state,
          } = await pass(nodes.slice(first, first + count), rows, group, first === 0 ? 0 : length);
          left = states.slice(state * stateWords(shape), (state + 1) * stateWords(shape));
          const stride = stride32(values);
          expect(
            out.slice(count * stride).every((x) => x === 0),
            'dead rows give zeros',
          ).toBe(true);
          for (let i = 0; i < count; i++) outputs.push(out.slice(i * stride, i * stride + values));
        }
        return { outputs, left };
      };
      const input = ({ convolved, rates }: Raw, head: number): DeltaInput => {
        const key = Math.floor(head / (valueHeads / keyHeads)) * keyDim;
        return {
          query: convolved.slice(key, key + keyDim),
          key: convolved.slice(keys + key, keys + key + keyDim),
          value: convolved.slice(2 * keys + head * valueDim, 2 * keys + (head + 1) * valueDim),
          rate: rates[head] as number,
          decay: rates[valueHeads + head] as number,
        };
      };
      const reference = (rows: readonly Raw[]) =>
        list(valueHeads, (head) =>
          deltaReference(
            rows.map((row) => input(row, head)),
            { decayLog: decayLog[head] as number, decayBias: decayBias[head] as number },
          ),
        );
      const name = JSON.stringify(shape);
      const together = await run(16);
      const expected = PARENTS.map((_, node) => {
        const path: Raw[] = [];
        for (let seen = node; seen >= 0; seen = PARENTS[seen] as number) path.unshift(nodes[seen] as Raw);
        return reference([...committed, ...path]).flatMap(({ outputs }) => outputs.at(-1) as number[]);
      });
      const actual = together.outputs.flatMap((row) => [...row]);
      expect(deviation(actual, expected.flat()), name).toBeLessThan(2e-5);
      const state =
        length > 0 ? reference(committed).flatMap((head) => head.state.flat()) : list(stateWords(shape), () => 0);
      expect(deviation(together.left, state), `${name}: the state has taken the committed rows alone`).toBeLessThan(
        2e-5,
      );
      for (const group of [1, 2, 4, 8]) expect(await run(group), `${name}: ${group} rows`).toEqual(together);
    }
  });
