// Continues a conversation that exceeds the model's context without its oldest messages. Interfaces that promise to
// read every message (openai.ts) fail instead, with the same numbers.
import { OutriderError } from '../base/errors.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ChatMessage } from '../text/chat-template.ts';

/** Default tokens of an answer, and the part of a smaller context that it gets. */
const ROOM = 1024;
const LEAST_PART = 1 / 4;

type Turn = readonly ChatMessage[];

/**
 * Runs what `ask` makes of the turns (oldest first, the question's not among them), without the oldest where the prompt
 * and `maxTokens` of answer do not fit. `leftOut` hears of how many when a run without them has begun.
 */
export async function* withinContext<Event extends { readonly type: string }>(
  turns: readonly Turn[],
  maxTokens: number | undefined,
  ask: (seen: readonly ChatMessage[], limit: Pick<RunRequest, 'maxTokens'>) => AsyncIterable<Event>,
  leftOut: (turns: number) => void,
  hasBegun = ({ type }: Event): boolean => type === 'run',
): AsyncGenerator<Event, void, undefined> {
  let dropped = 0;
  let wanted = maxTokens ?? ROOM;
  for (;;) {
    const isAlone = dropped === turns.length;
    const limit = isAlone ? maxTokens : wanted; // alone, a question gets whatever is left
    try {
      for await (const event of ask(turns.slice(dropped).flat(), limit === undefined ? {} : { maxTokens: limit })) {
        if (dropped > 0 && hasBegun(event)) leftOut(dropped);
        yield event;
      }
      return;
    } catch (error) {
      const over = error instanceof OutriderError && error.overflow;
      if (!over || isAlone) throw error;
      const room = over.context - (over.requested - wanted);
      if (maxTokens === undefined && room >= over.context * LEAST_PART) wanted = room;
      else {
        dropped++;
        wanted = maxTokens ?? ROOM;
      }
    }
  }
}
