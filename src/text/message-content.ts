// What a message says, as one text. Programs write it as OpenAI's interface has it: a text, a list of parts, or nothing where
// the assistant only calls tools. Chat templates are given texts alone.
import { isObject } from '../base/is-object.ts';
import { shown } from '../base/shown.ts';
import type { ChatMessage } from './chat-template.ts';

/** Text as a part of a message. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A message as programs write it. */
export interface PromptMessage extends Omit<ChatMessage, 'content'> {
  /** Parts follow one another as one text. Null or absent only where the assistant calls tools. */
  readonly content?: string | readonly TextPart[] | null;
}

/** What is wrong with the content of a message, in words; null where nothing is. `at`: how to name it. */
export const contentFault = (message: Readonly<Record<string, unknown>>, at: string): string | null => {
  const { content, role, tool_calls: calls } = message;
  if (typeof content === 'string') return null;
  if ((content ?? null) === null && role === 'assistant' && Array.isArray(calls) && calls.length > 0) return null;
  if (!Array.isArray(content))
    return `${at} must be text, or a list of parts { type: 'text', text }, not ${shown(content)}`;
  for (const [n, part] of content.entries()) {
    if (!isObject(part)) return `${at}[${n}] must be { type: 'text', text }, not ${shown(part)}`;
    if (part.type !== 'text')
      return `${at}[${n}] is of type ${shown(part.type)}, and models read text only: leave it out, or describe it in words`;
    if (typeof part.text !== 'string') return `${at}[${n}].text must be text, not ${shown(part.text)}`;
  }
  return null;
};

/** The text of a message without fault. */
export const contentText = ({ content }: Pick<PromptMessage, 'content'>): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('');

/** Messages without fault, as templates take them. */
export const asTexts = (messages: readonly PromptMessage[]): readonly ChatMessage[] =>
  messages.map((message) => ({ ...message, content: contentText(message) }));
