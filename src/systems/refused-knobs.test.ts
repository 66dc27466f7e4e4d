// Settings that the loaded models rule out are refused before anything is written, and those that are chosen while the
// run goes on stay within them.
import { expect, it } from 'vitest';
import type { KnobValue } from '../decode/core/knobs.ts';
import { createEngine } from '../engine/engine.ts';
import { greedyFailures, toyEngine, toyLoaded } from '../testing/contract/system-contract.ts';
import { routeEngine } from '../testing/toys/route-engine.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import combined from './combined.ts';
import draftOnly from './draft-only.ts';
import eagle3 from './eagle3.ts';
import majority from './majority.ts';

const UNSEEN = 'these models have no tokenizer, so a blank line cannot be seen';
const TOY = { vocabulary: 12, sharpness: 6 };

it('EAGLE-3: a tree deeper than its width allows', async () => {
  const { run } = await toyEngine(eagle3, TOY);
  const asked = run({ prompt: { tokens: [1] }, maxTokens: 20, knobs: { depth: 9, width: 3 } });
  await expect(asked).rejects.toThrow('eagle3.depth is 9; a tree of width 3 has at most 8 levels');
  // The toy's trees of width 8 have 3 levels, where drafts would otherwise be as deep as eight.
  expect(await greedyFailures(eagle3, 6, 40, { knobs: { depth: 0, width: 8 } })).toBe(0);
});

it.each<[string, Readonly<Record<string, KnobValue>>, string]>([
  ['ensemble', { lambda: [0.3, 0.3, 0.4] }, 'lambda takes one number, or one for each of the 2 models, not 3'],
  ['ensemble', { lambda: [0, 0] }, 'lambda: all weights are 0'],
  ['cos', { gamma: [1, 2, 3] }, 'gamma takes one number, or one for each of the 2 models, not 3'],
  ['eagle3', { depth: 9, width: 3 }, 'eagle3.depth is 9; a tree of width 3 has at most 8 levels'],
  ['blockpilot', { candidates: [1, 32] }, 'blockpilot: a block of 32; the dflash drafter was trained for 6'],
  ['blockpilot', { candidates: [3, 4] }, 'blockpilot: the policy knows no block size 3'],
  ['rsd', { delimiter: -1 }, UNSEEN],
  ['target-only', { delimiter: -1 }, UNSEEN],
  ['draft-only', { delimiter: -1 }, UNSEEN],
  ['best-of-n', { delimiter: -1 }, UNSEEN],
])('%s: %j before the run begins', async (system, knobs, message) => {
  const { engine } = await routeEngine();
  const events = engine.run({ prompt: { tokens: [1] }, system, knobs })[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ code: 'bad-request', message });
});

it('combined: only a drafter, where none is loaded', async () => {
  const engine = createEngine({ systems: [combined] });
  await engine.load({ target: toyLoaded(toyModel(TOY)) });
  const run = async (sources: string) => {
    for await (const _ of engine.run({
      prompt: { tokens: [1] },
      system: 'combined',
      knobs: { sources },
      maxTokens: 4,
    }));
  };
  await run('suffix+drafter');
  await expect(run('drafter')).rejects.toMatchObject({
    message: 'combined: sources must be one of suffix+drafter, suffix, not "drafter"',
    hint: 'Load a drafter under that role.',
  });
});

it('a system that would write the target’s steps, where its models are not loaded', async () => {
  const engine = createEngine();
  await engine.load({ target: toyLoaded(toyModel(TOY)) });
  const knobs = { inner: 'eagle3', delimiter: 1 };
  const events = engine.run({ prompt: { tokens: [1] }, system: 'target-only', knobs })[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({
    message: expect.stringContaining('target-only: inner must be one of autoregressive, '),
    hint: expect.stringMatching(/^With the models that they need loaded, also: .*eagle3/),
  });
});

it.each([majority, draftOnly])(
  '$id: a prompt and an answer that the draft, which writes it, has no room for',
  async (system) => {
    const { run } = await routeEngine({ draftContext: 32 });
    const tokens = Array(30).fill(1);
    await expect(run(system, { prompt: { tokens }, maxTokens: 12 })).rejects.toThrow(
      "the prompt's 30 tokens and 12 new ones exceed the context of 32, which is that of the draft",
    );
  },
);

it('majority: the target’s answers need the target’s context only', async () => {
  const { run } = await routeEngine({ draftContext: 32 });
  const events = await run(majority, {
    prompt: { tokens: Array(30).fill(1) },
    maxTokens: 12,
    knobs: { by: 'target', n: 2 },
  });
  expect(events.at(-1)?.type).toBe('done');
});
