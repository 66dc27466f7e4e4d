// Ensembles on the device, of random models: verdicts are those of the CPU reference for the logits that plain passes
// give, a round is one submit and one readback, and what cannot be joined or verified is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { draftSampling } from '../../decode/core/draft-sampling.ts';
import type { Gpu } from '../../gpu/device.ts';
import { meter } from '../../gpu/meter.ts';
import { combinedReference, verifyEnsembleReference } from '../../kernels/ensemble/ensemble.reference.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, scoreRows } from '../../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type {
  Combination,
  Cursor,
  DeviceToken,
  Ensemble,
  EnsembleChain,
  KeptRow,
  Sampling,
  Token,
} from '../interface.ts';
import { loadModel } from '../load/load-model.ts';
import type { Transformer } from '../transformer.ts';

const PREFIX = [3, 14, 15, 9, 26, 5];
const ANCHOR = 11;
const SAMPLED: Sampling = { temperature: 1.5, topK: 0, topP: 1, minP: 0, seed: 7 };
const FILTERED: Sampling = { temperature: 2, topK: 30, topP: 0.95, minP: 0.001, seed: 7 };
const NO_DRAFTS = { tokens: [], proposers: [], rows: [], pending: [] };

let gpu: Gpu;
let models: Transformer[];
const load = (config: Record<string, unknown>, edit = (checkpoint: Checkpoint): Checkpoint => checkpoint) =>
  loadModel(gpu, edit(tinyCheckpoint({ config })), { batchInvariant: true });
beforeAll(async () => {
  gpu = await testGpu();
  models = [];
  for (const config of [
    {},
    { num_hidden_layers: 1, intermediate_size: 32 },
    { num_hidden_layers: 3 },
    { num_hidden_layers: 1, hidden_size: 64 },
  ])
    models.push(await load(config));
}, 600_000);
afterAll(() => {
  for (const model of models) model[Symbol.dispose]();
});

const joined = (count: number, combination: Combination, drafts = 5): Promise<Ensemble> =>
  (models[0] as Transformer).join(models.slice(1, count), combination, { drafts });

const open = async (count: number): Promise<Cursor[]> =>
  Promise.all(
    models.slice(0, count).map(async (model) => {
      const cursor = await model.open({ capacity: 64 });
      await cursor.extend(PREFIX);
      return cursor;
    }),
  );

/** Logits of every member after these tokens, row by row, from passes of their own. */
const scores = async (count: number, tokens: readonly number[]): Promise<number[][][]> => {
  const cursors = await open(count);
  const all = await Promise.all(cursors.map((cursor) => scoreRows(cursor, tokens, 1)));
  for (const cursor of cursors) cursor[Symbol.dispose]();
  return tokens.map((_, i) => all.map(({ logits }) => [...logits.slice(50 * i, 50 * (i + 1))]));
};

/**
 * A chain after the anchor whose drafts the host has not seen, every member scoring all of it: draft i is drawn by
 * `proposers[i]`. Without `bonus` the row after the last draft is left out.
 */
const draft = (ensemble: Ensemble, cursors: readonly Cursor[], proposers: readonly number[], sampling: Sampling) => {
  const tokens: DeviceToken[] = [];
  const rows: KeptRow[][] = [];
  for (let i = 0; i <= proposers.length; i++) {
    const input: Token = tokens[i - 1] ?? ANCHOR;
    rows.push(
      cursors.map((cursor, member) => {
        const pass = cursor.forward(chain([input]));
        if (proposers[i] === member) tokens.push(pass.draw(0, draftSampling(ensemble.drafting(sampling))).token);
        const [row] = ensemble.keep(pass, 0, 1);
        pass.accept([0]);
        return row as KeptRow;
      }),
    );
  }
  return { tokens, rows, position: PREFIX.length + 1, proposers };
};

const COMBINATIONS = (count: number): Combination[] => [
  { kind: 'weighted', weights: Array.from({ length: count }, (_, k) => 2 + k) },
  { kind: 'contrastive', mu: 0.1 },
];

describe.each([2, 3, 4])('%i members', (count) => {
  test.each(COMBINATIONS(count))(
    '$kind: as the CPU reference says, in one submit and one readback',
    async (combination) => {
      const seen = new Set<string | null>();
      using ensemble = await joined(count, combination);
      expect(ensemble.members).toBe(count);
      let seed = 0;
      for (const sampling of [GREEDY, SAMPLED, FILTERED])
        for (const ends of [true, false])
          for (const length of [1, 2, 5]) {
            const own = { ...sampling, seed: ++seed };
            const cursors = await open(count);
            const proposers = Array.from({ length }, (_, i) => (i + seed) % count);
            gpu.flush();
            const since = meter(gpu);
            const { rows, ...drafted } = draft(ensemble, cursors, proposers, own);
            const bonus = ends ? (rows[length] as KeptRow[]) : null;
            const pending = ends ? [] : drafted.tokens.slice(0, 1);
            const verdict = await ensemble.verify({ ...drafted, rows: rows.slice(0, length), bonus, pending }, own);
            const { submits, readbacks, readbackBytes } = since();
            const readable = 16 + (length + Number(ends)) * (12 + 12 * count) + 4 * pending.length;
            expect({ submits, readbacks, readbackBytes }).toEqual({
              submits: 1,
              readbacks: 1,
              readbackBytes: readable,
            });
            expect(verdict.pending).toEqual(verdict.tokens.slice(0, pending.length));
            for (const cursor of cursors) {
              expect(cursor.length).toBe(PREFIX.length + length + 1);
              cursor[Symbol.dispose]();
            }

            const scored = await scores(count, [ANCHOR, ...verdict.tokens]);
            const expected = verifyEnsembleReference({
              ...drafted,
              tokens: verdict.tokens,
              rows: scored.slice(0, length),
              bonus: ends ? (scored[length] as number[][]) : null,
              combination,
              sampling: own,
            });
            const { kept, source, choices, votes } = verdict;
            expect({ kept, source }).toEqual({ kept: expected.kept, source: expected.source });
            expect(choices.map(({ token }) => token)).toEqual(expected.choices.map(({ token }) => token));
            choices.forEach(({ logprob }, i) => {
              expect(logprob).toBeCloseTo(expected.choices[i]?.logprob as number, 3);
              expect(votes[i]?.own.map(({ token }) => token)).toEqual(expected.votes[i]?.own.map(({ token }) => token));
            });
            seen.add(source);
          }
      expect(seen.has('corrected')).toBe(true);
      expect(seen.size).toBeGreaterThan(1);
    },
  );
});

test('a model with itself: every draft stays, and the bonus is its own next token', async () => {
  const [model] = models as [Transformer];
  using ensemble = await model.join([model], { kind: 'weighted', weights: [1, 3] });
  for (const sampling of [GREEDY, SAMPLED]) {
    const [cursor] = (await open(1)) as [Cursor];
    // Both members are the one cursor: each row stands for both.
    const { rows, ...drafted } = draft(ensemble, [cursor], [0, 0, 0, 0], sampling);
    const twice = rows.map(([row]) => [row as KeptRow, row as KeptRow]);
    const chained = { ...drafted, rows: twice.slice(0, 4), bonus: twice[4] as KeptRow[], pending: [] };
    const { tokens, kept, source, choices } = await ensemble.verify(chained, sampling);
    expect({ kept, source }).toEqual({ kept: 4, source: 'bonus' });
    using again = ((await open(1)) as [Cursor])[0];
    await again.extend([ANCHOR, ...tokens.slice(0, 3)]);
    const pass = again.forward(chain(tokens.slice(3)));
    expect((await pass.draw(0, sampling).read())[0]?.token).toBe(choices[4]?.token);
    cursor[Symbol.dispose]();
  }
});

test('a chain without drafts draws from r, and the most probable tokens under r agree with it', async () => {
  const [scored = []] = await scores(3, [ANCHOR]);
  for (const combination of COMBINATIONS(3))
    for (const sampling of [GREEDY, FILTERED]) {
      using ensemble = await joined(3, combination, 0);
      const cursors = await open(3);
      const bonus = cursors.flatMap((cursor) => ensemble.keep(cursor.forward(chain([ANCHOR])), 0, 1));
      const [choice] = (await ensemble.verify({ ...NO_DRAFTS, position: 7, bonus }, sampling)).choices;
      const filtered = sampling.temperature === 0 ? { ...SAMPLED, temperature: 1 } : sampling;
      const since = meter(gpu);
      const tops = await ensemble.top([bonus.toReversed(), bonus], 5, sampling); // members in another order: another distribution
      expect(since()).toMatchObject({ submits: 1, readbacks: 1 });
      for (const [i, rows] of [scored.toReversed(), scored].entries()) {
        const soft = combinedReference(rows, combination, filtered);
        const best = [...soft.keys()].sort((a, b) => (soft[b] as number) - (soft[a] as number)).slice(0, 5);
        expect(tops[i]?.map(({ token }) => token)).toEqual(best);
        for (const { token, logprob } of tops[i] ?? []) expect(logprob).toBeCloseTo(Math.log(soft[token] as number), 3);
        if (i === 0) continue;
        if (sampling === GREEDY) expect(choice?.token).toBe(best[0]);
        expect(choice?.logprob).toBeCloseTo(Math.log(soft[choice?.token as number] as number), 3);
      }
      for (const cursor of cursors) cursor[Symbol.dispose]();
    }
});

test('a submit for each member, where that is asked for; rows last two rounds', async () => {
  using ensemble = await joined(2, { kind: 'weighted', weights: [1, 1] }, 1);
  const cursors = (await open(2)) as [Cursor, Cursor];
  gpu.flush();
  const since = meter(gpu);
  const bonus = cursors.flatMap((cursor) => {
    const kept = ensemble.keep(cursor.forward(chain([ANCHOR])), 0, 1);
    ensemble.submit();
    return kept;
  });
  const ask = () => ensemble.verify({ ...NO_DRAFTS, position: 7, bonus }, GREEDY);
  const first = await ask();
  expect(since()).toMatchObject({ submits: 3, readbacks: 1 });
  const pass = cursors[0].forward(chain([1, 2, 3, 4, 5, 6]));
  ensemble.keep(pass, 0, 6);
  expect(await ask()).toEqual(first);
  ensemble.keep(pass, 5, 1);
  await expect(ask()).rejects.toThrow('kept row 0 is over');
  for (const cursor of cursors) cursor[Symbol.dispose]();
});

/** A checkpoint whose final norm is no number. */
const damaged = (checkpoint: Checkpoint): Checkpoint => ({
  ...checkpoint,
  async *stream(options) {
    for await (const block of checkpoint.stream(options))
      yield block.tensor.name === 'model.norm.weight'
        ? { ...block, decode: () => new Float32Array(block.tensor.bytes / 4).fill(Number.NaN) }
        : block;
  },
});

test('logits that are not finite are an error, whichever member they are of', async () => {
  const [model] = models as [Transformer];
  using bad = await load({}, damaged);
  for (const [first, second] of [
    [model, bad],
    [bad, model],
  ] as const)
    for (const combination of COMBINATIONS(2)) {
      using ensemble = await first.join([second], combination);
      using own = await first.open({ capacity: 64 });
      using other = await second.open({ capacity: 64 });
      const bonus = [own, other].flatMap((cursor) => ensemble.keep(cursor.forward(chain([ANCHOR])), 0, 1));
      const asked = { ...NO_DRAFTS, position: 1, bonus };
      await expect(ensemble.verify(asked, SAMPLED)).rejects.toMatchObject({ code: 'bad-checkpoint' });
      await expect(ensemble.top([bonus], 3, SAMPLED)).rejects.toMatchObject({ code: 'bad-checkpoint' });
    }
});

test('what cannot be joined or verified is refused, and nothing stays on the device', async () => {
  const [model, other] = models as [Transformer, Transformer];
  const before = gpu.bytes;
  const even: Combination = { kind: 'weighted', weights: [1, 1] };
  {
    using larger = await load({ vocab_size: 60 });
    await expect(model.join([larger], even)).rejects.toThrow('models of 50 and 60 tokens');
  }
  const elsewhere = await testGpu('baseline');
  using abroad = await loadModel(elsewhere, tinyCheckpoint(), { batchInvariant: true });
  await expect(model.join([abroad], even)).rejects.toThrow('not on one device');
  await expect(model.join([], { kind: 'weighted', weights: [1] })).rejects.toThrow('an ensemble of 1 models');
  await expect(model.join(Array(8).fill(other), even)).rejects.toThrow('an ensemble of 9 models');
  for (const weights of [[1], [0, 0], [1, -1], [1, Number.NaN]])
    await expect(model.join([other], { kind: 'weighted', weights })).rejects.toThrow('for 2 models');
  await expect(model.join([other], { kind: 'contrastive', mu: Number.NaN })).rejects.toThrow('μ = NaN');
  await expect(model.join([other], even, { drafts: 64 })).rejects.toThrow('the most is 63');

  const ensemble = await model.join([other], even, { drafts: 2 });
  expect(gpu.bytes).toBeGreaterThanOrEqual(before + ensemble.bytes);
  using cursor = await model.open({ capacity: 64 });
  const pass = cursor.forward(chain([1, 2]));
  expect(() => ensemble.keep(pass, 1, 2)).toThrow('rows 1 to 2 of a pass of 2');
  const [row] = ensemble.keep(pass, 0, 1) as [KeptRow];
  const rows = [row, row];
  const fine: EnsembleChain = { tokens: [4], proposers: [1], rows: [rows], position: 1, bonus: null, pending: [] };
  const refused = (changed: Partial<EnsembleChain>) => expect(ensemble.verify({ ...fine, ...changed }, GREEDY)).rejects;
  await refused({ tokens: [1, 2, 3] }).toThrow('3 drafts; this ensemble takes 2');
  await refused({ proposers: [] }).toThrow('1 drafts, 0 proposers and rows for 1');
  await refused({ tokens: [], proposers: [], rows: [] }).toThrow('without drafts and without a bonus');
  await refused({ rows: [[row]] }).toThrow('1 rows of a position that 2 models score');
  await refused({ proposers: [2] }).toThrow('member 2 of 2');
  await refused({ tokens: [50] }).toThrow('token 50 is outside the vocabulary of 50');
  await refused({ bonus: rows, pending: Array(65).fill({ ringEntry: 0 }) }).toThrow('65 tokens pending');
  expect((await ensemble.verify(fine, GREEDY)).tokens).toEqual([4]);
  cursor.forward(chain([1]));
  expect(() => ensemble.keep(pass, 0, 1)).toThrow('this forward pass is over');
  ensemble[Symbol.dispose]();
  ensemble[Symbol.dispose]();
  expect(() => ensemble.keep(pass, 0, 1)).toThrow('this ensemble was disposed');
  cursor[Symbol.dispose]();
  expect(gpu.bytes).toBe(before);
});
