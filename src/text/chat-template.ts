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
