// Turns a conversation into the string that the model was trained on, by the checkpoint's own Jinja template.
import type { PreTrainedTokenizer } from '@huggingface/transformers';
import { refuse } from '../base/refuse.ts';

/** A message of a conversation: who said what. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

export interface ChatOptions {
  /** End with the opening of the assistant's message. Default true. */
  readonly generationPrompt?: boolean;
}

/** Characters for private use. One that no message holds marks the places where a special token must not be read. */
const MARKS = ['\uE000', '\uE001', '\uE002', '\uF8FF'] as const;

/**
 * The messages with a mark inside every special token that stands in their text, and the mark. The rendered conversation is
 * split there before it is encoded: so what somebody writes stays text, and only the template's own special tokens are any.
 * Null: there is nothing to mark.
 */
export const markSpecials = (
  messages: readonly ChatMessage[],
  specials: readonly string[],
): { readonly messages: readonly ChatMessage[]; readonly mark: string } | null => {
  const texts = messages.flatMap(({ role, content }) => [role, content]);
  const found = specials.filter((special) => special.length > 1 && texts.some((text) => text.includes(special)));
  if (found.length === 0) return null;
  const mark = MARKS.find((each) => texts.every((text) => !text.includes(each)));
  if (!mark) throw refuse('the messages hold special tokens, and every character that could mark them', 'Remove one.');
  const marked = (text: string): string =>
    found.reduce((all, special) => all.replaceAll(special, special[0] + mark + special.slice(1)), text);
  return { messages: messages.map(({ role, content }) => ({ role: marked(role), content: marked(content) })), mark };
};

export const applyChatTemplate = (
  tokenizer: PreTrainedTokenizer,
  messages: readonly ChatMessage[],
  { generationPrompt = true }: ChatOptions = {},
): string => {
  if (!tokenizer.chat_template)
    throw refuse(
      'this model has no chat template',
      'Give the prompt raw: exactly the text that the model is to continue.',
    );
  try {
    return tokenizer.apply_chat_template(
      messages.map(({ role, content }) => ({ role, content })),
      { tokenize: false, add_generation_prompt: generationPrompt },
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refuse(
      `the chat template does not take these messages: ${reason}`,
      'Most templates want roles system, user and assistant, the last two in turn.',
      { cause },
    );
  }
};
