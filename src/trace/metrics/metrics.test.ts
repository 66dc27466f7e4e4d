import { describe, expect, it } from 'vitest';
import {
  acceptanceLength,
  committedTokens,
  type EventOf,
  fold,
  METRICS,
  measure,
  type TraceEvent,
  usage,
} from '../index.ts';

const commit = (at: number, round: number, source: EventOf<'commit'>['source']): TraceEvent => ({
  at,
  type: 'commit',
  round,
  tokens: source.map((_, i) => 100 * round + i),
  source,
  text: `r${round} `,
  logprobs: null,
  ms: 5,
});

/** A run with two speculative rounds and two routed steps, as recordings had them before steps carried their tokens. */
const RUN: readonly TraceEvent[] = [
  { at: 1, type: 'queued', ahead: 2 },
  { at: 10, type: 'run', version: 1, system: 'x', knobs: { gamma: 3 }, seed: 7, prompt: [1, 2, 3, 4] },
  { at: 20, type: 'prefill', by: 'draft', rows: 4, reused: 0, ms: 4 },
  { at: 30, type: 'prefill', by: 'target', rows: 3, reused: 1, ms: 10 },
  commit(31, 0, ['sampled']),
  { at: 31, type: 'kernels', round: 0, dispatches: 40, submits: 1, readbacks: 1, spans: [] },
  { at: 40, type: 'draft', round: 1, by: 'draft', tokens: [0, 100, 101, 9], parents: [-1, 0, 1, 2], passes: 3, ms: 3 },
  { at: 50, type: 'verify', round: 1, by: 'target', path: [0, 1, 2], next: 102, source: 'corrected', ms: 9 },
  commit(51, 1, ['drafted', 'drafted', 'corrected']),
  { at: 51, type: 'kernels', round: 1, dispatches: 30, submits: 2, readbacks: 1, spans: [{ name: 'matmul', ms: 2 }] },
  { at: 60, type: 'draft', round: 2, by: 'lookup', tokens: [102, 8], parents: [-1, 0], passes: 0, ms: 0 },
  { at: 70, type: 'verify', round: 2, by: 'target', path: [0], next: 200, source: 'corrected', ms: 9 },
  commit(81, 2, ['corrected']),
  { at: 82, type: 'step', step: 1, by: 'draft', tokens: 5, ms: 4 },
  { at: 83, type: 'route', step: 1, by: 'prm', to: 'target', score: 0.2, threshold: 0.7, reason: 'score below' },
  { at: 84, type: 'step', step: 2, by: 'target', tokens: 6, ms: 8 },
  { at: 85, type: 'route', step: 2, by: 'prm', to: 'draft', score: 0.9, threshold: 0.7, reason: 'score above' },
  { at: 90, type: 'done', finish_reason: 'length', stop: null, text: 'r0 r1 r2 ' },
];

describe('trace', () => {
  it('survives JSON lines: a replay gives the same events and the same figures', () => {
    const lines = RUN.map((event) => JSON.stringify(event)).join('\n');
    const replayed = lines.split('\n').map((line) => JSON.parse(line) as TraceEvent);
    expect(replayed).toEqual(RUN);
    expect(measure(replayed)).toEqual(measure(RUN));
  });

  it('folds into every figure of generate --json', () => {
    expect(measure(RUN)).toEqual({
      prompt_tokens: 4,
      reused_tokens: 1,
      tokens: 5,
      rounds: 2,
      tokens_per_round: 2,
      acceptance_lengths: [3, 1],
      accepted: 2,
      drafted: 4,
      wasted: 2,
      target_passes: 2,
      draft_passes: 3,
      passes: 5,
      steps: 2,
      escalated: 1,
      escalation_rate: 0.5,
      target_tokens: 6,
      judge_ms: 0,
      prefill_ms: 14,
      decode_ms: 50,
      tokens_per_second: 80,
      dispatches: 70,
      submits: 3,
      readbacks: 2,
    });
  });

  it('has an acceptance length only where drafts were accepted token by token', () => {
    const unrouted = RUN.filter(({ type }) => type !== 'route');
    expect(fold(acceptanceLength, unrouted)).toBe(2);
    expect(fold(acceptanceLength, RUN)).toBeNull();
    const plain = unrouted.map(
      (event): TraceEvent =>
        event.type === 'commit' ? { ...event, source: event.source.map(() => 'sampled' as const) } : event,
    );
    expect(fold(acceptanceLength, plain)).toBeNull();
  });

  it('has a figure for a run that was aborted before its first token', () => {
    const metrics = measure(RUN.slice(0, 2));
    expect(metrics).toMatchObject({ tokens: 0, rounds: 0, tokens_per_round: null, tokens_per_second: null });
  });

  it('measures a system without a first token from the end of its prefill', () => {
    const events = RUN.filter((event) => !(event.type === 'commit' && event.round === 0));
    expect(fold(METRICS.decode_ms, events)).toBe(51);
  });

  it('counts the passes of an ensemble by member', () => {
    const draft = { at: 1, type: 'draft', round: 1, tokens: [1, 2], parents: [-1, 0], ms: 1 } as const;
    const verify = {
      at: 2,
      type: 'verify',
      round: 1,
      by: 'target',
      path: [0],
      next: 3,
      source: 'bonus',
      ms: 1,
    } as const;
    const events: TraceEvent[] = [
      { ...draft, by: 'also-1', passes: 3 },
      { ...draft, by: 'target', passes: 1 },
      { ...verify, checked: ['also-1'], passes: { 'also-2': 2, target: 4 } },
      { ...verify, checked: [], passes: {} },
    ];
    expect(measure(events)).toMatchObject({ target_passes: 5, draft_passes: 3, passes: 10 });
  });

  it('lists the committed tokens and counts usage, drafts apart', () => {
    expect(committedTokens(RUN)).toEqual([0, 100, 101, 102, 200]);
    expect(usage(measure(RUN))).toEqual({
      prompt_tokens: 4,
      completion_tokens: 5,
      total_tokens: 9,
      prompt_tokens_details: { cached_tokens: 1 },
      completion_tokens_details: { accepted_prediction_tokens: 2, rejected_prediction_tokens: 2 },
    });
  });
});

/** A step of the draft, kept; a step of the target, of which a nested system drafted a part; one of two of its own. */
const STEPS: readonly TraceEvent[] = [
  { at: 1, type: 'run', version: 1, system: 'x', knobs: {}, seed: 7, prompt: [1, 2, 3, 4] },
  { at: 10, type: 'prefill', by: 'draft', rows: 2, reused: 2, ms: 4 },
  { at: 20, type: 'candidates', round: 1, step: 1, by: 'draft', tokens: [[5, 6]], written: 4, passes: 4, ms: 9 },
  {
    at: 22,
    type: 'route',
    round: 1,
    step: 1,
    by: 'prm',
    to: 'draft',
    score: 0.9,
    threshold: 0.7,
    reason: 'good',
    judge_ms: 2,
  },
  { at: 22, type: 'step', step: 1, by: 'draft', tokens: 2, ids: [5, 6], ends: 'delimiter', ms: 11 },
  commit(22, 1, ['drafted', 'drafted']),
  { at: 30, type: 'candidates', round: 2, step: 2, by: 'draft', tokens: [[7]], written: 4, passes: 4, ms: 8 },
  {
    at: 33,
    type: 'route',
    round: 2,
    step: 2,
    by: 'prm',
    to: 'target',
    score: 0.1,
    threshold: 0.7,
    reason: 'bad',
    judge_ms: 3,
  },
  { at: 40, type: 'prefill', by: 'target', rows: 6, reused: 0, ms: 7, step: 2 },
  { at: 41, type: 'draft', round: 2, by: 'dflash', tokens: [6, 1, 1], parents: [-1, 0, 1], passes: 1, ms: 1, step: 2 },
  { at: 44, type: 'verify', round: 2, by: 'target', path: [0, 1], next: 8, source: 'corrected', ms: 3, step: 2 },
  { at: 44, type: 'step', step: 2, by: 'target', tokens: 2, ids: [1, 8], ends: 'delimiter', ms: 22 },
  commit(44, 2, ['routed', 'routed']),
  { at: 50, type: 'candidates', round: 3, step: 3, by: 'target', tokens: [[1, 2], [3]], written: 6, passes: 5, ms: 6 },
  { at: 50, type: 'step', step: 3, by: 'target', tokens: 1, ids: [3], ends: 'stop', ms: 6, written: 6 },
  commit(50, 3, ['routed']),
  { at: 51, type: 'done', finish_reason: 'stop', stop: 3, text: '' },
];

describe('steps', () => {
  it('counts what the draft wrote for nothing, and what the target wrote, kept or not', () => {
    expect(measure(STEPS)).toMatchObject({
      tokens: 5,
      accepted: 2,
      drafted: 8,
      wasted: 6,
      draft_passes: 9,
      target_passes: 6,
      steps: 3,
      escalated: 1,
      escalation_rate: 2 / 3,
      target_tokens: 8,
      judge_ms: 5,
    });
  });

  it("takes a nested system's prefill for a part of decoding", () => {
    expect(measure(STEPS)).toMatchObject({ prefill_ms: 4, decode_ms: 40, reused_tokens: 2 });
  });

  it("counts the passes of a nested system's prefill, and none over the prompt", () => {
    const events = STEPS.map((event) => (event.type === 'prefill' ? { ...event, passes: 3 } : event));
    const { target_passes, draft_passes, passes } = measure(STEPS); // as old recordings are, without the number
    expect(measure(events)).toMatchObject({ target_passes: target_passes + 3, draft_passes, passes: passes + 3 });
    const nested = { at: 34, type: 'prefill', by: 'draft', rows: 40, reused: 0, passes: 2, ms: 1, step: 2 } as const;
    expect(measure([...STEPS, nested])).toMatchObject({ target_passes, draft_passes: draft_passes + 2 });
  });
});

it('folds a trace of 200 000 commits in seconds: every metric is linear', () => {
  const events = Array.from({ length: 200_000 }, (_, i) => commit(i, i, ['drafted', 'bonus']));
  const start = performance.now();
  expect(measure(events).acceptance_lengths).toHaveLength(199_999);
  expect(performance.now() - start).toBeLessThan(5000);
});
