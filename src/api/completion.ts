// One run for the facades of this folder: text as it becomes certain, and the outcome at the end. They take any Engine
// and import only its types, so a facade's entry point is a few kilobytes.
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { KnobValue } from '../decode/core/knobs.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import { type AnswerPart, AnswerReader } from '../text/answer-format.ts';
import { type EventOf, type Metrics, measure, type TokenLogprob, type TraceEvent, usage } from '../trace/index.ts';

/** Settings that other interfaces do not have. */
export interface Extras {
  /** The decoding system: an id of `Loaded.systems`, such as `prompt-lookup`. Default `autoregressive`. */
  readonly system?: RunRequest['system'] | undefined;
  readonly knobs?: Readonly<Record<string, KnobValue>> | undefined;
  readonly minP?: number | undefined;
  /** Called with every trace event. */
  readonly onEvent?: ((event: TraceEvent) => void) | undefined;
}

/** Throws `bad-request`: a promise of an engine, or none, would fail at the first question only. */
export const needEngine = (engine: unknown): void => {
  if (typeof (engine as Partial<Engine> | undefined)?.run !== 'function')
    throw refuse(`an engine is needed, not ${shown(engine)}`, 'Give what `connect()` or `createEngine()` returned.');
};

/** `begun`: the engine has accepted the request; it runs or is queued. */
export type AnswerEvent = { readonly type: 'begun' } | Piece | Reasoning | ToolCall | Answer;

export interface Piece {
  readonly type: 'piece';
  readonly text: string;
  /** Of the tokens that the text came from; null unless they were asked for. */
  readonly logprobs: readonly TokenLogprob[] | null;
}

/** A piece of what the model thinks before it answers. */
export interface Reasoning {
  readonly type: 'reasoning';
  readonly text: string;
}

/** The call with this number begins; or its arguments, JSON, go on. */
export type ToolCall =
  | { readonly type: 'call'; readonly call: number; readonly id: string; readonly name: string }
  | { readonly type: 'arguments'; readonly call: number; readonly text: string };

export interface Answer {
  readonly type: 'end';
  readonly finish_reason: EventOf<'done'>['finish_reason'] | 'tool_calls';
  readonly report: Report;
  readonly usage: Usage;
}

/** Which system wrote an answer, with which seed, and how fast. */
export type Report = Pick<EventOf<'run'>, 'system' | 'knobs' | 'seed'> & { readonly metrics: Metrics };

type Counts = ReturnType<typeof usage>;

/** Token counts in OpenAI's shape. */
export type Usage = Counts & {
  readonly completion_tokens_details: Counts['completion_tokens_details'] & { readonly reasoning_tokens: number };
};

/** Members that are undefined are left out: a request states what it wants and nothing else. */
export const stated = <T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** Other interfaces' seeds may have 64 bits, or be below 0: the engine gets them modulo 2³². It refuses what is none. */
export const seedOf = (seed: number | null | undefined): number | undefined =>
  Number.isInteger(seed) ? (seed as number) - 2 ** 32 * Math.floor((seed as number) / 2 ** 32) : (seed ?? undefined);

/**
 * Ends with an `end`, also where the signal ended the run. Throws where the engine was closed under it. A token that
 * stops the answer is no part of it; which one that is only `done` tells, so with log-probabilities a piece comes one
 * round late.
 */
export async function* answer(
  engine: Engine,
  request: RunRequest,
  { signal, onEvent }: { readonly signal?: AbortSignal | undefined; readonly onEvent?: Extras['onEvent'] },
): AsyncGenerator<AnswerEvent, void, undefined> {
  const events: TraceEvent[] = [];
  let parts: Parts | null = null;
  let held: EventOf<'commit'> | null = null;
  for await (const event of engine.run(request, signal)) {
    tell(event, onEvent);
    events.push(event);
    if (events.length === 1) yield { type: 'begun' };
    if (event.type === 'run') parts = new Parts(request, event.format);
    if (event.type === 'commit' && parts) {
      if (held) yield* parts.of(held);
      held = request.logprobs === undefined ? null : event;
      if (!held) yield* parts.of(event);
    } else if (event.type === 'done') {
      if (held && parts) yield* parts.of(held, event.stop);
      if (parts) yield* parts.end(event.stop);
      if (event.finish_reason === 'aborted' && !signal?.aborted)
        throw new OutriderError('aborted', 'the engine was closed', 'Create another one.');
      yield ended(event, events, request, parts);
    }
  }
}

/** What the caller's own function throws is the caller's error. */
const tell = (event: TraceEvent, onEvent: Extras['onEvent']): void => {
  try {
    onEvent?.(event);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw refuse(`onEvent threw: ${message}`, 'It is called with every trace event, and must not throw.', { cause });
  }
};

type Stop = EventOf<'done'>['stop'];

/** Divides the text of commits into text, reasoning and calls. Only tokens of the text keep their log-probabilities. */
class Parts {
  readonly #reader: AnswerReader;
  /** Tokens that became neither text, nor reasoning, nor a call so far. Null: no log-probabilities were asked for. */
  readonly #waiting: { readonly piece: string; readonly score: TokenLogprob }[] | null;
  #hasText = false;
  /** Tokens of reasoning, without its tags: those of the closing one wait, and nothing comes of them. */
  reasoning = 0;
  #maybeReasoning = 0;
  /** A stop string has cut a call. */
  cut = false;

  constructor({ tools, logprobs }: RunRequest, format: EventOf<'run'>['format']) {
    this.#reader = new AnswerReader(format ?? { tools: null, reasoning: null }, tools);
    this.#waiting = logprobs === undefined ? null : [];
  }

  get called(): boolean {
    return this.#reader.called;
  }

  *of({ text, pieces, logprobs }: EventOf<'commit'>, stop: Stop = null) {
    const scores = logprobs && (typeof stop === 'number' ? logprobs.slice(0, -1) : logprobs);
    let said = '';
    let sure = this.#scores([]);
    // Token by token, to count those of the reasoning.
    for (const [i, piece] of (pieces ?? [text ?? '']).entries()) {
      const { inText, inReasoning } = this.#reader;
      const score = scores?.[i];
      if (score) this.#waiting?.push({ piece, score });
      const parts = this.#reader.push(piece);
      if ((inReasoning && this.#reader.inReasoning) || parts[0]?.type === 'reasoning') this.#maybeReasoning++;
      for (const part of parts) {
        if (part.type === 'text') {
          said += part.text;
          sure?.push(...this.#scoresOf(part.text));
          continue;
        }
        this.#waiting?.splice(0);
        if (said !== '') {
          yield this.#piece(said, sure);
          [said, sure] = ['', this.#scores([])];
        }
        yield this.#event(part);
      }
      if (parts.length === 0 && !(inText && this.#reader.inText)) this.#waiting?.splice(0);
    }
    if (said !== '' || sure?.length) yield this.#piece(said, sure);
  }

  *end(stop: Stop) {
    this.cut = typeof stop === 'string' && this.#reader.calling;
    const waiting = this.#waiting;
    // A stop string and what follows it are no part of the answer.
    while (typeof stop === 'string' && waiting?.at(-1)?.piece === '') waiting.pop();
    for (const part of this.#reader.end())
      yield part.type === 'text' ? this.#piece(part.text, this.#scores(this.#scoresOf(part.text))) : this.#event(part);
    if (waiting?.length && this.#reader.inText) yield this.#piece('', this.#scoresOf(''));
  }

  /** Of the tokens that waited: they have become this text. White space that a model writes after its reasoning is none. */
  #scoresOf(text: string): TokenLogprob[] {
    const waited = this.#waiting?.splice(0) ?? [];
    const begin =
      this.#hasText || /^\s/.test(text) ? 0 : waited.findIndex(({ piece }) => piece === '' || piece.trim() !== '');
    this.#hasText ||= text !== '';
    return waited.slice(Math.max(0, begin)).map(({ score }) => score);
  }

  #scores(scores: TokenLogprob[]): TokenLogprob[] | null {
    return this.#waiting && scores;
  }

  #piece(text: string, logprobs: Piece['logprobs']): Piece {
    return { type: 'piece', text, logprobs };
  }

  #event(part: Exclude<AnswerPart, { readonly type: 'text' }>): Reasoning | ToolCall {
    if (part.type === 'reasoning') {
      this.reasoning += this.#maybeReasoning;
      this.#maybeReasoning = 0;
      return part;
    }
    if (part.type === 'arguments') return { type: 'arguments', call: part.index, text: part.text };
    return { type: 'call', call: part.index, name: part.name, id: part.id ?? newId() };
  }
}

/** Nine letters and digits: some models read no other ids. */
const newId = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 9);

const ended = (
  { finish_reason }: EventOf<'done'>,
  events: readonly TraceEvent[],
  request: RunRequest,
  parts: Parts | null,
): Answer => {
  const run = events.find((event): event is EventOf<'run'> => event.type === 'run');
  // A run that was aborted in the queue has none.
  const { system, knobs, seed } = run ?? { system: request.system ?? 'autoregressive', knobs: {}, seed: 0 };
  const metrics = measure(events);
  const counts = usage(metrics);
  const details = { ...counts.completion_tokens_details, reasoning_tokens: parts?.reasoning ?? 0 };
  return {
    type: 'end',
    finish_reason: finish_reason === 'stop' && parts?.called && !parts.cut ? 'tool_calls' : finish_reason,
    report: { system, knobs, seed, metrics },
    usage: { ...counts, completion_tokens_details: details },
  };
};

/** Ends a stream's run when the signal fires, also when the stream is not read on: the run would block the queue. */
export const leaveOnAbort = (run: AsyncGenerator<unknown, unknown, undefined>, signal: AbortSignal): void => {
  const leave = (): void => void run.return(undefined).catch(() => {});
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
};
