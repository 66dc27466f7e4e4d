// A conversation whose messages are written as OpenAI's interface has them.
import { expect, it } from 'vitest';
import { toyTextEngine } from '../testing/toys/text-engine.ts';
import type { PromptMessage } from '../text/message-content.ts';
import type { EventOf } from '../trace/index.ts';

it('reads parts as the text that they make together, and silence before a call as an empty text', async () => {
  const engine = await toyTextEngine();
  const promptOf = async (messages: readonly PromptMessage[]) => {
    for await (const event of engine.run({ prompt: { messages }, maxTokens: 1 }))
      if (event.type === 'run') return (event as EventOf<'run'>).prompt;
    return null;
  };
  const whole = await promptOf([{ role: 'user', content: 'A cup costs 6 dollars.' }]);
  const parts = ['A cup costs ', '6 dollars.'].map((text) => ({ type: 'text', text }) as const);
  expect(whole?.length).toBeGreaterThan(5);
  expect(await promptOf([{ role: 'user', content: parts }])).toEqual(whole);
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const said = await promptOf([{ role: 'assistant', content: '', tool_calls }]);
  expect(await promptOf([{ role: 'assistant', content: null, tool_calls }])).toEqual(said);
  expect(await promptOf([{ role: 'assistant', tool_calls }])).toEqual(said);
});
