// The widget's conversation, over an engine whose context is 128 tokens.
import { expect, it } from 'vitest';
import { toyTextEngine } from '../testing/toys/text-engine.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import { Conversation } from './conversation.ts';

it('exchanges that were left out for a run that a reset ended count for the new conversation no longer', async () => {
  const engine = await toyTextEngine(128);
  const conversation = new Conversation();
  const add = (n: number) => conversation.add(`How many cups does Eva have, if she has ${n}?`, `Eva has ${n} cups.`);
  const asked: (readonly ChatMessage[])[] = [];
  const forgotten: number[] = [];
  const ask = () =>
    conversation.ask('And now?', {
      system: null,
      history: Number.POSITIVE_INFINITY,
      maxTokens: 8,
      run: (request) => {
        asked.push((request.prompt as { messages: readonly ChatMessage[] }).messages);
        return engine.run({ ...request, temperature: 1, seed: 1 });
      },
      forget: (before) => forgotten.push(before),
    });
  for (let n = 0; n < 12; n++) add(n);
  const late = ask()[Symbol.asyncIterator]();
  const begun = late.next();
  conversation.clear(); // while the run begins
  expect((await begun).value.type).toBe('run');
  await late.return?.();
  expect(asked.length).toBeGreaterThan(1); // not all of them fitted
  expect(forgotten).toEqual([]);

  add(9);
  for await (const _ of ask());
  expect(asked.at(-1)).toHaveLength(3);
});
