// `chat.completions.create` and `completions.create` in OpenAI's shape over any engine, so that code written for that
// client runs on the user's own GPU. Settings that OpenAI does not have are under one key, `outrider`.
import type { Engine } from '../engine/engine.ts';
import { type AnswerEvent, answer, leaveOnAbort, needEngine, stated, type ToolCall, type Usage } from './completion.ts';
import { bestOf, countOf } from './openai-best-of.ts';
import { Echo } from './openai-echo.ts';
import { APIError, aborted, checkParam, toApiError } from './openai-error.ts';
import { nthChoice, readParams, toRunRequest } from './openai-request.ts';
import { CHAT, type Choice, type Head, type Scored, type Shape, type Step, TEXT } from './openai-shapes.ts';
import type {
  ChatCompletionParams,
  ChatToolCall,
  CompletionParams,
  OpenAI,
  OpenAIExtras,
  RequestOptions,
  Stream,
} from './openai-types.ts';

export { APIError, type ErrorBody } from './openai-error.ts';
export { openaiFetch } from './openai-fetch.ts';
export type * from './openai-types.ts';

type Params = ChatCompletionParams | CompletionParams;
type Steps = AsyncGenerator<Step | { readonly type: 'usage'; readonly usage: Usage }, void, undefined>;

const sum = (all: readonly Usage[]): Usage => {
  const add = (amount: (usage: Usage) => number): number => all.reduce((total, usage) => total + amount(usage), 0);
  // The prompt is read once, however many choices are written after it.
  const [prompt, completion] = [all[0]?.prompt_tokens ?? 0, add((usage) => usage.completion_tokens)];
  const details = (name: keyof Usage['completion_tokens_details']) => add((u) => u.completion_tokens_details[name]);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: all[0]?.prompt_tokens_details.cached_tokens ?? 0 },
    completion_tokens_details: {
      accepted_prediction_tokens: details('accepted_prediction_tokens'),
      rejected_prediction_tokens: details('rejected_prediction_tokens'),
      reasoning_tokens: details('reasoning_tokens'),
    },
  };
};

/** Adds up what every answer took, also one of `best_of` that is not given. */
async function* counted(run: AsyncIterable<AnswerEvent>, usages: Usage[]): AsyncGenerator<AnswerEvent> {
  for await (const event of run) {
    if (event.type === 'end') usages.push(event.usage);
    yield event;
  }
}

/** All choices, one after another: the device writes one answer at a time. An abort is thrown. */
async function* steps(engine: Engine, params: Params, defaults: OpenAIExtras, signal: AbortSignal): Steps {
  const usages: Usage[] = [];
  const extras = { ...defaults, ...stated(params.outrider ?? {}) };
  try {
    const request = toRunRequest(params, extras);
    const n = countOf('n', params.n);
    const echo = new Echo(params, extras.onEvent);
    const run = bestOf(params, n, (index, asked) =>
      counted(answer(engine, { ...nthChoice(request, index), ...asked }, { signal, onEvent: echo.onEvent }), usages),
    );
    for (let index = 0; index < n; index++)
      for await (const event of echo.before(run(index))) {
        if (event.type !== 'end') yield { index, ...event };
        else {
          const { type, finish_reason, report } = event;
          if (finish_reason === 'aborted') throw aborted();
          yield { index, type, finish_reason, report };
        }
      }
  } catch (error) {
    throw toApiError(error, { params, extras });
  }
  yield { type: 'usage', usage: sum(usages) };
}

const withCall = (calls: readonly ChatToolCall[], step: ToolCall): ChatToolCall[] => {
  if (step.type === 'call')
    return [...calls, { id: step.id, type: 'function', function: { name: step.name, arguments: '' } }];
  return calls.map((call, i) => {
    const { name, arguments: own } = call.function;
    return i === step.call ? { ...call, function: { name, arguments: own + step.text } } : call;
  });
};

const whole = async <Whole>(run: Steps, shape: Shape<Whole, unknown>, head: Head): Promise<Whole> => {
  const choices: Choice[] = [];
  let usage = sum([]);
  let text = '';
  let reasoning = '';
  let calls: ChatToolCall[] = [];
  let logprobs: Scored[] | null = null;
  for await (const step of run)
    if (step.type === 'usage') usage = step.usage;
    else if (step.type === 'begun') [text, reasoning, calls, logprobs] = ['', '', [], null];
    else if (step.type === 'end') choices.push({ ...step, text, reasoning, calls, logprobs });
    else if (step.type === 'reasoning') reasoning += step.text;
    else if (step.type === 'call' || step.type === 'arguments') calls = withCall(calls, step);
    else {
      text += step.text;
      if (step.logprobs) logprobs = [...(logprobs ?? []), ...step.logprobs];
    }
  return shape.whole(head, choices, usage);
};

/** An abort ends the stream, as it does with OpenAI's client; other errors are thrown. */
async function* chunks<Chunk>(
  run: Steps,
  shape: Shape<unknown, Chunk>,
  head: Head,
  withUsage: boolean,
): AsyncGenerator<Chunk, void, undefined> {
  try {
    for await (const step of run) {
      const chunk = step.type !== 'usage' ? shape.chunk(head, step) : withUsage ? shape.usage(head, step.usage) : null;
      if (chunk) yield withUsage ? { usage: null, ...chunk } : chunk;
    }
  } catch (error) {
    if (!(error instanceof APIError && error.type === 'aborted')) throw error;
  }
}

/** Waits for the engine's first event, so that a refused request fails here and not in the loop. */
const begin = async (run: Steps): Promise<Steps> => {
  const first = await run.next();
  return (async function* () {
    try {
      if (!first.done) yield first.value;
      yield* run;
    } finally {
      await run.return();
    }
  })();
};

const creator =
  <Whole, Chunk>(engine: Engine, defaults: OpenAIExtras, shape: Shape<Whole, Chunk>) =>
  async (given: Params, options?: RequestOptions): Promise<Whole | Stream<Chunk>> => {
    const params = readParams(given, shape.asks);
    const controller = new AbortController();
    const signals = [params.signal, options?.signal].filter((signal) => (signal ?? null) !== null) as AbortSignal[];
    for (const each of signals) checkParam('signal', each, each instanceof AbortSignal, 'an AbortSignal');
    const signal = AbortSignal.any([controller.signal, ...signals]);
    const head: Head = {
      id: `${shape.prefix}-${crypto.randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model: params.model ?? 'outrider',
    };
    const run = steps(engine, params, defaults, signal);
    if (!params.stream) return whole(run, shape, head);
    const begun = await begin(run);
    leaveOnAbort(run, signal);
    const stream = chunks(begun, shape, head, params.stream_options?.include_usage === true);
    return { controller, [Symbol.asyncIterator]: () => stream };
  };

/** An engine in the shape of OpenAI's client. `defaults` holds for requests that do not say otherwise under `outrider`. */
export const openai = (engine: Engine, defaults: OpenAIExtras = {}): OpenAI => {
  needEngine(engine);
  return {
    chat: { completions: { create: creator(engine, defaults, CHAT) } },
    completions: { create: creator(engine, defaults, TEXT) },
  } as OpenAI;
};
