// What a draft model's passes are told to be: those that it made.
import { expect, it } from 'vitest';
import { createEngine } from '../../engine/engine.ts';
import { toyLoaded } from '../../testing/contract/system-contract.ts';
import { toyModel } from '../../testing/toys/toy-model.ts';
import { ToyTokenRing } from '../../testing/toys/toy-token-ring.ts';
import { measure, type TraceEvent } from '../../trace/index.ts';

it.each(['off', 'on'])('counts the passes in which it reads what it missed; fall-back %s', async (fallBack) => {
  const toy = { vocabulary: 16, sharpness: 6, tokenRing: new ToyTokenRing() };
  const draft = toyModel({ ...toy, noise: 12, seed: 1 });
  const engine = createEngine();
  await engine.load({ target: toyLoaded(toyModel(toy)), draft: toyLoaded(draft) });
  const knobs = { gamma: 4, 'fall-back': fallBack };
  const request = { prompt: { tokens: [1, 2, 3, 4] }, maxTokens: 800, temperature: 1, seed: 1 };
  const events: TraceEvent[] = [];
  for await (const event of engine.run({ ...request, system: 'draft-model', knobs })) events.push(event);
  await engine.close();
  const reading = events.flatMap((event) => (event.type === 'prefill' && event.by === 'draft' ? [event.passes] : []));
  const resumed = events.filter((event) => event.type === 'fall-back' && event.to === 'speculation').length;
  expect(resumed > 1).toBe(fallBack === 'on');
  expect(measure(events).draft_passes + (reading[0] ?? 0)).toBe(draft.passes);
});
