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
export const storeChat = ({ system, messages }: StoredChat): void => {
  const whole = messages.filter(({ role }, i) =>
    role === 'assistant' ? messages[i - 1]?.role === 'user' : messages[i + 1]?.role === 'assistant',
  );
  const without = (oldest: number): string => JSON.stringify({ system, messages: whole.slice(oldest) });
  let dropped = 0;
  while (dropped < whole.length && without(dropped).length > LONGEST) dropped += 2;
  const text = without(dropped);
  store(KEY, (whole.length === 0 && system === '') || text.length > LONGEST ? null : text);
};
