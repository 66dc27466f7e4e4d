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

const isMessage = (value: unknown, i: number): value is Message => {
  if (!isObject(value)) return false;
  const { role, content } = value;
  return role === (i % 2 === 0 ? 'user' : 'assistant') && typeof content === 'string' && content !== '';
};

/** Null for anything that this page did not write. Questions and answers take turns. */
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

/** Questions whose answer was stopped or failed are not kept, so that question and answer take turns. */
const wholeOf = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(({ role }, i) =>
    role === 'assistant' ? messages[i - 1]?.role === 'user' : messages[i + 1]?.role === 'assistant',
  );

/** Of messages that take turns. */
const exchangesOf = (messages: readonly Message[]): readonly (readonly Message[])[] =>
  messages.flatMap((message, i) => (message.role === 'user' ? [messages.slice(i, i + 2)] : []));

/**
 * Two tabs have gone on from `before`: what another one has stored, and the exchanges of this one that are in neither.
 * So what was deleted there stays deleted.
 */
export const mergedChat = (theirs: StoredChat | null, mine: StoredChat, before: StoredChat | null): StoredChat => {
  const messages = theirs?.messages ?? [];
  const known = new Set(exchangesOf([...messages, ...(before?.messages ?? [])]).map((each) => JSON.stringify(each)));
  const own = exchangesOf(wholeOf(mine.messages)).filter((each) => !known.has(JSON.stringify(each)));
  const system = mine.system === (before?.system ?? '') ? (theirs?.system ?? '') : mine.system;
  return { system, messages: [...messages, ...own.flat()] };
};

export const storeChat = ({ system, messages }: StoredChat): void => {
  const whole = wholeOf(messages);
  const without = (oldest: number): string => JSON.stringify({ system, messages: whole.slice(oldest) });
  let dropped = 0;
  while (dropped < whole.length && without(dropped).length > LONGEST) dropped += 2;
  const text = without(dropped);
  store(KEY, (whole.length === 0 && system === '') || text.length > LONGEST ? null : text);
};
