import { expect, test } from 'vitest';
import { readStoredChat } from './stored-chat.ts';

test('a conversation is read again, and anything else is nothing', () => {
  const messages = [
    { role: 'user', content: 'How many?' },
    { role: 'assistant', content: 'Two.' },
  ];
  expect(readStoredChat(JSON.stringify({ system: 'Be brief.', messages }))).toEqual({ system: 'Be brief.', messages });
  for (const other of [
    null,
    '',
    '{',
    'null',
    '[]',
    '{"system":"","messages":[]}',
    '{"messages":[]}',
    '{"system":7,"messages":[]}',
    JSON.stringify({ system: '', messages: messages.toReversed() }),
    JSON.stringify({ system: '', messages: [{ role: 'user', content: '' }] }),
    JSON.stringify({ system: '', messages: [{ role: 'system', content: 'x' }] }),
    JSON.stringify({ system: '', messages: [7] }),
  ])
    expect(readStoredChat(other), `${other}`).toBeNull();
});
