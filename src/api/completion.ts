// One run, as the facades of this folder see it: text as it becomes certain, and at the end what happened. They take
// any Engine and import nothing of it but types, so an entry point of a facade is a few kilobytes beside the core.
import type { KnobValue } from '../decode/core/knobs.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import { type EventOf, type Metrics, measure, type TokenLogprob, type TraceEvent, usage } from '../trace/index.ts';

/** What other interfaces have no word for. */
export interface Extras {
  /** The decoding system. Default `autoregressive`. */
  readonly system?: string | undefined;
  readonly knobs?: Readonly<Record<string, KnobValue>> | undefined;
  readonly minP?: number | undefined;
  /** Sees every trace event as it comes. */
  readonly onEvent?: ((event: TraceEvent) => void) | undefined;
}

/** `begun`: the engine has answered at all; it runs, or waits in line. */
export type AnswerEvent = { readonly type: 'begun' } | Piece | Answer;

export interface Piece {
  readonly type: 'piece';
  readonly text: string;
  /** Of the tokens that the text came from; null unless they were asked for. */
  readonly logprobs: readonly TokenLogprob[] | null;
}

export interface Answer {
  readonly type: 'end';
  readonly finish_reason: EventOf<'done'>['finish_reason'];
  readonly report: Report;
  readonly usage: Usage;
}

/** Which system wrote an answer, with which seed, and how fast. */
export type Report = Pick<EventOf<'run'>, 'system' | 'knobs' | 'seed'> & { readonly metrics: Metrics };

/** Token counts in OpenAI's shape. */
export type Usage = ReturnType<typeof usage>;

/** Members that are undefined are left out: a request states what it wants and nothing else. */
export const stated = <T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/**
 * Ends with an `end`, also when it was aborted. A token that stops the answer is no part of it; which one that is only
 * `done` tells, so with log-probabilities a piece comes one round late.
 */
export async function* answer(
  engine: Engine,
  request: RunRequest,
  { signal, onEvent }: { readonly signal?: AbortSignal | undefined; readonly onEvent?: Extras['onEvent'] },
): AsyncGenerator<AnswerEvent, void, undefined> {
  const events: TraceEvent[] = [];
  let held: EventOf<'commit'> | null = null;
  for await (const event of engine.run(request, signal)) {
    onEvent?.(event);
    events.push(event);
    if (events.length === 1) yield { type: 'begun' };
    if (event.type === 'commit') {
      if (held) yield piece(held);
      held = request.logprobs === undefined ? null : event;
      if (!held && event.text) yield piece(event);
    } else if (event.type === 'done') {
      if (held) yield piece(held, event.stop);
      yield ended(event, events, request);
    }
  }
}

const piece = ({ text, logprobs }: EventOf<'commit'>, stop: EventOf<'done'>['stop'] = null): Piece => ({
  type: 'piece',
  text: text ?? '',
  logprobs: logprobs && (typeof stop === 'number' ? logprobs.slice(0, -1) : logprobs),
});

const ended = ({ finish_reason }: EventOf<'done'>, events: readonly TraceEvent[], request: RunRequest): Answer => {
  const run = events.find((event): event is EventOf<'run'> => event.type === 'run');
  // There is none where the run was aborted while it waited.
  const { system, knobs, seed } = run ?? { system: request.system ?? 'autoregressive', knobs: {}, seed: 0 };
  const metrics = measure(events);
  return { type: 'end', finish_reason, report: { system, knobs, seed, metrics }, usage: usage(metrics) };
};

/**
 * Leaves a stream's run when the signal fires even if the stream is not read on: it would block the engine's queue.
 */
export const leaveOnAbort = (run: AsyncGenerator<unknown, unknown, undefined>, signal: AbortSignal): void =>
  signal.addEventListener('abort', () => void run.return(undefined).catch(() => {}), { once: true });
