// Exact systems on the families' reference models, with the model itself at 4 bits as its draft: plain decoding writes
// transformers' greedy tokens, and every system those of its baseline.
import { afterAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import { committedTokens } from '../../trace/index.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { testGpu } from '../device/gpu.ts';
import { readGolden, TINY_FAMILIES } from '../goldens/golden.ts';
import { noShared, shared } from '../goldens/shared.ts';
import { collect, EXACT_VARIANTS, requestOf } from './device-contract.ts';
import { baselineOf, baselineSettings } from './exact-systems.ts';

const TOKENS = 24;

/** Systems that write token by token (the others need text), and need a target and a draft at most. */
const VARIANTS = EXACT_VARIANTS.filter(
  ({ system: { group, needs } }) =>
    ['speculative', 'ensemble'].includes(group) && needs.every((role) => ['target', 'draft'].includes(role)),
);

afterAll(async () => (await testGpu()).destroy());

describe.skipIf(noShared).each(TINY_FAMILIES)('%s', (name) => {
  let loading: Promise<Engine> | null = null;
  const load = async (): Promise<Engine> => {
    const engine = createEngine({ gpu: await testGpu() });
    const source = () => folderSource(shared('golden', name));
    const sources = { target: await source(), draft: await source() };
    await engine.load(sources, { precision: { target: 'f32', draft: 'q4' } });
    return engine;
  };
  afterAll(async () => (await loading)?.close());

  it.each(VARIANTS)('$name', async ({ system, knobs }) => {
    loading ??= load();
    const engine = await loading;
    const { prompt, greedy, crossing } = readGolden(name);
    const write = async (tokens: readonly number[], of: Pick<RunRequest, 'system' | 'knobs'>) =>
      committedTokens(await collect(engine, { ...of, prompt: { tokens }, maxTokens: TOKENS, ignoreEos: true }));
    const baseline = { system: baselineOf(system).id, knobs: baselineSettings(system, knobs) };
    // The second prompt begins with the first one: the prefix cache has to forget all rows after that.
    // longrope: an answer that crosses the original length.
    const across = crossing ? [crossing.prompt] : [];
    for (const tokens of [prompt, [...prompt, ...greedy.slice(0, 2), 5, 6, 7], ...across]) {
      const expected = await write(tokens, baseline);
      if (tokens === prompt && baseline.system === 'autoregressive') expect(expected).toEqual(greedy.slice(0, TOKENS));
      expect(await write(tokens, requestOf({ system, knobs }))).toEqual(expected);
    }
  });
});
