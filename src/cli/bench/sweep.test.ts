import { expect, it } from 'vitest';
import type { NumberKnob } from '../../decode/core/knobs.ts';
import type { TraceEvent } from '../../trace/index.ts';
import { readEntry } from './entries.ts';
import { readPrompts } from './prompts.ts';
import { beyond, sweep, targetAnswers } from './sweep.ts';

const PROBLEMS = 12;
const STEPS = 4;

/** A score that depends on the problem and on who wrote every step before. */
const scoreOf = (problem: number, path: string): number => {
  let hash = problem + 1;
  for (const letter of path) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1) >>> 0;
  return ((hash >>> 8) % 997) / 997;
};

/** An answer is right where the target wrote the second step, or the first scored above .6. */
const runAt = (problem: number, threshold: number | null, low: boolean): TraceEvent[] => {
  const events: TraceEvent[] = [];
  let path = '';
  for (let step = 1; step <= STEPS; step++) {
    const score = scoreOf(problem, path);
    const kept = threshold !== null && (low ? score >= threshold : score <= threshold);
    const by = kept ? 'draft' : 'target';
    const told = { at: step, step, reason: '', threshold: threshold ?? 0 };
    if (threshold !== null) events.push({ ...told, type: 'route', by: 'prm', to: by, score });
    events.push({ at: step, type: 'step', step, by, tokens: 5, ms: 1 });
    if (threshold === null)
      events.push({
        at: step,
        type: 'commit',
        round: step,
        tokens: [1, 2, 3, 4, 5],
        source: [],
        text: '',
        logprobs: null,
        ms: 1,
      });
    path += kept ? 'd' : 't';
  }
  const right = path[1] === 't' || scoreOf(problem, '') > 0.6;
  events.push({ at: 9, type: 'done', finish_reason: 'stop', stop: null, text: `The answer is ${right ? 4 : 5}.` });
  return events;
};

const prompts = readPrompts(Array(PROBLEMS).fill('{"question":"q","result":"4"}').join('\n'), 'f');

it.each([
  ['rsd', 'delta', true],
  ['arbitrage', 'tau', false],
])('finds what %s does at every threshold', async (id, knob, low) => {
  const entry = readEntry(id);
  let runs = 0;
  const options = {
    prompts,
    keep: 0.9,
    run: async (index: number, knobs: Readonly<Record<string, unknown>> | null) => {
      runs++;
      return runAt(index, knobs ? Number(knobs[knob]) : null, low);
    },
  };
  const target = await targetAnswers(options);
  const { points, chosen } = await sweep(entry, target, options);
  expect(runs).toBeLessThan(PROBLEMS * 12);
  expect(points.length).toBeGreaterThan(10);
  const { min, max, step } = entry.system.knobs[knob] as NumberKnob;
  for (let i = 0; i <= Math.round((max - min) / step); i++) {
    const threshold = Number((min + i * step).toFixed(2));
    const all = prompts.map((_, problem) => runAt(problem, threshold, low));
    const steps = all.flat().filter((event) => event.type === 'step');
    const escalated = steps.filter((event) => event.by === 'target').length / steps.length;
    const accuracy = all.filter((events) => JSON.stringify(events.at(-1)).includes('is 4.')).length / PROBLEMS;
    const point = points.findLast((each) => (low ? each.threshold <= threshold : each.threshold >= threshold));
    expect(point).toMatchObject({ escalation_rate: escalated, accuracy, target_tokens: escalated });
  }
  const from = points.indexOf(chosen as (typeof points)[number]);
  expect(points.slice(from).every((point) => (point.accuracy_ratio ?? 0) >= 0.9)).toBe(true);
  if (from > 0) expect(points[from - 1]?.accuracy_ratio).toBeLessThan(0.9);
});

it('goes to the next threshold of the grid, on either side', () => {
  const grid = { kind: 'number', label: '', min: 0, max: 1, step: 0.01, initial: 0 } as const;
  expect(beyond(0.7, grid, 'low')).toBe(0.71);
  expect(beyond(0.704, grid, 'low')).toBe(0.71);
  expect(beyond(1, grid, 'low')).toBeNull();
  expect(beyond(0.7, grid, 'high')).toBe(0.69);
  expect(beyond(0.704, grid, 'high')).toBe(0.7);
  expect(beyond(0, grid, 'high')).toBeNull();
  expect(beyond(-3.217, { ...grid, min: -30, max: 0 }, 'low')).toBe(-3.21);
});
