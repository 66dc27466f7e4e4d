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
    JSON.stringify({ system: '', messages: [...messages, messages[1]] }),
    JSON.stringify({ system: '', messages: [{ role: 'user', content: '' }] }),
    JSON.stringify({ system: '', messages: [{ role: 'system', content: 'x' }] }),
    JSON.stringify({ system: '', messages: [7] }),
  ])
    expect(readStoredChat(other), `${other}`).toBeNull();
});

test('questions without an answer are kept, and read again', () => {
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
  for (const messages of [[stopped], [asked, answer, stopped], [asked, answer, stopped, again, last]]) {
    storeChat({ system: '', messages });
    expect(storedChat()?.messages).toEqual(messages);
  }
  storeChat({ system: '', messages: [] });
  expect(storedChat()).toBeNull();
  // Of a conversation that is too long the newest exchanges are kept.
  const long = { role: 'assistant', content: 'x'.repeat(400_000) } as const;
  storeChat({ system: 'Be brief.', messages: [asked, long, stopped, again, long, asked, long] });
  expect(storedChat()).toEqual({ system: 'Be brief.', messages: [stopped, again, long, asked, long] });
  expect(storeChat({ system: '', messages: [asked, { ...long, content: 'x'.repeat(1_000_000) }] })).toBe(false);
  expect(storedChat()).toBeNull();
  expect(storeChat({ system: '', messages: [asked, answer] })).toBe(true);
  vi.stubGlobal('localStorage', undefined); // a private window
  expect(storeChat({ system: '', messages: [asked, answer] })).toBe(false);
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
  const asked = unanswered.messages.slice(-1);
  expect(mergedChat(chat('theirs'), unanswered, before).messages).toEqual([...chat('theirs').messages, ...asked]);
  // Another tab has gone on after a question that was still being answered here.
  const theirs = { system: '', messages: [...unanswered.messages, ...said('theirs')] };
  expect(mergedChat(theirs, chat('a', 'b', 'c'), unanswered)).toEqual(chat('a', 'b', 'theirs', 'c'));
  expect(mergedChat({ ...before, system: 'theirs' }, before, before).system).toBe('theirs');
  expect(mergedChat({ ...before, system: 'theirs' }, { ...before, system: 'mine' }, before).system).toBe('mine');
});
