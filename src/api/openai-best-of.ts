// `n` and `best_of`: how many answers are written, and how many of them stay.
import type { RunRequest } from '../engine/request.ts';
import type { AnswerEvent } from './completion.ts';
import { checkParam, invalid } from './openai-error.ts';
import type { ChatCompletionParams, CompletionParams } from './openai-types.ts';

type Run = (index: number, asked: Pick<RunRequest, 'logprobs'>) => AsyncIterable<AnswerEvent>;

export const countOf = (name: string, count: number | null | undefined): number => {
  const value = count ?? 1;
  const fits = Number.isInteger(value) && value >= 1 && value <= 128;
  checkParam(name, value, fits, 'a whole number from 1 to 128');
  return value;
};

/** Mean log-probability of an answer's tokens; an answer without a token is the worst. */
const scoreOf = (events: readonly AnswerEvent[]): number => {
  const scores = events.flatMap((event) => (event.type === 'piece' ? (event.logprobs ?? []) : []));
  const sum = scores.reduce((total, { logprob }) => total + logprob, 0);
  return scores.length > 0 ? sum / scores.length : Number.NEGATIVE_INFINITY;
};

/** The answers to be given: of `best_of` that are written, the n with the highest score, the best one first. */
export const bestOf = (
  params: ChatCompletionParams | CompletionParams,
  n: number,
  run: Run,
): ((index: number) => AsyncIterable<AnswerEvent>) => {
  const written = 'messages' in params || params.best_of == null ? n : countOf('best_of', params.best_of);
  if (written < n) invalid('best_of', `best_of must be at least n, which is ${n}, not ${written}`);
  if (written === n) return (index) => run(index, {});
  if (params.stream) invalid('best_of', 'best_of cannot be streamed: the best answer is known when all are written');
  const wanted = params.logprobs ?? null;
  const write = async (): Promise<readonly (readonly AnswerEvent[])[]> => {
    const all: AnswerEvent[][] = [];
    for (let index = 0; index < written; index++) {
      const events: AnswerEvent[] = [];
      for await (const event of run(index, wanted === null ? { logprobs: 0 } : {})) events.push(event);
      all.push(events);
      if (events.some((event) => event.type === 'end' && event.finish_reason === 'aborted')) return [events];
    }
    return all.toSorted((a, b) => scoreOf(b) - scoreOf(a));
  };
  let sorted: ReturnType<typeof write> | null = null;
  return async function* (index) {
    sorted ??= write();
    for (const event of (await sorted)[index] ?? [])
      yield event.type === 'piece' && wanted === null ? { ...event, logprobs: null } : event;
  };
};
