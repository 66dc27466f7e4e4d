// All metrics of a run, under the names that `outrider generate --json` prints with its last event.
import type { TraceEvent } from '../events.ts';
import { fold, type Metric } from '../fold.ts';
import { dispatches, readbacks, submits } from './device-work.ts';
import { accepted, drafted, wasted } from './drafts.ts';
import { draftPasses, passes, targetPasses } from './passes.ts';
import { prefillMs, promptTokens, reusedTokens } from './prompt.ts';
import { acceptanceLengths, rounds, tokens, tokensPerRound } from './rounds.ts';
import { escalated, escalationRate, judgeMs, steps, targetTokens } from './steps.ts';
import { decodeMs, tokensPerSecond } from './time.ts';

/** Every metric, by its name. */
export const METRICS = {
  prompt_tokens: promptTokens,
  reused_tokens: reusedTokens,
  tokens,
  rounds,
  tokens_per_round: tokensPerRound,
  acceptance_lengths: acceptanceLengths,
  accepted,
  drafted,
  /** Drafted and not kept. */
  wasted,
  target_passes: targetPasses,
  draft_passes: draftPasses,
  passes,
  steps,
  escalated,
  escalation_rate: escalationRate,
  target_tokens: targetTokens,
  judge_ms: judgeMs,
  prefill_ms: prefillMs,
  decode_ms: decodeMs,
  tokens_per_second: tokensPerSecond,
  dispatches,
  submits,
  readbacks,
} as const;

/** The figures of a run, by name. */
export type Metrics = { readonly [Name in keyof typeof METRICS]: ReturnType<(typeof METRICS)[Name]['value']> };

/** Every metric over a whole run. */
export const measure = (events: Iterable<TraceEvent>): Metrics => {
  const all = [...events];
  const entries = Object.entries(METRICS) as [string, Metric<unknown, unknown>][];
  return Object.fromEntries(entries.map(([name, metric]) => [name, fold(metric, all)])) as Metrics;
};
