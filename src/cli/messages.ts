// A conversation from a file: a JSON array of {role, content}, or an object with such an array under `messages`, which may
// also have `tools`, `documents` and `add_generation_prompt`.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { isObject } from '../base/is-object.ts';
import { shown } from '../base/shown.ts';
import type { ChatMessage, ChatOptions } from '../text/chat-template.ts';
import { contentFault, contentText, type PromptMessage } from '../text/message-content.ts';
import { parseWithFloats } from '../text/python-json.ts';
import { text, UsageError } from './arguments.ts';

export const messagesOption = text('F.json', 'a conversation: [{"role": "user", "content": "…"}, …]');

/** Also one that gzip has packed. */
export const readTextFile = async (path: string): Promise<string> => {
  try {
    const bytes = await readFile(path);
    const text = path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    // Not toString: some editors begin a file with a byte-order mark, which a TextDecoder leaves out.
    return new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new UsageError(`${path} is not UTF-8`, 'Store it as UTF-8: PowerShell and some editors write UTF-16.');
    throw new UsageError(`cannot read ${path}: ${(cause as Error).message}`);
  }
};

/** `at`: how to name the message. */
export const readMessage = (value: unknown, at: string): ChatMessage => {
  if (!isObject(value)) throw new UsageError(`${at} must be an object { "role", "content" }, not ${shown(value)}`);
  if (typeof value.role !== 'string') throw new UsageError(`${at}.role must be text, not ${shown(value.role)}`);
  const fault = contentFault(value, `${at}.content`);
  if (fault) throw new UsageError(fault);
  const message = value as unknown as PromptMessage;
  // One that only calls tools keeps its null, which templates may ask for.
  return (Array.isArray(message.content) ? { ...message, content: contentText(message) } : message) as ChatMessage;
};

export interface Conversation extends ChatOptions {
  readonly messages: readonly ChatMessage[];
}

export const readConversation = async (path: string): Promise<Conversation> => {
  let read: unknown;
  try {
    read = parseWithFloats(await readTextFile(path));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${path}: not JSON: ${(cause as Error).message}`);
  }
  const whole = (Array.isArray(read) ? { messages: read } : (read ?? {})) as Readonly<Record<string, unknown>>;
  const { messages, tools, documents, add_generation_prompt: generationPrompt = true } = whole;
  if (!Array.isArray(messages) || messages.length === 0)
    throw new UsageError(`${path}: not a list of messages`, 'Expected [{"role": "user", "content": "…"}, …].');
  if (tools !== undefined && tools !== null && !Array.isArray(tools))
    throw new UsageError(`${path}: tools is not a list`);
  if (documents !== undefined && documents !== null && !Array.isArray(documents))
    throw new UsageError(`${path}: documents is not a list`);
  if (typeof generationPrompt !== 'boolean')
    throw new UsageError(`${path}: add_generation_prompt is neither true nor false`);
  return {
    messages: messages.map((message, i) => readMessage(message, `${path}: message ${i}`)),
    tools: tools ?? undefined,
    generationPrompt,
    ...(documents && { variables: { documents } }),
  };
};

/** The messages of a conversation for a command that answers it, and gives the model neither tools nor documents. */
export const readMessages = async (path: string): Promise<readonly ChatMessage[]> => {
  const { messages, tools, variables, generationPrompt } = await readConversation(path);
  if (tools?.length || variables)
    throw new UsageError(
      `${path}: tools and documents cannot be used here`,
      'Remove them from the file. `outrider chat` shows the prompt with them.',
    );
  if (generationPrompt === false)
    throw new UsageError(
      `${path}: add_generation_prompt false cannot be used here`,
      'Remove it from the file: an answer follows the generation prompt. `outrider chat` shows the prompt without one.',
    );
  // A message that only calls tools has no content.
  return messages.map((message) => ({ ...message, content: message.content ?? '' }));
};
