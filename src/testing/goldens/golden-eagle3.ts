// Golden EAGLE-3 cases (golden/README.md) compared with an adapter's results: chain logits, whole runs with the same
// drafts and acceptance lengths, and the tree that is grown on the device.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { Eagle3Drafter } from '../../model/drafters/eagle3-drafter.ts';
import type { Choice, Cursor, DeviceTree, Draft, FeatureCursor, LanguageModel, Tree } from '../../model/interface.ts';
import { loadDrafter } from '../../model/load/load-drafter.ts';
import { chain, GREEDY, goldenTensor, loadShared, openGolden, relativeError } from './golden.ts';
import { shared } from './shared.ts';

const TOLERANCE = 1e-3;
export const EAGLE3_TARGET = 'golden/qwen3-tiny-deep';

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

export const readEagle3 = (name: string): Eagle3Case =>
  JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8'));

export const loadEagle3 = async (
  gpu: Gpu,
  name: string,
  target: LanguageModel,
  source: string | Uint8Array = 'config.json',
): Promise<Eagle3Drafter> => {
  const gguf = typeof source === 'string' ? undefined : source;
  using checkpoint = await openGolden(name, gguf);
  const config = gguf ? checkpoint.config : JSON.parse(readFileSync(shared('golden', name, source as string), 'utf8'));
  const drafter = await loadDrafter(gpu, { ...checkpoint, config }, target);
  if (!(drafter instanceof Eagle3Drafter)) throw new Error(`${name} is ${drafter.kind}`);
  return drafter;
};

/** The prompt into both cursors; its last row waits for the token that is drawn after it. Returns that token. */
export const prefillEagle3 = async (
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

export type Propose = (features: FeatureCursor, anchor: number) => Tree | DeviceTree | Draft;

/** Speculation to `count` tokens, with what was drafted and committed in each round. */
export const runEagle3 = async (
  target: LanguageModel,
  drafter: Eagle3Drafter,
  prompt: readonly number[],
  count: number,
  propose: Propose,
  sampling = GREEDY,
) => {
  using cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers, nodes: 64 });
  using features = await drafter.open({ capacity: 128 });
  if (sampling.temperature > 0) await Promise.all([target, drafter].map((model) => model.keepDistributions?.()));
  const tokens = [await prefillEagle3(cursor, features, prompt, sampling)];
  const lengths: number[] = [];
  const drafts: number[][] = [];
  while (tokens.length < count) {
    const proposed = propose(features, tokens.at(-1) as number);
    const { tree, distributions } = 'tree' in proposed ? proposed : { tree: proposed, distributions: null };
    const pass = cursor.forward(tree);
    const verdict = await pass.verify(distributions, sampling);
    const choices = verdict.choices.map(({ token }) => token);
    features.append(pass, verdict.path, choices);
    const committed = choices.slice(0, count - tokens.length);
    tokens.push(...committed);
    lengths.push(committed.length);
    drafts.push(verdict.tokens.slice(1));
  }
  return { tokens, lengths, drafts };
};

/** The two most probable tokens of each place, against the chain's logits; and it ends where it is told to. */
const checkChainWhile = async (
  { ids }: Eagle3Drafter,
  context: FeatureCursor,
  { chain: { drafts } }: Eagle3Case,
): Promise<void> => {
  const places = await context.chainWhile(drafts.length, 2, () => true);
  expect(places.map(([best]) => best?.token)).toEqual(drafts);
  for (const [i, best] of places.entries()) {
    const logits = await context.chain(i + 1, GREEDY).logits.read();
    const sum = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const expected = [...logits.keys()].sort((a, b) => (logits[b] as number) - (logits[a] as number)).slice(0, 2);
    expect(best.map(({ token }) => token)).toEqual(expected.map((entry) => ids[entry]));
    for (const [place, { logprob }] of best.entries())
      expect(Math.exp(logprob)).toBeCloseTo(Math.exp(logits[expected[place] as number] as number) / sum, 4);
  }
  const told: (readonly Choice[])[] = [];
  const ended = await context.chainWhile(4, 1, (best) => told.push(best) < 2);
  expect(ended).toEqual(places.slice(0, 2).map(([best]) => [best]));
  expect(told).toEqual(ended);
};

/** `source`: the name of a config, or the same drafter as GGUF. */
export const checkEagle3 = async (gpu: Gpu, name: string, source?: string | Uint8Array): Promise<void> => {
  const golden = readEagle3(name);
  using target = await loadShared(gpu, EAGLE3_TARGET);
  using drafter = await loadEagle3(gpu, name, target, source);
  expect(drafter.tapLayers).toEqual([1, 3, 4]);
  using cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers });
  using context = await drafter.open({ capacity: 128 });
  const anchor = await prefillEagle3(cursor, context, golden.prefix);
  expect([...golden.prefix, anchor]).toEqual(golden.prefill_tokens);
  expect(context.length).toBe(golden.prefix.length);

  const logits: number[] = [];
  for (const depth of [1, 2, 3, 4]) logits.push(...(await context.chain(depth, GREEDY).logits.read()));
  expect(relativeError(logits, goldenTensor(name, 'chain_logits.f32'))).toBeLessThan(TOLERANCE);

  await checkChainWhile(drafter, context, golden);

  const { tree_draft: tree, runs } = golden;
  const grown = context.tree(anchor, { depth: tree.levels, width: tree.width, nodes: tree.tokens.length - 1 });
  const verdict = await cursor.forward(grown).verify(null, GREEDY);
  expect(verdict.tokens).toEqual(tree.tokens);
  expect(verdict.parents).toEqual(tree.parents);

  for (const { draft_depth: depth, tokens, acceptance_lengths, drafts } of runs) {
    const ours = await runEagle3(target, drafter, golden.prefix, tokens.length, (cursor, anchor) =>
      chain([anchor, ...cursor.chain(depth, GREEDY).tokens]),
    );
    expect(ours.tokens).toEqual(tokens);
    expect(ours.lengths).toEqual(acceptance_lengths);
    expect(ours.drafts).toEqual(drafts);
    const trees = await runEagle3(target, drafter, golden.prefix, tokens.length, (cursor, anchor) =>
      cursor.tree(anchor, { depth: 6, width: 5, nodes: 30 }),
    );
    expect(trees.tokens).toEqual(tokens);
    expect(trees.lengths.length).toBeLessThanOrEqual(ours.lengths.length);
  }
};
