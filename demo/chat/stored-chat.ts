// The conversation, kept in this browser so that it survives a reload. Clearing the chat deletes it.
import type { Message } from './conversation.ts';

export interface StoredChat {
  readonly system: string;
  readonly messages: readonly Message[];
}

const KEY = 'outrider-chat';
/** Longer conversations are not kept: browsers give a page some 5 MB. */
const LONGEST = 1_000_000;

const isMessage = (value: unknown, i: number): value is Message => {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as Record<string, unknown>;
  return role === (i % 2 === 0 ? 'user' : 'assistant') && typeof content === 'string' && content !== '';
};

/** Null for anything that this page did not write. Questions and answers take turns. */
export const readStoredChat = (text: string | null): StoredChat | null => {
  let value: unknown;
  try {
    value = JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { system, messages } = value as Record<string, unknown>;
  if (typeof system !== 'string' || !Array.isArray(messages) || !messages.every(isMessage)) return null;
  return messages.length === 0 && system === '' ? null : { system, messages };
};

export const storedChat = (): StoredChat | null => {
  try {
    return readStoredChat(localStorage.getItem(KEY));
  } catch {
    return null; // storage is switched off
  }
};

/** A question without its answer is not kept. */
export const storeChat = ({ system, messages }: StoredChat): void => {
  const whole = messages.slice(0, messages.length - (messages.length % 2));
  const text = JSON.stringify({ system, messages: whole });
  try {
    if ((whole.length === 0 && system === '') || text.length > LONGEST) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, text);
  } catch {
    // Storage is full or switched off: the chat lasts as long as the page.
  }
};
