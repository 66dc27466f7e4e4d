import { expect, test, vi } from 'vitest';
import { mergedChat, readStoredChat, storeChat, storedChat } from './stored-chat.ts';

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

test('questions without an answer are left out, and the rest is read again', () => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
    removeItem: (key: string) => void kept.delete(key),
  });
  const [asked, answer, stopped, again, last] = [
    { role: 'user', content: 'How many?' },
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: 'Stopped' },
    { role: 'user', content: 'And now?' },
    { role: 'assistant', content: 'Three.' },
  ] as const;
  storeChat({ system: '', messages: [asked, answer, stopped] });
  expect(storedChat()?.messages).toEqual([asked, answer]);
  storeChat({ system: '', messages: [asked, answer, stopped, again] });
  expect(storedChat()?.messages).toEqual([asked, answer]);
  storeChat({ system: '', messages: [asked, answer, stopped, again, last] });
  expect(storedChat()?.messages).toEqual([asked, answer, again, last]);
  storeChat({ system: '', messages: [stopped] });
  expect(storedChat()).toBeNull();
  // Of a conversation that is too long the newest exchanges are kept.
  const long = { role: 'assistant', content: 'x'.repeat(400_000) } as const;
  storeChat({ system: 'Be brief.', messages: [asked, long, again, long, asked, long] });
  expect(storedChat()).toEqual({ system: 'Be brief.', messages: [again, long, asked, long] });
  storeChat({ system: '', messages: [asked, { ...long, content: 'x'.repeat(1_000_000) }] });
  expect(storedChat()).toBeNull();
});

test('what two tabs have added to a conversation is kept, and what one of them deleted stays deleted', () => {
  const said = (question: string) =>
    [
      { role: 'user', content: question },
      { role: 'assistant', content: `${question}!` },
    ] as const;
  const chat = (...questions: string[]) => ({ system: '', messages: questions.flatMap(said) });
  const before = chat('a', 'b');
  expect(mergedChat(chat('a', 'b', 'theirs'), chat('a', 'b', 'mine'), before)).toEqual(
    chat('a', 'b', 'theirs', 'mine'),
  );
  expect(mergedChat(null, chat('a', 'b', 'mine'), before)).toEqual(chat('mine'));
  expect(mergedChat(chat('a', 'edited'), chat('a', 'b', 'mine'), before)).toEqual(chat('a', 'edited', 'mine'));
  expect(mergedChat(chat('theirs'), chat('mine'), null)).toEqual(chat('theirs', 'mine'));
  const unanswered = { system: '', messages: [...before.messages, { role: 'user', content: 'c' }] } as const;
  expect(mergedChat(chat('theirs'), unanswered, before)).toEqual(chat('theirs'));
  expect(mergedChat({ ...before, system: 'theirs' }, before, before).system).toBe('theirs');
  expect(mergedChat({ ...before, system: 'theirs' }, { ...before, system: 'mine' }, before).system).toBe('mine');
});
