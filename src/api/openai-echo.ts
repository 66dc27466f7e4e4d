// `echo` of text completions: every answer begins with the prompt, and with the scores of its tokens where scores are
// asked for.
import type { EventOf, TraceEvent } from '../trace/index.ts';
import type { AnswerEvent } from './completion.ts';
import type { Step } from './openai-shapes.ts';
import type { ChatCompletionParams, CompletionParams, OpenAIExtras } from './openai-types.ts';

type Part = AnswerEvent | { readonly type: 'piece'; readonly text: string; readonly logprobs: PieceScores };
type PieceScores = Extract<Step, { readonly type: 'piece' }>['logprobs'];

export class Echo {
  /** Sees every event of a run, and hands it on. */
  readonly onEvent: (event: TraceEvent) => void;
  readonly #params: ChatCompletionParams | CompletionParams;
  #prompt: EventOf<'prompt'> | null = null;

  constructor(params: ChatCompletionParams | CompletionParams, onEvent: OpenAIExtras['onEvent']) {
    this.#params = params;
    this.onEvent = (event) => {
      if (event.type === 'prompt') this.#prompt = event;
      onEvent?.(event);
    };
  }

  /** The answer, with the prompt before its first piece. */
  async *before(answer: AsyncIterable<AnswerEvent>): AsyncGenerator<Part, void, undefined> {
    let due = !('messages' in this.#params) && this.#params.echo === true;
    for await (const event of answer) {
      if (due && event.type !== 'begun') yield this.#piece(this.#params as CompletionParams);
      due &&= event.type === 'begun';
      yield event;
    }
  }

  #piece({ prompt, logprobs }: CompletionParams): Part {
    const text = typeof prompt === 'string' ? prompt : (this.#prompt?.text ?? '');
    return { type: 'piece', text, logprobs: logprobs == null ? null : (this.#prompt?.tokens ?? []) };
  }
}
