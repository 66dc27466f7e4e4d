// A step router's run on the stage: its steps in time, and what a stricter or milder judge would have decided on the
// recorded scores, at what cost and with which answer.
import { fold, METRICS, type ThresholdRule, type TraceEvent } from '../../src/trace/index.ts';
import { answerOf, outcomeOf } from '../run/outcome.ts';
import { finalNumber } from '../run/problems.ts';
import { isEscalated, readSteps, stepText } from '../run/steps.ts';
import { type End, type LaneScene, laneOf, likeOf, spanOf, warp } from './scene.ts';

export interface HandOffStep {
  readonly step: number;
  /** What the draft wrote, in tokens. */
  readonly draft: readonly string[];
  /** What the target writes in its place. */
  readonly target: string;
  readonly score: number | null;
  /** The draft's step is a different one than the target's. */
  readonly differs: boolean;
  /** Tokens of the target's step. */
  readonly tokens: number;
  /** The recorded times: the draft writes, the judge decides, the step is committed. */
  readonly from: number;
  readonly drafted: number;
  readonly judged: number;
  readonly ended: number;
}

export interface HandOffScene {
  readonly rule: ThresholdRule;
  /** The threshold of the recorded run. */
  readonly threshold: number;
  readonly plain: LaneScene;
  readonly steps: readonly HandOffStep[];
  readonly end: End;
  /** Milliseconds, as recorded. */
  readonly cost: { readonly draft: number; readonly judge: number; readonly token: number; readonly alone: number };
  readonly tokens: number;
  /** The answer if every step is the target's, and if every step is the draft's. */
  readonly answers: { readonly target: string | null; readonly draft: string | null };
}

/** Paragraphs of an answer, which are the steps of the bundled models. */
const paragraphs = (text: string): readonly string[] => text.split(/\n\n/).map(stepText).filter(Boolean);

/** Null where the run has no threshold or fewer steps than the plain answer. */
export const handOffOf = (
  events: readonly TraceEvent[],
  plain: readonly TraceEvent[],
  alone: readonly TraceEvent[],
): HandOffScene | null => {
  const { steps, rule } = readSteps(events);
  const routes = events.filter((event) => event.type === 'route');
  const candidates = events.filter((event) => event.type === 'candidates');
  const ends = events.filter((event) => event.type === 'step');
  const written = paragraphs(answerOf(plain));
  const [first] = routes;
  if (!rule || !first || routes.length !== steps.length || written.length !== steps.length) return null;
  const start = events.find(({ type }) => type === 'prefill')?.at ?? 0;
  const end = events.at(-1)?.at ?? 0;
  const time = warp(Math.max(end - start, spanOf(plain)), null);
  const at = (ms: number): number => time(ms - start);
  const plainTokens = fold(METRICS.tokens, plain);
  const plainMs = fold(METRICS.decode_ms, plain);
  const scene = {
    rule,
    threshold: first.threshold,
    plain: laneOf(plain, time),
    steps: steps.map((step, i) => {
      const target = written[i] ?? '';
      const pieces = candidates[i]?.pieces?.[0] ?? [step.draft ?? ''];
      return {
        step: step.step,
        draft: pieces,
        target,
        score: step.route?.score ?? null,
        differs: stepText(step.draft ?? '') !== target,
        tokens: step.tokens,
        from: at(ends[i - 1]?.at ?? start),
        drafted: at(candidates[i]?.at ?? start),
        judged: at(routes[i]?.at ?? start),
        ended: at(ends[i]?.at ?? start),
      };
    }),
    cost: {
      draft: candidates.reduce((sum, { ms }) => sum + ms, 0),
      judge: routes.reduce((sum, { judge_ms: ms = 0 }) => sum + ms, 0),
      token: plainMs / Math.max(1, plainTokens - 1),
      alone: plainMs,
    },
    tokens: steps.reduce((sum, { tokens }) => sum + tokens, 0),
    answers: { target: finalNumber(answerOf(plain)), draft: finalNumber(answerOf(alone)) },
  };
  const large = ends.reduce((sum, { by, tokens }) => sum + (by === 'target' ? tokens : 0), 0);
  const { totalMs } = decide(scene, scene.threshold);
  const like = likeOf(outcomeOf(events), outcomeOf(plain));
  const tokens = `${large} tokens of the large model instead of ${plainTokens}`;
  const sentence = `as fast after the prompt in this recording, the judge included, ${like}: ${tokens}.`;
  return { ...scene, end: { factor: `${(plainMs / totalMs).toFixed(2)}×`, sentence } };
};

/** The slider is even in the log-odds of the threshold: scores crowd near 0 and 1. */
const STEEP = 8;

/** Where a probability is on the slider, from 0 to 1. */
export const place = (probability: number): number => {
  const odds = Math.log(probability / (1 - probability));
  return Math.min(1, Math.max(0, (odds / STEEP + 1) / 2));
};

/** The probability at a place of the slider. */
export const thresholdAt = (position: number): number => 1 / (1 + Math.exp(-STEEP * (2 * position - 1)));

/** How strict a threshold is, from 0 to 1: with rewards a high one is strict, with routers a low one. */
export const strictness = ({ escalates }: ThresholdRule, threshold: number): number =>
  escalates === 'low' ? place(threshold) : 1 - place(threshold);

export const thresholdFor = ({ escalates }: ThresholdRule, strict: number): number =>
  thresholdAt(escalates === 'low' ? strict : 1 - strict);

export interface Decided {
  /** By step: whether the target writes it. */
  readonly handedOff: readonly boolean[];
  readonly targetTokens: number;
  readonly targetMs: number;
  readonly totalMs: number;
  /** Null where the recordings do not tell. */
  readonly answer: string | null;
  readonly right: boolean | null;
  /** The first kept step that differs from the target's: those after it would be other ones. -1: none. */
  readonly wrong: number;
}

/**
 * What a judge with this threshold decides, by the recorded scores. The answer is the target's if every kept step is
 * the one that the target writes too, and the draft's if nothing is handed off from the first different step on.
 */
export const decide = (
  { rule, steps, cost, answers }: Pick<HandOffScene, 'rule' | 'steps' | 'cost' | 'answers'>,
  threshold: number,
): Decided => {
  const handedOff = steps.map(({ score }) => isEscalated(rule, score, threshold));
  const targetTokens = steps.reduce((sum, { tokens }, i) => sum + (handedOff[i] ? tokens : 0), 0);
  const targetMs = targetTokens * cost.token;
  const wrong = steps.findIndex(({ differs }, i) => differs && !handedOff[i]);
  const answer = wrong < 0 ? answers.target : handedOff.slice(wrong).some(Boolean) ? null : answers.draft;
  return {
    handedOff,
    targetTokens,
    targetMs,
    totalMs: cost.draft + cost.judge + targetMs,
    answer,
    right: answer === null ? null : answer === answers.target,
    wrong,
  };
};
