// EAGLE-3 drafters against the authors' code (golden/README.md): the layer's output over the prompt, chain logits, whole
// runs with the same drafts and acceptance lengths, and the tree that is grown on the device.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Gpu } from '../gpu/device.ts';
import { chain, GREEDY, goldenTensor, loadShared, relativeError } from '../testing/golden.ts';
import { testGpu } from '../testing/gpu.ts';
import { noShared, shared } from '../testing/shared.ts';
import { folderSource } from '../weights/folder.ts';
import { openCheckpoint } from '../weights/open.ts';
import { rowsOf } from './arena.ts';
import { Eagle3Drafter } from './feature-drafter.ts';
import { loadDrafter } from './load-drafter.ts';
import type { Choice, Cursor, Draft, FeatureCursor, HeldTree, LanguageModel, Sampling, Tree } from './model.ts';
import { unpad } from './pass.ts';

const TOLERANCE = 1e-3;
const TARGET = 'golden/qwen3-tiny-deep';

interface Eagle3Case {
  readonly prefix: readonly number[];
  readonly prefill_tokens: readonly number[];
  readonly chain: { readonly drafts: readonly number[] };
  readonly runs: readonly {
    readonly draft_depth: number;
    readonly tokens: readonly number[];
    readonly acceptance_lengths: readonly number[];
    readonly drafts: readonly (readonly number[])[];
  }[];
  readonly tree_draft: {
    readonly width: number;
    readonly levels: number;
    readonly tokens: readonly number[];
    readonly parents: readonly number[];
  };
}

const readCase = (name: string): Eagle3Case => JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8'));

const loadEagle3 = async (gpu: Gpu, name: string, target: LanguageModel): Promise<Eagle3Drafter> => {
  using checkpoint = await openCheckpoint(await folderSource(shared('golden', name)));
  const drafter = await loadDrafter(gpu, checkpoint, target);
  if (!(drafter instanceof Eagle3Drafter)) throw new Error(`${name} is ${drafter.kind}`);
  return drafter;
};

/** The prompt into both cursors; its last row waits for the token that is drawn behind it. Returns that token. */
const prefill = async (
  target: Cursor,
  features: FeatureCursor,
  tokens: readonly number[],
  sampling = GREEDY,
): Promise<number> => {
  let base = 0;
  const last = await target.extend(tokens, {
    onPass(pass) {
      const rows = Array.from({ length: pass.rows }, (_, i) => i).filter((i) => base + i + 1 < tokens.length);
      features.append(
        pass,
        rows,
        rows.map((i) => tokens[base + i + 1] as number),
      );
      base += pass.rows;
    },
  });
  const first = last.draw(0, sampling);
  features.append(last, [0], [first.token]);
  return ((await first.read())[0] as Choice).token;
};

type Propose = (features: FeatureCursor, anchor: number) => Tree | HeldTree | Draft;

/** Speculation to `count` tokens, with what was drafted and committed in each round. */
const run = async (
  target: LanguageModel,
  drafter: Eagle3Drafter,
  prompt: readonly number[],
  count: number,
  propose: Propose,
  sampling = GREEDY,
) => {
  using cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers, nodes: 64 });
  using features = await drafter.open({ capacity: 128 });
  const tokens = [await prefill(cursor, features, prompt, sampling)];
  const lengths: number[] = [];
  const drafts: number[][] = [];
  while (tokens.length < count) {
    const proposed = propose(features, tokens.at(-1) as number);
    const { tree, laws } = 'tree' in proposed ? proposed : { tree: proposed, laws: null };
    const pass = cursor.forward(tree);
    const verdict = await pass.verify(laws, sampling);
    const choices = verdict.choices.map(({ token }) => token);
    features.append(pass, verdict.path, choices);
    const committed = choices.slice(0, count - tokens.length);
    tokens.push(...committed);
    lengths.push(committed.length);
    drafts.push(verdict.tokens.slice(1));
  }
  return { tokens, lengths, drafts };
};

describe.skipIf(noShared).each(['all', 'baseline'] as const)('EAGLE-3, %s features', (features) => {
  test.each(['eagle3-tiny', 'eagle3-tiny-good'])('%s', async (name) => {
    const gpu = await testGpu(features);
    const golden = readCase(name);
    using target = await loadShared(gpu, TARGET);
    using drafter = await loadEagle3(gpu, name, target);
    expect(drafter.tapLayers).toEqual([1, 3, 4]);
    using cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers });
    using context = await drafter.open({ capacity: 128 });
    const anchor = await prefill(cursor, context, golden.prefix);
    expect([...golden.prefix, anchor]).toEqual(golden.prefill_tokens);
    expect(context.length).toBe(golden.prefix.length);

    const logits: number[] = [];
    for (const depth of [1, 2, 3, 4]) logits.push(...(await context.chain(depth, GREEDY).logits.read()));
    expect(relativeError(logits, goldenTensor(name, 'chain_logits.f32'))).toBeLessThan(TOLERANCE);

    const { tree_draft: tree, runs } = golden;
    const grown = context.tree(anchor, { depth: tree.levels, width: tree.width, nodes: tree.tokens.length - 1 });
    const verdict = await cursor.forward(grown).verify(null, GREEDY);
    expect(verdict.tokens).toEqual(tree.tokens);
    expect(verdict.parents).toEqual(tree.parents);

    for (const { draft_depth: depth, tokens, acceptance_lengths, drafts } of runs) {
      const ours = await run(target, drafter, golden.prefix, tokens.length, (cursor, anchor) =>
        chain([anchor, ...cursor.chain(depth, GREEDY).tokens]),
      );
      expect(ours.tokens).toEqual(tokens);
      expect(ours.lengths).toEqual(acceptance_lengths);
      expect(ours.drafts).toEqual(drafts);
      const trees = await run(target, drafter, golden.prefix, tokens.length, (cursor, anchor) =>
        cursor.tree(anchor, { depth: 6, width: 5, nodes: 30 }),
      );
      expect(trees.tokens).toEqual(tokens);
      expect(trees.lengths.length).toBeLessThanOrEqual(ours.lengths.length);
    }
  });

  test('sampled: trees commit what plain decoding draws; chains have laws over the whole vocabulary', async () => {
    const gpu = await testGpu(features);
    const { prefix } = readCase('eagle3-tiny-good');
    using target = await loadShared(gpu, TARGET);
    using drafter = await loadEagle3(gpu, 'eagle3-tiny-good', target);
    const sampling: Sampling = { temperature: 0.8, topK: 0, topP: 0.95, minP: 0, seed: 3 };
    using plain = await target.open({ capacity: 128 });
    const tokens: number[] = [];
    for (let pass = await plain.extend(prefix); tokens.length < 24; ) {
      tokens.push(((await pass.draw(0, sampling).read())[0] as Choice).token);
      pass = plain.forward(chain(tokens.slice(-1)));
      pass.accept([0]);
    }
    for (const nodes of [8, 20]) {
      const grow: Propose = (cursor, anchor) => cursor.tree(anchor, { depth: 4, width: 3, nodes });
      expect((await run(target, drafter, prefix, 24, grow, sampling)).tokens).toEqual(tokens);
    }
    const drawn: Propose = (cursor, anchor) => {
      const { tokens, laws } = cursor.chain(4, { ...sampling, seed: sampling.seed ^ 0x9e3779b9 });
      return { tree: chain([anchor, ...tokens]), laws };
    };
    const sampled = await run(target, drafter, prefix, 24, drawn, sampling);
    expect(sampled.drafts.flat().every((token) => drafter.ids.includes(token))).toBe(true);
    expect(sampled.lengths.some((length) => length > 1)).toBe(true);
  });

  test('the output of the layer over the prompt', async () => {
    const gpu = await testGpu(features);
    const { prefix, prefill_tokens: tokens } = readCase('eagle3-tiny');
    using target = await loadShared(gpu, TARGET);
    using drafter = await loadEagle3(gpu, 'eagle3-tiny', target);
    const expected = goldenTensor('eagle3-tiny', 'prefill_out.f32');
    const { scratch, architecture } = drafter.network;
    const { hidden } = architecture.sizes;
    // Sixteen rows are appended as soon as they are there, what is left when a draft needs it.
    for (const count of [16, 17]) {
      using cursor = await target.open({ capacity: 32, tapLayers: drafter.tapLayers });
      using context = await drafter.open({ capacity: 32 });
      await prefill(cursor, context, prefix.slice(0, count));
      expect(prefix.concat(tokens.slice(-1))).toEqual(tokens);
      if (count > 16) context.chain(1, GREEDY);
      const rows = count > 16 ? 1 : 15;
      const data = gpu.turn.read(rowsOf(scratch.stream, rows));
      gpu.flush();
      const last = expected.slice((count > 16 ? 16 : 0) * hidden, (count > 16 ? 17 : 15) * hidden);
      expect(relativeError(unpad(await data, rows, hidden), last)).toBeLessThan(TOLERANCE);
    }
  });
});
