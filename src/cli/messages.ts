// A conversation from a file: a JSON array of {role, content}, or an object with such an array under `messages`.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { ChatMessage } from '../text/chat-template.ts';
import { text, UsageError } from './arguments.ts';

export const messagesOption = text('F.json', 'a conversation: [{"role": "user", "content": "…"}, …]');

/** Also one that gzip has packed. */
export const readTextFile = async (path: string): Promise<string> => {
  try {
    const bytes = await readFile(path);
    // Not toString: some editors begin a file with a byte-order mark, which a TextDecoder leaves out.
    return new TextDecoder().decode(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${(cause as Error).message}`);
  }
};

const isMessage = (value: unknown): value is ChatMessage => {
  const { role, content } = (value ?? {}) as Partial<ChatMessage>;
  return typeof role === 'string' && typeof content === 'string';
};

export const readMessages = async (path: string): Promise<readonly ChatMessage[]> => {
  let read: unknown;
  try {
    read = JSON.parse(await readTextFile(path));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${path}: not JSON: ${(cause as Error).message}`);
  }
  const messages = Array.isArray(read) ? read : (read as { messages?: unknown } | null)?.messages;
  if (!Array.isArray(messages) || messages.length === 0)
    throw new UsageError(`${path}: not a list of messages`, 'Expected [{"role": "user", "content": "…"}, …].');
  const odd = messages.findIndex((message) => !isMessage(message));
  if (odd >= 0) throw new UsageError(`${path}: message ${odd} has no text in "role" and "content"`);
  return messages as ChatMessage[];
};
