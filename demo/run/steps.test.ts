import { describe, expect, it } from 'vitest';
import { type ThresholdRule as Rule, type TraceEvent, withNewNames } from '../../src/trace/index.ts';
import { isEscalated, rangeOf, readSteps, stepText, whatIf } from './steps.ts';

const at = 0;
const draft = (step: number, ...texts: string[]): TraceEvent => ({
  at,
  type: 'candidates',
  round: step,
  step,
  by: 'draft',
  tokens: texts.map(() => [1, 2]),
  pieces: texts.map((text) => [text.slice(0, 2), text.slice(2)]),
  written: 8,
  passes: 8,
  ms: 1,
});
const route = (step: number, to: 'draft' | 'target', score: number | null, chosen = 0): TraceEvent => ({
  at,
  type: 'route',
  step,
  by: 'prm',
  to,
  score,
  threshold: 0.7,
  reason: 'why',
  chosen,
  judge_ms: 2,
});
const step = (number: number, by: 'draft' | 'target', text: string): TraceEvent => ({
  at,
  type: 'step',
  step: number,
  by,
  tokens: 2,
  ids: [1, 2],
  pieces: [text],
  ends: 'delimiter',
  ms: 5,
});
const commit = (text: string): TraceEvent => ({
  at,
  type: 'commit',
  round: 1,
  tokens: [1],
  source: ['routed'],
  text,
  pieces: [text],
  logprobs: null,
  ms: 1,
});

const run = (system: string, facts: object = {}): TraceEvent => ({
  ...{ at, type: 'run', version: 1, system, knobs: {}, seed: 0, prompt: [] },
  ...facts,
});

/** One accepted step, the second of two candidates; one escalated step, which the target writes in two rounds. */
const EVENTS = [
  draft(1, 'one', 'uno'),
  route(1, 'draft', 0.9, 1),
  step(1, 'draft', 'uno'),
  commit('uno'),
  draft(2, 'tow'),
  route(2, 'target', 0.2),
  commit('t'),
  commit('wo'),
  step(2, 'target', 'two'),
];

describe('steps', () => {
  it('are shown without surrounding space and end tokens', () => {
    expect(['so 5 < 7.\n\n', 'The answer is 3.<eos>', 'Done.<|im_end|>\n', 'a</s>'].map(stepText)).toEqual([
      'so 5 < 7.',
      'The answer is 3.',
      'Done.',
      'a',
    ]);
  });

  it('are read from events: what was drafted, chosen, decided, committed', () => {
    const reader = readSteps(EVENTS);
    expect(reader.steps).toHaveLength(2);
    expect(reader.steps[0]).toMatchObject({
      draft: 'uno',
      candidates: ['one', 'uno'],
      text: 'uno',
      by: 'draft',
      written: 0,
      ms: 5,
    });
    expect(reader.steps[1]).toMatchObject({ draft: 'tow', candidates: ['tow'], text: 'two', by: 'target', written: 2 });
    expect(reader.steps[1]?.route).toMatchObject({ score: 0.2, threshold: 0.7 });
  });

  it('grow while the target writes them', () => {
    const reader = readSteps(EVENTS.slice(0, 7));
    expect(reader.steps[1]).toMatchObject({ text: 't', by: 'target', ms: null });
  });

  it('take from the run whether high or low scores escalate', () => {
    expect(readSteps([run('new', { escalates: 'high', threshold: 'x' })]).rule?.escalates).toBe('high');
    expect(readSteps([withNewNames(run('rsd'))]).rule?.escalates).toBe('low');
    expect(readSteps([withNewNames(run('arbitrage'))]).rule?.escalates).toBe('high');
    expect(readSteps([run('majority')]).rule).toBeNull();
  });

  it('are decided again under another threshold, in the direction of the rule', () => {
    const reader = readSteps(EVENTS);
    const [low, high] = (['low', 'high'] as const).map((escalates) => ({ escalates, threshold: 'x' })) as [Rule, Rule];
    expect(whatIf(low, reader.steps, 0.7)).toEqual({ escalated: 1, changed: [] });
    expect(whatIf(low, reader.steps, 0.1)).toEqual({ escalated: 0, changed: [2] });
    expect(whatIf(low, reader.steps, 0.95)).toEqual({ escalated: 2, changed: [1] });
    expect([isEscalated(low, 0.7, 0.7), isEscalated(high, 0.7, 0.7)]).toEqual([false, false]);
    expect([isEscalated(low, 0.6, 0.7), isEscalated(high, 0.8, 0.7)]).toEqual([true, true]);
    expect(isEscalated(high, null, 1)).toBe(true);
    expect(rangeOf(reader.steps)).toEqual({ min: 0, max: 1, threshold: 0.7 });
    expect(rangeOf([])).toBeNull();
  });
});
