// A stop string may end an answer in the middle of a step that the target is writing. That step is told, too.
import { expect, it } from 'vitest';
import { createEngine } from '../../engine/engine.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { lettersTokenizer } from '../../testing/toys/letters.ts';
import { toyBlockDrafter } from '../../testing/toys/toy-drafters.ts';
import { toyModel } from '../../testing/toys/toy-model.ts';
import { ToyTokenRing } from '../../testing/toys/toy-token-ring.ts';
import { committedTokens, type EventOf, measure, type TraceEvent } from '../../trace/index.ts';

const LETTERS = ['a', 'b', 'c', '\n', '\n\n', '.\n\n', '1', ' 2', 'ab', 'é', 'bc'];

it.each([
  ['random', { share: 1, inner: 'autoregressive' }],
  ['random', { share: 1, inner: 'dflash' }],
  ['random', { share: 0.5, inner: 'dflash' }],
  ['target-only', { inner: 'autoregressive' }],
  ['target-only', { inner: 'dflash' }],
] as const)('%s tells every step of an answer that a stop string ends: %j', async (system, knobs) => {
  const tokenizer = lettersTokenizer(LETTERS);
  const toy = { vocabulary: LETTERS.length + 1, sharpness: 5, context: 400, tokenRing: new ToyTokenRing() };
  const loaded = (model: ReturnType<typeof toyModel>) => ({ name: 'toy', model, tokenizer, stopTokens: [] });
  const engine = createEngine({ systems: SYSTEMS });
  await engine.load({
    target: loaded(toyModel(toy)),
    draft: loaded(toyModel({ ...toy, noise: 2, seed: 1 })),
    dflash: { name: 'toy block', model: toyBlockDrafter({ ...toy, noise: 1, seed: 2 }) },
  });
  let ended = 0;
  for (const stop of ['é', 'cab', '2a', '1a', 'bca', 'cc'])
    for (let seed = 0; seed < 4; seed++) {
      const asked = { prompt: { tokens: [2, 0] }, maxTokens: 200, temperature: 0.9, seed, stop: [stop] };
      const events: TraceEvent[] = [];
      for await (const event of engine.run({ ...asked, system, knobs: { ...knobs, 'step-tokens': 12 } }))
        events.push(event);
      const steps = events.filter((event): event is EventOf<'step'> => event.type === 'step');
      expect(steps.map(({ step }) => step)).toEqual(steps.map((_, i) => i + 1));
      expect(steps.flatMap(({ ids = [] }) => ids)).toEqual(committedTokens(events));
      for (const { tokens, ids, pieces } of steps) expect([ids?.length, pieces?.length]).toEqual([tokens, tokens]);
      const byTarget = steps.filter(({ by }) => by === 'target');
      const { target_tokens, escalated } = measure(events);
      expect(target_tokens).toBeGreaterThanOrEqual(byTarget.reduce((sum, { tokens }) => sum + tokens, 0));
      if (system === 'random') expect(escalated).toBe(byTarget.length);
      const last = steps.at(-1);
      if (last?.by === 'target' && last.ends === 'stop') ended++;
    }
  expect(ended).toBeGreaterThan(2);
});
