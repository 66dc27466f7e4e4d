// A conversation as most chat templates want it: the roles in turn. Some refuse any other, as those of Gemma and Mistral.
import type { ChatMessage } from '../text/chat-template.ts';

/** What one role says twice is one message. */
export const inTurn = (messages: readonly ChatMessage[]): readonly ChatMessage[] => {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const { role, content } = message;
    const isPlain = role !== 'tool' && !message.tool_calls && !last?.tool_calls;
    if (isPlain && last?.role === role) turns.splice(-1, 1, { role, content: `${last.content}\n\n${content}` });
    else turns.push(message);
  }
  return turns;
};
