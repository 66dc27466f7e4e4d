// A step router at every threshold. A run decides alike at all thresholds up to the weakest step that it kept, so a few
// runs of a problem, each just beyond that step's score, are all there are: the curve over thresholds is exact.
import type { Interval } from '../../base/statistics.ts';
import type { KnobValue, NumberKnob } from '../../decode/core/knobs.ts';
import { measure, type TraceEvent, thresholdOf } from '../../trace/index.ts';
import type { BenchEntry } from './entries.ts';
import { countEscalations } from './escalations.ts';
import { Prompts, quotient } from './figures.ts';
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
}

/** Names as `outrider thresholds --json` prints them. */
export interface Sweep {
  readonly system: string;
  readonly knob: string;
  readonly escalates: 'high' | 'low';
  /** From where nothing is escalated to where most is. */
  readonly points: readonly SweepPoint[];
  /** Of the points from which on accuracy stays at the share of the target's that was asked for: the first. */
  readonly chosen: SweepPoint | null;
}

export interface SweepOptions {
  readonly prompts: readonly BenchPrompt[];
  /** The share of the target's accuracy that a threshold must keep. */
  readonly keep: number;
  /** Of a run with the entry's knobs and this threshold; null: the target alone. */
  readonly run: (index: number, knobs: Readonly<Record<string, KnobValue>> | null) => Promise<readonly TraceEvent[]>;
}

export interface TargetAnswer {
  readonly prompt: number;
  readonly right: number;
  readonly tokens: number;
}

const textOf = (events: readonly TraceEvent[]): string | null => {
  const done = events.at(-1);
  return done?.type === 'done' ? done.text : null;
};

export const targetAnswers = async ({ prompts, run }: SweepOptions): Promise<readonly TargetAnswer[]> => {
  const answers: TargetAnswer[] = [];
  for (const [prompt, problem] of prompts.entries()) {
    const events = await run(prompt, null);
    answers.push({ prompt, right: Number(isRight(problem, textOf(events))), tokens: measure(events).tokens });
  }
  return answers;
};

/** The next threshold of the knob's grid at which a step with this score is escalated; null where there is none. */
export const beyond = (score: number, { min, max, step }: NumberKnob, escalates: 'high' | 'low'): number | null => {
  const places = (score - min) / step;
  const place = escalates === 'low' ? Math.floor(places + 1e-9) + 1 : Math.ceil(places - 1e-9) - 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  const threshold = Number((min + place * step).toFixed(digits));
  return threshold > max || threshold < min ? null : threshold;
};

export const sweep = async (
  entry: BenchEntry,
  target: readonly TargetAnswer[],
  { prompts, keep, run }: SweepOptions,
): Promise<Sweep> => {
  const { threshold: knob, escalates } = thresholdOf(entry.system) as NonNullable<ReturnType<typeof thresholdOf>>;
  const grid = entry.system.knobs[knob] as NumberKnob;
  const outcomes: (readonly Outcome[])[] = [];
  for (const [prompt, problem] of prompts.entries()) {
    const found: Outcome[] = [];
    for (let from: number | null = escalates === 'low' ? grid.min : grid.max; from !== null; ) {
      const events = await run(prompt, { ...entry.knobs, [knob]: from });
      const { steps, escalated, target_tokens: tokens } = measure(events);
      const right = Number(isRight(problem, textOf(events)));
      const { useless } = countEscalations(events, problem.answer ?? null);
      found.push({ prompt, from, right, steps, escalated, useless, tokens });
      const kept = events.flatMap((e) => (e.type === 'route' && e.to === 'draft' && e.score !== null ? [e.score] : []));
      const weakest = escalates === 'low' ? Math.min(...kept) : Math.max(...kept);
      from = kept.length === 0 ? null : beyond(weakest, grid, escalates);
    }
    outcomes.push(found);
  }
  const all = new Prompts(target);
  const sign = escalates === 'low' ? 1 : -1;
  const thresholds = [...new Set(outcomes.flat().map(({ from }) => from))].sort((a, b) => sign * (a - b));
  const points = thresholds.map((threshold): SweepPoint => {
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
    return { threshold, ...(values as Figures<number | null>), intervals: all.intervals(statistics) };
  });
  const short = points.findLastIndex((point) => (point.accuracy_ratio ?? 0) < keep);
  return { system: entry.name, knob, escalates, points, chosen: points[short + 1] ?? null };
};

/** The last point with at most this share of the steps escalated. */
export const atEscalation = ({ points }: Sweep, share: number): SweepPoint | null =>
  points.findLast((point) => (point.escalation_rate ?? 1) <= share) ?? null;
