// A step router at every threshold, or at the one that its entry sets. A router decides alike at all thresholds up to
// the weakest step that it kept. So a few answers to a problem, each just beyond that step's score, are all there are:
// the curve over thresholds is exact.
import { type Interval, intervals, type Statistic } from '../../base/statistics.ts';
import type { NumberKnob } from '../../decode/core/knobs.ts';
import { limitKnobs } from '../../systems/step-knobs.ts';
import { thresholdOf } from '../../trace/index.ts';
import type { BenchEntry } from './entries.ts';
import { isUseless, trueSteps } from './escalations.ts';
import { Prompts, quotient } from './figures.ts';
import type { Asked, OneStep, Steps } from './one-steps.ts';
import { type BenchPrompt, isRight } from './prompts.ts';

/** A problem at all thresholds from `from` to that of the next outcome. */
interface Outcome {
  readonly prompt: number;
  readonly from: number;
  readonly right: number;
  readonly steps: number;
  readonly escalated: number;
  readonly useless: number;
  readonly tokens: number;
}

const FIGURES = ['accuracy', 'accuracy_ratio', 'escalation_rate', 'useless_escalations', 'target_tokens'] as const;
type Figures<Value> = Readonly<Record<(typeof FIGURES)[number], Value>>;

/** `target_tokens`: divided by the tokens of the target alone. */
export interface SweepPoint extends Figures<number | null> {
  readonly threshold: number;
  readonly intervals: Figures<Interval | null>;
  /** The share of the bootstrap's draws in which it keeps the share of the target's accuracy that was asked for. */
  readonly sure: number | null;
}

/** Names as `outrider thresholds --json` prints them. */
export interface Sweep {
  readonly system: string;
  readonly knob: string;
  readonly escalates: 'high' | 'low';
  readonly target_accuracy: number;
  /** From where nothing is escalated to where most is. */
  readonly points: readonly SweepPoint[];
  /** Of the points from which on the accuracy that was asked for is kept as surely as was asked for: the first. */
  readonly chosen: SweepPoint | null;
  /** At the threshold that is set, or the system's own default. */
  readonly initial: SweepPoint | null;
  /**
   * How well the score tells the steps that the target would better from the others: the probability that of one of
   * each the first is more likely to be escalated. Over the steps of the target's own answers. Null without both kinds.
   */
  readonly auc: number | null;
  readonly auc_interval: Interval | null;
}

export interface SweepOptions {
  readonly problems: readonly BenchPrompt[];
  /** The same problems as the models read them. */
  readonly asked: readonly Asked[];
  /** The share of the target's accuracy that a threshold must keep. */
  readonly keep: number;
  /** How sure that must be, as `SweepPoint.sure`. 0: the share in all problems is enough. */
  readonly sure: number;
  readonly steps: Steps;
  readonly onProblem?: (index: number) => void;
}

/** The answer of a router with a fixed rule. */
interface Routed {
  readonly text: string;
  readonly tokens: readonly number[];
  readonly drafts: readonly (OneStep | null)[];
  readonly steps: readonly OneStep[];
}

/** `keeps`: null where the target writes every step, and the draft writes none. */
const answer = async (
  entry: BenchEntry,
  asked: Asked,
  steps: Steps,
  keeps: ((drafted: OneStep) => boolean) | null,
): Promise<Routed> => {
  const most = Number(entry.knobs['max-steps'] ?? limitKnobs['max-steps'].initial);
  const tokens: number[] = [];
  const drafts: (OneStep | null)[] = [];
  const written: OneStep[] = [];
  while (written.length < most && tokens.length < asked.maxTokens && !written.at(-1)?.stopped) {
    const drafted = keeps && (await steps.drafted(entry, asked, [...tokens]));
    const step = drafted && keeps?.(drafted) ? drafted : await steps.escalated(entry, asked, [...tokens]);
    drafts.push(drafted);
    written.push(step);
    tokens.push(...step.tokens);
  }
  return { text: written.map(({ text }) => text).join(''), tokens, drafts, steps: written };
};

/** The next threshold of the knob's grid at which a step with this score is escalated; null where there is none. */
export const beyond = (score: number, { min, max, step }: NumberKnob, escalates: 'high' | 'low'): number | null => {
  const places = (score - min) / step;
  const place = escalates === 'low' ? Math.floor(places + 1e-9) + 1 : Math.ceil(places - 1e-9) - 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  const threshold = Number((min + place * step).toFixed(digits));
  return threshold > max || threshold < min ? null : threshold;
};

/** A problem answered by the target alone. */
interface TargetAnswer {
  readonly prompt: number;
  readonly right: number;
  readonly tokens: number;
}

const ruleOf = ({ system, knobs }: BenchEntry) => {
  const { threshold: knob, escalates } = thresholdOf(system) as NonNullable<ReturnType<typeof thresholdOf>>;
  const keeps = (threshold: number) => (drafted: OneStep) =>
    drafted.score !== null && (escalates === 'low' ? drafted.score >= threshold : drafted.score <= threshold);
  return { knob, escalates, grid: system.knobs[knob] as NumberKnob, keeps, fixed: knobs[knob] };
};

/** A problem's answers at all thresholds, or at the one that is set. */
const outcomesOf = async (entry: BenchEntry, prompt: number, options: SweepOptions): Promise<readonly Outcome[]> => {
  const { escalates, grid, keeps, fixed } = ruleOf(entry);
  const problem = options.problems[prompt] as BenchPrompt;
  const truth = trueSteps(problem.answer);
  const found: Outcome[] = [];
  const first = escalates === 'low' ? grid.min : grid.max;
  for (let from: number | null = Number(fixed ?? first); from !== null; ) {
    const routed = await answer(entry, options.asked[prompt] as Asked, options.steps, keeps(from));
    const pairs = routed.steps.map((step, i) => ({ step, drafted: routed.drafts[i] as OneStep, right: truth?.[i] }));
    const escalated = pairs.filter(({ step, drafted }) => step !== drafted);
    found.push({
      prompt,
      from,
      right: Number(isRight(problem, routed.text)),
      steps: pairs.length,
      escalated: escalated.length,
      useless: escalated.filter(({ step, drafted, right }) =>
        isUseless(drafted.text, step.text, truth ? (right ?? '') : null),
      ).length,
      tokens: routed.steps.reduce((sum, { written }) => sum + written, 0),
    });
    const kept = pairs.filter(({ step, drafted }) => step === drafted).map(({ drafted }) => drafted.score as number);
    const weakest = escalates === 'low' ? Math.min(...kept) : Math.max(...kept);
    from = kept.length === 0 || fixed !== undefined ? null : beyond(weakest, grid, escalates);
  }
  return found;
};

/** Scores of the draft's steps along the target's answer, and whether the target's step is the better one. */
interface Judged {
  readonly score: number;
  readonly better: boolean;
}

const judgedSteps = async (
  entry: BenchEntry,
  prompt: number,
  steps: readonly OneStep[],
  options: SweepOptions,
): Promise<readonly Judged[]> => {
  const truth = trueSteps(options.problems[prompt]?.answer);
  const judged: Judged[] = [];
  const before: number[] = [];
  for (const [i, step] of steps.entries()) {
    const { score, text } = await options.steps.drafted(entry, options.asked[prompt] as Asked, [...before]);
    const better = !isUseless(text, step.text, truth ? (truth[i] ?? '') : null);
    if (score !== null) judged.push({ score, better });
    before.push(...step.tokens);
  }
  return judged;
};

/** The share of pairs of a better and another step in which the better one has the lower score; ties count half. */
export const areaUnderCurve = (better: readonly number[], others: readonly number[]): number | null => {
  if (better.length === 0 || others.length === 0) return null;
  const all = [...better.map((score) => ({ score, low: 1 })), ...others.map((score) => ({ score, low: 0 }))];
  all.sort((a, b) => a.score - b.score);
  let [pairs, below, i] = [0, 0, 0];
  while (i < all.length) {
    let [lows, highs] = [0, 0];
    const { score } = all[i] as (typeof all)[number];
    for (; all[i]?.score === score; i++) all[i]?.low ? lows++ : highs++;
    pairs += highs * (below + lows / 2);
    below += lows;
  }
  return pairs / (better.length * others.length);
};

export const sweep = async (entry: BenchEntry, options: SweepOptions): Promise<Sweep> => {
  const { knob, escalates, grid, fixed } = ruleOf(entry);
  const outcomes: (readonly Outcome[])[] = [];
  const judged: (readonly Judged[])[] = [];
  const target: TargetAnswer[] = [];
  for (const [prompt, problem] of options.problems.entries()) {
    options.onProblem?.(prompt);
    const alone = await answer(entry, options.asked[prompt] as Asked, options.steps, null);
    target.push({ prompt, right: Number(isRight(problem, alone.text)), tokens: alone.tokens.length });
    outcomes.push(await outcomesOf(entry, prompt, options));
    judged.push(await judgedSteps(entry, prompt, alone.steps, options));
  }
  const all = new Prompts(target);
  const sign = escalates === 'low' ? 1 : -1;
  const pointAt = (threshold: number): SweepPoint => {
    const there = outcomes.map((each) => each.findLast(({ from }) => sign * (threshold - from) >= 0) as Outcome);
    const total = (measured: (outcome: Outcome) => number) => all.total(there, measured);
    const right = total((outcome) => outcome.right);
    const statistics = {
      accuracy: quotient(
        right,
        all.total(target, () => 1),
      ),
      accuracy_ratio: quotient(
        right,
        all.total(target, (answer) => answer.right),
      ),
      escalation_rate: quotient(
        total((outcome) => outcome.escalated),
        total((outcome) => outcome.steps),
      ),
      useless_escalations: quotient(
        total((outcome) => outcome.useless),
        total((outcome) => outcome.escalated),
      ),
      target_tokens: quotient(
        total((outcome) => outcome.tokens),
        all.total(target, (answer) => answer.tokens),
      ),
    };
    const values = Object.fromEntries(FIGURES.map((name) => [name, all.value(statistics[name])]));
    const sure = all.sureOf(statistics.accuracy_ratio, options.keep);
    return { threshold, ...(values as Figures<number | null>), intervals: all.intervals(statistics), sure };
  };
  const thresholds = [...new Set(outcomes.flat().map(({ from }) => from))].sort((a, b) => sign * (a - b));
  const points = thresholds.map(pointAt);
  const short = points.findLastIndex(
    ({ accuracy_ratio, sure }) => (accuracy_ratio ?? 0) < options.keep || (sure ?? 0) < options.sure,
  );
  const auc: Statistic = (drawn) => {
    const steps = Array.from(drawn, (i) => judged[i] ?? []).flat();
    const scores = (wanted: boolean) =>
      steps.filter(({ better }) => better === wanted).map(({ score }) => sign * score);
    return areaUnderCurve(scores(true), scores(false));
  };
  return {
    system: entry.name,
    knob,
    escalates,
    target_accuracy: target.reduce((sum, { right }) => sum + right, 0) / target.length,
    points,
    chosen: points[short + 1] ?? null,
    initial: pointAt(Number(fixed ?? grid.initial)),
    auc: auc(judged.map((_, i) => i)),
    auc_interval: intervals(judged.length, { auc }).auc,
  };
};

/** The last point with at most this share of the steps escalated. */
export const atEscalation = ({ points }: Sweep, share: number): SweepPoint | null =>
  points.findLast((point) => (point.escalation_rate ?? 1) <= share) ?? null;
