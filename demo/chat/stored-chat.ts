// The conversation, kept in this browser so that it survives a reload. Clearing the chat deletes it.
import { isObject } from '../../src/base/is-object.ts';
import { asObject, store, stored } from '../shared/stored.ts';
import type { Message } from './conversation.ts';

export interface StoredChat {
  readonly system: string;
  readonly messages: readonly Message[];
}

const KEY = 'outrider-chat';
/** Of longer conversations the newest exchanges are kept: browsers give a page some 5 MB. */
const LONGEST = 1_000_000;

/** A question, or the answer to the question before it: one that was stopped or failed early has none. */
const isMessage = (value: unknown, i: number, all: readonly unknown[]): value is Message => {
  if (!isObject(value)) return false;
  const { role, content } = value;
  const before = all[i - 1];
  const expected = role === 'user' || (role === 'assistant' && isObject(before) && before.role === 'user');
  return expected && typeof content === 'string' && content !== '';
};

/** Null for anything that this page did not write. */
export const readStoredChat = (text: string | null): StoredChat | null => {
  const { system, messages } = asObject(text) ?? {};
  if (typeof system !== 'string' || !Array.isArray(messages) || !messages.every(isMessage)) return null;
  return messages.length === 0 && system === '' ? null : { system, messages };
};

export const storedChat = (): StoredChat | null => readStoredChat(stored(KEY));

/** Calls `changed` when another tab has stored a conversation, or deleted it. */
export const onStoredChat = (changed: () => void): void =>
  window.addEventListener('storage', ({ key }) => {
    if (key === KEY) changed();
  });

/** Each question with its answer, if it has one. */
const exchangesOf = (messages: readonly Message[]): readonly (readonly Message[])[] =>
  messages.flatMap(({ role }, i) =>
    role === 'user' ? [messages.slice(i, messages[i + 1]?.role === 'assistant' ? i + 2 : i + 1)] : [],
  );

/**
 * Two tabs have gone on from `before`: what another one has stored, and the exchanges of this one that are in neither.
 * So what was deleted there stays deleted. A question that both have is there once if this tab has its answer.
 */
export const mergedChat = (theirs: StoredChat | null, mine: StoredChat, before: StoredChat | null): StoredChat => {
  const there = exchangesOf(theirs?.messages ?? []);
  const known = new Set([...there, ...exchangesOf(before?.messages ?? [])].map((each) => JSON.stringify(each)));
  const own = exchangesOf(mine.messages).filter((each) => !known.has(JSON.stringify(each)));
  const answered = new Set(own.flatMap(([question, answer]) => (answer ? [question?.content] : [])));
  const kept = there.filter(([question, answer]) => answer || !answered.has(question?.content));
  const system = mine.system === (before?.system ?? '') ? (theirs?.system ?? '') : mine.system;
  return { system, messages: [...kept, ...own].flat() };
};

/** False: nothing of it is kept, because the newest exchange is too long or the browser refuses. */
export const storeChat = ({ system, messages }: StoredChat): boolean => {
  const exchanges = exchangesOf(messages);
  const without = (oldest: number): string => JSON.stringify({ system, messages: exchanges.slice(oldest).flat() });
  let dropped = 0;
  while (dropped < exchanges.length && without(dropped).length > LONGEST) dropped++;
  const text = without(dropped);
  const fits = text.length <= LONGEST;
  const isStored = store(KEY, (exchanges.length === 0 && system === '') || !fits ? null : text);
  return isStored && fits && (dropped < exchanges.length || exchanges.length === 0);
};
