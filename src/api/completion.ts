// One run for the facades of this folder: text as it becomes certain, and the outcome at the end. They take any Engine
// and import only its types, so a facade's entry point is a few kilobytes.
import type { KnobValue } from '../decode/core/knobs.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import { type EventOf, type Metrics, measure, type TokenLogprob, type TraceEvent, usage } from '../trace/index.ts';

/** Settings that other interfaces do not have. */
export interface Extras {
  /** The decoding system. Default `autoregressive`. */
  readonly system?: string | undefined;
  readonly knobs?: Readonly<Record<string, KnobValue>> | undefined;
  readonly minP?: number | undefined;
  /** Called with every trace event. */
  readonly onEvent?: ((event: TraceEvent) => void) | undefined;
}

/** `begun`: the engine has accepted the request; it runs or is queued. */
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
  // A run that was aborted in the queue has none.
  const { system, knobs, seed } = run ?? { system: request.system ?? 'autoregressive', knobs: {}, seed: 0 };
  const metrics = measure(events);
  return { type: 'end', finish_reason, report: { system, knobs, seed, metrics }, usage: usage(metrics) };
};

/** Ends a stream's run when the signal fires, also when the stream is not read on: the run would block the queue. */
export const leaveOnAbort = (run: AsyncGenerator<unknown, unknown, undefined>, signal: AbortSignal): void =>
  signal.addEventListener('abort', () => void run.return(undefined).catch(() => {}), { once: true });
