// One system's line of the report, folded from the traces of its runs and from its baseline's on the same prompts.
import { type Spread, spread } from '../../base/statistics.ts';
import { committedTokens, type EventOf, measure, type TraceEvent } from '../../trace/index.ts';
import { countEscalations } from './escalations.ts';
import { byPrompt, type PromptReport } from './per-prompt.ts';

/** One run of one system on one prompt. */
export interface Sample {
  /** Runs with the same key had the same prompt in the same repetition. */
  readonly key: string;
  readonly prompt: number;
  readonly events: readonly TraceEvent[];
  /** Whether the final answer is right; null where the truth is not known. */
  readonly right: boolean | null;
  /** The true answer, step by step; absent where it is not known. */
  readonly answer?: string | undefined;
  readonly peakBytes: number;
}

/** Names as `outrider bench --json` prints them. */
export interface SystemReport {
  readonly system: string;
  /** The system whose speed, and for exact systems whose output, it is compared with. */
  readonly baseline: string;
  readonly speedup: Spread | null;
  readonly tokens_per_second: Spread | null;
  readonly tokens_per_round: number | null;
  /** Forward passes of all models. */
  readonly passes_per_token: number | null;
  /** Entry j: of the rounds that drafted a token at place j+1, the share that kept it. */
  readonly acceptance_by_slot: readonly number[];
  readonly dispatches_per_token: number | null;
  readonly submits_per_token: number | null;
  readonly readbacks_per_token: number | null;
  readonly readback_bytes_per_round: number | null;
  /** Times that a run fell back to plain decoding. */
  readonly fall_backs: number;
  readonly bandwidth_share: number | null;
  /** Exact systems at temperature 0: every output equals the baseline's, token for token. */
  readonly lossless: boolean | null;
  /** Share of right answers; an answer that was cut off counts as wrong. Null where no answer was complete. */
  readonly accuracy: number | null;
  /** Share of steps that the target wrote. */
  readonly escalation_rate: number | null;
  /** Share of escalated steps that the target did not better (escalations.ts). */
  readonly useless_escalations: number | null;
  /** Tokens that the target wrote, kept or not. */
  readonly target_tokens: number;
  /** Milliseconds of judging a step. */
  readonly judge_ms: number | null;
  /** From the request to the end of the answer, in milliseconds. */
  readonly answer_ms: Spread | null;
  /** How many times the baseline takes for the same whole answers, prompts included. */
  readonly answer_speedup: Spread | null;
  readonly peak_bytes: number;
  readonly prompts: readonly PromptReport[];
}

const depthOf = (parents: readonly number[]): number => {
  const depths: number[] = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : (depths[parent] ?? 0) + 1);
  return Math.max(0, ...depths);
};

/** By place in the draft: how many rounds decided on it, and how many kept it. */
const countSlots = (events: readonly TraceEvent[], drafted: number[], kept: number[]): void => {
  let draft: EventOf<'draft'> | null = null;
  for (const event of events) {
    if (event.type === 'draft') draft = event;
    if (event.type !== 'verify') continue;
    const depth = draft?.round === event.round ? depthOf(draft.parents) : 0;
    for (let slot = 0; slot < (event.checked?.length ?? depth); slot++) {
      drafted[slot] = (drafted[slot] ?? 0) + 1;
      kept[slot] = (kept[slot] ?? 0) + (event.path.length - 1 > slot ? 1 : 0);
    }
  }
};

const acceptanceBySlot = (samples: readonly Sample[]): readonly number[] => {
  const drafted: number[] = [];
  const kept: number[] = [];
  for (const { events } of samples) countSlots(events, drafted, kept);
  return drafted.map((count, slot) => (kept[slot] ?? 0) / count);
};

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

/** Device work of the rounds after the prompt, for each token that they committed. */
const workPerToken = (samples: readonly Sample[], what: 'dispatches' | 'submits' | 'readbacks'): number | null => {
  const events = samples.flatMap((sample) => sample.events);
  const work = events.map((event) => (event.type === 'kernels' && event.round > 0 ? event[what] : 0));
  const tokens = events.map((event) => (event.type === 'commit' && event.round > 0 ? event.tokens.length : 0));
  return share(sum(work), sum(tokens));
};

const bytesPerRound = (samples: readonly Sample[]): number | null => {
  const rounds = samples.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'kernels' && event.round > 0 ? [event.readback_bytes ?? 0] : [])),
  );
  return share(sum(rounds), rounds.length);
};

const fallBacks = (samples: readonly Sample[]): number =>
  samples.flatMap(({ events }) => events.filter((e) => e.type === 'fall-back' && e.to === 'plain')).length;

const sameAnswer = (a: Sample | undefined, b: Sample): boolean =>
  a !== undefined && committedTokens(a.events).join() === committedTokens(b.events).join();

/** From the request to the end of the answer. */
const answerTime = (sample: Sample | undefined): number | null =>
  sample?.events.findLast(({ type }) => type === 'done')?.at ?? null;

/** The true answer is known. */
export const isJudged = ({ right }: Sample): boolean => right !== null;

/** The token budget ended the answer before its result. */
export const isCutOff = ({ events, right }: Sample): boolean => {
  const done = events.findLast((event): event is EventOf<'done'> => event.type === 'done');
  return right !== true && done?.finish_reason === 'length';
};

const passesByRole = (event: TraceEvent): Readonly<Record<string, number | undefined>> => {
  if (event.type === 'verify') return event.passes ?? { [event.by]: 1 };
  return event.type === 'draft' || event.type === 'candidates' ? { [event.by]: event.passes } : {};
};

/** Bytes of weights that the passes after the prompt read. */
const bytesRead = (events: readonly TraceEvent[], bytes: Ceiling['bytes']): number =>
  sum(
    events.flatMap((event) =>
      Object.entries(passesByRole(event)).map(([role, passes = 0]) => passes * (bytes[role] ?? 0)),
    ),
  );

export interface Ceiling {
  /** Bytes that one pass of a role's model reads. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Measured streaming bandwidth, bytes a second. */
  readonly bandwidth: number;
}

export const summarise = (
  { id, equal }: { readonly id: string; readonly equal: boolean },
  samples: readonly Sample[],
  baseline: { readonly name: string; readonly samples: readonly Sample[] },
  ceiling: Ceiling,
): SystemReport => {
  const metrics = samples.map(({ events }) => measure(events));
  const rate = (sample: Sample | undefined): number | null =>
    sample ? measure(sample.events).tokens_per_second : null;
  /** Of runs with the same key. */
  const ratios = (figure: (sample: Sample | undefined) => number | null): Spread | null =>
    spread(
      samples.flatMap((sample) => {
        const [mine, theirs] = [figure(sample), figure(baseline.samples.find(({ key }) => key === sample.key))];
        return mine && theirs ? [mine / theirs] : [];
      }),
    );
  const haste = (sample: Sample | undefined): number | null => {
    const ms = answerTime(sample);
    return ms && 1 / ms;
  };
  const rounds = sum(metrics.map((m) => m.rounds));
  const roundTokens = sum(metrics.flatMap((m) => m.acceptance_lengths));
  const steps = sum(metrics.map((m) => m.steps));
  const judged = samples.filter(isJudged);
  const seconds = sum(metrics.map((m) => m.decode_ms)) / 1000;
  const read = sum(samples.map(({ events }) => bytesRead(events, ceiling.bytes)));
  const escalations = samples.map(({ events, answer = null }) => countEscalations(events, answer));
  const routes = sum(samples.map(({ events }) => events.filter(({ type }) => type === 'route').length));
  return {
    system: id,
    baseline: baseline.name,
    speedup: ratios(rate),
    tokens_per_second: spread(metrics.flatMap((m) => m.tokens_per_second ?? [])),
    tokens_per_round: share(roundTokens, rounds),
    passes_per_token: share(sum(metrics.map((m) => m.passes)), roundTokens),
    acceptance_by_slot: acceptanceBySlot(samples),
    dispatches_per_token: workPerToken(samples, 'dispatches'),
    submits_per_token: workPerToken(samples, 'submits'),
    readbacks_per_token: workPerToken(samples, 'readbacks'),
    readback_bytes_per_round: bytesPerRound(samples),
    fall_backs: fallBacks(samples),
    bandwidth_share: share(read, seconds * ceiling.bandwidth),
    lossless: equal
      ? samples.every((s) =>
          sameAnswer(
            baseline.samples.find((p) => p.prompt === s.prompt),
            s,
          ),
        )
      : null,
    accuracy: judged.every(isCutOff) ? null : share(judged.filter(({ right }) => right).length, judged.length),
    escalation_rate: share(sum(metrics.map((m) => (m.escalation_rate ?? 0) * m.steps)), steps),
    useless_escalations: share(sum(escalations.map((e) => e.useless)), sum(escalations.map((e) => e.escalated))),
    target_tokens: sum(metrics.map((m) => m.target_tokens)),
    judge_ms: share(sum(metrics.map((m) => m.judge_ms)), routes),
    answer_ms: spread(samples.flatMap((sample) => answerTime(sample) ?? [])),
    answer_speedup: ratios(haste),
    peak_bytes: Math.max(0, ...samples.map(({ peakBytes }) => peakBytes)),
    prompts: byPrompt(samples),
  };
};
