import { expect, it } from 'vitest';
import { createEngine } from '../../engine/engine.ts';
import dflash from '../../systems/dflash.ts';
import eagle3 from '../../systems/eagle3.ts';
import { toyLoaded } from '../../testing/contract/system-contract.ts';
import { toyBlockDrafter, toyFeatureDrafter } from '../../testing/toys/toy-drafters.ts';
import { toyModel } from '../../testing/toys/toy-model.ts';
import { ToyTokenRing } from '../../testing/toys/toy-token-ring.ts';
import { committedTokens, type TraceEvent } from '../../trace/index.ts';

it.each([dflash, eagle3])('$id: a conversation longer than the drafter’s context is not read again', async (system) => {
  const tokenRing = new ToyTokenRing();
  const toy = { vocabulary: 12, sharpness: 6, tokenRing };
  const engine = createEngine({ systems: [system] });
  await engine.load({
    target: toyLoaded(toyModel({ ...toy, context: 400 })),
    dflash: { name: 'toy block', model: toyBlockDrafter({ ...toy, seed: 2, context: 32 }) },
    eagle3: { name: 'toy features', model: toyFeatureDrafter({ ...toy, seed: 3, context: 32 }) },
  });
  const ask = async (tokens: readonly number[]): Promise<readonly TraceEvent[]> => {
    const events: TraceEvent[] = [];
    for await (const event of engine.run({ prompt: { tokens: [...tokens] }, system: system.id, maxTokens: 20 }))
      events.push(event);
    return events;
  };
  const prompt = Array.from({ length: 60 }, (_, i) => (7 * i) % 12);
  const answer = committedTokens(await ask(prompt));
  const next = [...prompt, ...answer, 1, 2, 3];
  const [prefill] = (await ask(next)).filter((event) => event.type === 'prefill');
  expect(prefill).toMatchObject({ by: 'target', reused: prompt.length + answer.length - 1, rows: 4 });
});
