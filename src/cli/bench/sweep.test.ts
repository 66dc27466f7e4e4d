import { expect, it } from 'vitest';
import type { NumberKnob } from '../../decode/core/knobs.ts';
import { readEntry } from './entries.ts';
import type { Asked, OneStep, Steps } from './one-steps.ts';
import { readPrompts } from './prompts.ts';
import { areaUnderCurve, beyond, sweep } from './sweep.ts';

const PROBLEMS = 12;
const STEPS = 4;
const [DRAFTED, ESCALATED] = [1, 2];

/** A score that depends on the problem and on who wrote every step before. */
const scoreOf = (problem: number, answer: readonly number[]): number => {
  let hash = problem + 1;
  for (const by of answer) hash = Math.imul(hash ^ by, 0x9e3779b1) >>> 0;
  return ((hash >>> 8) % 997) / 997;
};

/** An answer is right where the target wrote the second step, or the first scored above .6. */
const lastText = (problem: number, answer: readonly number[]): string =>
  `The answer is ${answer[1] === ESCALATED || scoreOf(problem, []) > 0.6 ? 4 : 5}.`;

/** Every step is one token, which says who wrote it. */
const steps = (): Steps & { readonly asked: Set<string> } => {
  const asked = new Set<string>();
  const write = async (by: number, { seed }: Asked, answer: readonly number[]): Promise<OneStep> => {
    asked.add(`${by} ${seed} ${answer}`);
    const stopped = answer.length === STEPS - 1;
    const text = stopped ? lastText(seed, [...answer, by]) : `${by}. `;
    return { tokens: [by], text, stopped, score: by === DRAFTED ? scoreOf(seed, answer) : null, written: by - 1 };
  };
  return {
    asked,
    drafted: (_, asked, answer) => write(DRAFTED, asked, answer),
    escalated: (_, asked, answer) => write(ESCALATED, asked, answer),
  };
};

const problems = readPrompts(Array(PROBLEMS).fill('{"question":"q","result":"4"}').join('\n'), 'f');
const asked = problems.map((_, seed) => ({ prompt: [7], seed, maxTokens: 100 }));

it.each([
  ['rsd', 'delta', true],
  ['arbitrage', 'tau', false],
])('finds what %s does at every threshold', async (id, knob, low) => {
  const entry = readEntry(id);
  const { points, chosen, initial, target_accuracy } = await sweep(entry, {
    problems,
    asked,
    keep: 0.9,
    sure: 0,
    steps: steps(),
  });
  expect(points.length).toBeGreaterThan(10);
  expect(target_accuracy).toBe(1);
  const { min, max, step, initial: byDefault } = entry.system.knobs[knob] as NumberKnob;
  for (let i = 0; i <= Math.round((max - min) / step); i++) {
    const threshold = Number((min + i * step).toFixed(2));
    const answers = problems.map((_, problem) => {
      const answer: number[] = [];
      while (answer.length < STEPS) {
        const score = scoreOf(problem, answer);
        answer.push((low ? score >= threshold : score <= threshold) ? DRAFTED : ESCALATED);
      }
      return answer;
    });
    const escalated = answers.flat().filter((by) => by === ESCALATED).length / (PROBLEMS * STEPS);
    const accuracy = answers.filter((answer, problem) => lastText(problem, answer).includes('4')).length / PROBLEMS;
    const expected = { escalation_rate: escalated, accuracy, target_tokens: escalated };
    expect(points.findLast((each) => (low ? each.threshold <= threshold : each.threshold >= threshold))).toMatchObject(
      expected,
    );
    if (threshold === byDefault) expect(initial).toMatchObject({ threshold, ...expected });
    if (i % 40 !== 20) continue;
    const one = { problems, asked, keep: 0.9, sure: 0, steps: steps() };
    const alone = await sweep(readEntry(`${id}:${knob}=${threshold}`), one);
    expect(alone.points).toMatchObject([{ threshold, ...expected }]);
    expect(alone.initial).toEqual(alone.points[0]);
  }
  const from = points.indexOf(chosen as (typeof points)[number]);
  expect(points.slice(from).every((point) => (point.accuracy_ratio ?? 0) >= 0.9)).toBe(true);
  if (from > 0) expect(points[from - 1]?.accuracy_ratio).toBeLessThan(0.9);
});

it('chooses more strictly the surer it must be', async () => {
  const chosen = async (sure: number) => {
    const { points, chosen } = await sweep(readEntry('rsd'), { problems, asked, keep: 0.8, sure, steps: steps() });
    const from = points.indexOf(chosen as (typeof points)[number]);
    const sureAt = (i: number) => points[i]?.sure ?? 0;
    expect(points.slice(from).every((_, i) => sureAt(from + i) >= sure)).toBe(true);
    return { from, sure: sureAt(from), before: sureAt(from - 1) };
  };
  const [plain, sure] = [await chosen(0), await chosen(0.95)];
  expect(plain.sure).toBeLessThan(0.95);
  expect(sure.from).toBeGreaterThan(plain.from);
  expect(sure.before).toBeLessThan(0.95);
});

it('ends an answer where the model ends it, at the most steps and at the most tokens', async () => {
  for (const [name, maxTokens, last] of [
    ['rsd', 100, STEPS - 1],
    ['rsd:max-steps=2', 100, 1],
    ['rsd', 3, 2],
  ] as const) {
    const seen = steps();
    await sweep(readEntry(name), {
      problems,
      asked: asked.map((one) => ({ ...one, maxTokens })),
      keep: 1,
      sure: 0,
      steps: seen,
    });
    const written = Math.max(...[...seen.asked].map((each) => each.split(/[ ,]/).slice(2).filter(Boolean).length));
    expect(written).toBe(last);
  }
});

it('knows how well scores tell steps apart', () => {
  expect(areaUnderCurve([0.1, 0.2], [0.3, 0.4])).toBe(1);
  expect(areaUnderCurve([0.3, 0.4], [0.1, 0.2])).toBe(0);
  expect(areaUnderCurve([0.2, 0.2], [0.2, 0.2])).toBe(0.5);
  expect(areaUnderCurve([0.1, 0.3], [0.2, 0.3, 0.4])).toBeCloseTo(4.5 / 6);
  expect(areaUnderCurve([], [0.2])).toBeNull();
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
