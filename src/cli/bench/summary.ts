// One system's line of the report, folded from the traces of its runs and from its baseline's on the same prompts.
import { type Interval, type Spread, spread } from '../../base/statistics.ts';
import {
  committedTokens,
  type EventOf,
  type Metrics,
  measure,
  passesByRole,
  type TraceEvent,
} from '../../trace/index.ts';
import { countEscalations, type Escalations } from './escalations.ts';
import { Prompts, quotient } from './figures.ts';
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

/** From the requests to the ends of the answers. */
export interface WholeAnswers {
  /** Of single answers, as `answer_speedup`. */
  readonly speedup: Spread | null;
  /** Of all answers together, in milliseconds. */
  readonly total_ms: number | null;
  /** The baseline's total divided by this one. */
  readonly total_speedup: number | null;
}

/** Figures with a 95 % interval. */
type Estimated =
  | 'speedup'
  | 'tokens_per_second'
  | 'tokens_per_round'
  | 'accuracy'
  | 'accuracy_ratio'
  | 'escalation_rate'
  | 'useless_escalations'
  | 'target_tokens'
  | 'answer_ms'
  | 'answer_speedup'
  | 'total_ms'
  | 'total_speedup';

/** 95 %, by the bootstrap over prompts, for the figure of the same name; null where the figure is. */
export type Intervals = Readonly<Record<Estimated, Interval | null>>;

const COMPARED = ['accuracy', 'escalated', 'target_tokens', 'total_ms'] as const;

export interface Against {
  readonly system: string;
  readonly ratios: Readonly<Record<(typeof COMPARED)[number], number | null>>;
  /** 95 %, of the ratios. */
  readonly intervals: Readonly<Record<(typeof COMPARED)[number], Interval | null>>;
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
  readonly whole_answers: WholeAnswers;
  /** Accuracy divided by the baseline's. */
  readonly accuracy_ratio: number | null;
  readonly intervals: Intervals;
  /** This system's figures divided by those of the system that --against names. */
  readonly against?: Against;
  readonly peak_bytes: number;
  readonly prompts: readonly PromptReport[];
}

const depthOf = (parents: readonly number[]): number => {
  const depths: number[] = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : (depths[parent] ?? 0) + 1);
  return Math.max(0, ...depths);
};

/**
 * By place in the draft: how many rounds decided on it, and how many kept it. As with `drafted`, what a nested system
 * drafts does not count, nor does forced text, which cannot be refused.
 */
const countSlots = (events: readonly TraceEvent[], drafted: number[], kept: number[]): void => {
  let draft: EventOf<'draft'> | null = null;
  for (const event of events) {
    if (event.type === 'draft') draft = event;
    if (event.type !== 'verify' || event.step !== undefined) continue;
    const own = draft?.round === event.round && draft.by !== 'constraint' ? draft : null;
    const forced = own?.forced ?? 0;
    const depth = own ? depthOf(own.parents) - forced : 0;
    for (let slot = 0; slot < (event.checked?.length ?? depth); slot++) {
      drafted[slot] = (drafted[slot] ?? 0) + 1;
      kept[slot] = (kept[slot] ?? 0) + (event.path.length - 1 - forced > slot ? 1 : 0);
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

/** The true answer is known. */
export const isJudged = ({ right }: Sample): boolean => right !== null;

/** The token budget ended the answer before its result. */
export const isCutOff = ({ events, right }: Sample): boolean => {
  const done = events.findLast((event): event is EventOf<'done'> => event.type === 'done');
  return right !== true && done?.finish_reason === 'length';
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

/** A sample and what its trace says. */
interface Run extends Sample {
  readonly metrics: Metrics;
  readonly escalations: Escalations;
  /** From the request to the end of the answer. */
  readonly answerMs: number | null;
}

const readRun = (sample: Sample): Run => ({
  ...sample,
  metrics: measure(sample.events),
  escalations: countEscalations(sample.events, sample.answer ?? null),
  answerMs: sample.events.findLast(({ type }) => type === 'done')?.at ?? null,
});

export interface NamedSamples {
  readonly name: string;
  readonly samples: readonly Sample[];
}

const isRight = ({ right }: Run) => Number(right === true);
const wasJudged = (run: Run) => Number(isJudged(run));
const targetSteps = ({ metrics: { escalation_rate: rate, steps } }: Run) => Math.round((rate ?? 0) * steps);
const targetTokens = ({ metrics }: Run) => metrics.target_tokens;
const answerMs = (run: Run) => run.answerMs;

/** Runs of both that had the same prompt in the same repetition. */
const pairs = (runs: readonly Run[], others: readonly Run[]) => {
  const partners = new Map(others.map((other) => [other.key, other]));
  return runs.flatMap((run) => {
    const other = partners.get(run.key);
    return other ? [{ prompt: run.prompt, run, other }] : [];
  });
};

type Pair = ReturnType<typeof pairs>[number];

/** The sum over the runs of a pair's one side, divided by the other's. */
const totalRatio = (prompts: Prompts, paired: readonly Pair[], measured: (run: Run) => number | null) =>
  quotient(
    prompts.total(paired, ({ run }) => measured(run)),
    prompts.total(paired, ({ other }) => measured(other)),
  );

const compareWith = (runs: readonly Run[], { name, samples }: NamedSamples): Against => {
  const paired = pairs(runs, samples.map(readRun));
  const prompts = new Prompts(paired);
  const statistics = {
    accuracy: totalRatio(prompts, paired, isRight),
    escalated: totalRatio(prompts, paired, targetSteps),
    target_tokens: totalRatio(prompts, paired, targetTokens),
    total_ms: totalRatio(prompts, paired, answerMs),
  };
  const ratios = Object.fromEntries(COMPARED.map((figure) => [figure, prompts.value(statistics[figure])]));
  return { system: name, ratios: ratios as Against['ratios'], intervals: prompts.intervals(statistics) };
};

/** `reference`: what --against names. */
export const summarise = (
  { id, equal }: { readonly id: string; readonly equal: boolean },
  samples: readonly Sample[],
  baseline: NamedSamples,
  ceiling: Ceiling,
  reference?: NamedSamples,
): SystemReport => {
  const runs = samples.map(readRun);
  const metrics = runs.map((run) => run.metrics);
  const prompts = new Prompts(runs);
  const paired = pairs(runs, baseline.samples.map(readRun));
  /** Of runs with the same key. */
  const speedOf = (speed: (run: Run) => number | null) => (pair: Pair) => {
    const [mine, theirs] = [speed(pair.run), speed(pair.other)];
    return mine && theirs ? mine / theirs : null;
  };
  const decoding = speedOf((run) => run.metrics.tokens_per_second);
  const whole = speedOf((run) => run.answerMs && 1 / run.answerMs);
  const roundTokens = sum(metrics.flatMap((m) => m.acceptance_lengths));
  const judged = runs.filter(isJudged);
  const seconds = sum(metrics.map((m) => m.decode_ms)) / 1000;
  const read = sum(samples.map(({ events }) => bytesRead(events, ceiling.bytes)));
  const routes = sum(samples.map(({ events }) => events.filter(({ type }) => type === 'route').length));

  const total = (measured: (run: Run) => number | null) => prompts.total(runs, measured);
  const statistics = {
    speedup: prompts.median(paired, decoding),
    tokens_per_second: prompts.median(runs, (run) => run.metrics.tokens_per_second),
    tokens_per_round: quotient(
      total((run) => sum(run.metrics.acceptance_lengths)),
      total((run) => run.metrics.rounds),
    ),
    accuracy: judged.every(isCutOff) ? () => null : quotient(total(isRight), total(wasJudged)),
    accuracy_ratio: totalRatio(prompts, paired, isRight),
    escalation_rate: quotient(
      total(targetSteps),
      total((run) => run.metrics.steps),
    ),
    useless_escalations: quotient(
      total((run) => run.escalations.useless),
      total((run) => run.escalations.escalated),
    ),
    target_tokens: total(targetTokens),
    answer_ms: prompts.median(runs, answerMs),
    answer_speedup: prompts.median(paired, whole),
    total_ms: runs.some((run) => run.answerMs !== null) ? total(answerMs) : () => null,
    total_speedup: quotient(
      prompts.total(paired, ({ other }) => other.answerMs),
      prompts.total(paired, ({ run }) => run.answerMs),
    ),
  };
  const answerSpeedup = spread(paired.flatMap((pair) => whole(pair) ?? []));
  return {
    system: id,
    baseline: baseline.name,
    speedup: spread(paired.flatMap((pair) => decoding(pair) ?? [])),
    tokens_per_second: spread(metrics.flatMap((m) => m.tokens_per_second ?? [])),
    tokens_per_round: prompts.value(statistics.tokens_per_round),
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
    accuracy: prompts.value(statistics.accuracy),
    escalation_rate: prompts.value(statistics.escalation_rate),
    useless_escalations: prompts.value(statistics.useless_escalations),
    target_tokens: prompts.value(statistics.target_tokens) ?? 0,
    judge_ms: share(sum(metrics.map((m) => m.judge_ms)), routes),
    answer_ms: spread(runs.flatMap((run) => run.answerMs ?? [])),
    answer_speedup: answerSpeedup,
    whole_answers: {
      speedup: answerSpeedup,
      total_ms: prompts.value(statistics.total_ms),
      total_speedup: prompts.value(statistics.total_speedup),
    },
    accuracy_ratio: prompts.value(statistics.accuracy_ratio),
    intervals: prompts.intervals(statistics),
    ...(reference && { against: compareWith(runs, reference) }),
    peak_bytes: Math.max(0, ...samples.map(({ peakBytes }) => peakBytes)),
    prompts: byPrompt(samples),
  };
};
