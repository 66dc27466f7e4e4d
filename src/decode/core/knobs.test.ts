import { describe, expect, it } from 'vitest';
import type { OutriderError } from '../../base/errors.ts';
import { type Knobs, parseKnob, resolveKnobs } from './knobs.ts';

const knobs = {
  gamma: { kind: 'number', label: 'γ', min: 1, max: 8, step: 1, initial: 5, most: 'Nine are too many.' },
  lambda: { kind: 'number', label: 'λ', min: 0, max: 1, step: 0.05, initial: 0.5 },
  draft: { kind: 'choice', label: 'Drafts', options: ['greedy', 'sampled'], initial: 'sampled' },
  candidates: { kind: 'numbers', label: 'Sizes', min: 1, max: 32, initial: [1, 8] },
} as const satisfies Knobs;
const system = { id: 'x', knobs };

const problem = (act: () => unknown): OutriderError => {
  try {
    act();
  } catch (error) {
    return error as OutriderError;
  }
  throw new Error('it was accepted');
};

describe('knobs', () => {
  it('begin as declared and take what is given', () => {
    expect(resolveKnobs(system)).toEqual({ gamma: 5, lambda: 0.5, draft: 'sampled', candidates: [1, 8] });
    const given = { gamma: 8, lambda: 0.33, draft: 'greedy', candidates: [4] };
    expect(resolveKnobs(system, given)).toEqual(given);
  });

  it.each([
    [{ temperature: 1 }, 'x has no knob "temperature"', 'Its knobs are: gamma, lambda, draft, candidates.'],
    [{ toString: 1 }, 'x has no knob "toString"', 'Its knobs are: gamma, lambda, draft, candidates.'],
    [{ gamma: 0 }, 'x: gamma must be a whole number from 1 to 8, not 0', ''],
    [{ gamma: 9 }, 'x: gamma must be a whole number from 1 to 8, not 9', 'Nine are too many.'],
    [{ gamma: 2.5 }, 'x: gamma must be a whole number from 1 to 8, not 2.5', ''],
    [{ gamma: '5' }, 'x: gamma must be a whole number from 1 to 8, not "5"', ''],
    [{ gamma: [5] }, 'x: gamma must be a whole number from 1 to 8, not 5', ''],
    [{ lambda: Number.NaN }, 'x: lambda must be a number from 0 to 1, not NaN', ''],
    [{ draft: 'best' }, 'x: draft must be one of greedy, sampled, not "best"', ''],
    [{ draft: Symbol('best') as never }, 'x: draft must be one of greedy, sampled, not Symbol(best)', ''],
    [{ candidates: [] }, 'x: candidates must be whole numbers from 1 to 32, not nothing', ''],
    [{ candidates: [1, 33] }, 'x: candidates must be whole numbers from 1 to 32, not 1,33', ''],
    [{ candidates: 4 }, 'x: candidates must be whole numbers from 1 to 32, not 4', ''],
  ])('refuse %j', (given, message, hint) => {
    expect(problem(() => resolveKnobs(system, given))).toMatchObject({ code: 'bad-request', message, hint });
  });

  it('are read as people type them', () => {
    expect(parseKnob(system, 'gamma', '3')).toBe(3);
    expect(parseKnob(system, 'draft', 'greedy')).toBe('greedy');
    expect(parseKnob(system, 'candidates', '1, 4,16')).toEqual([1, 4, 16]);
    expect(parseKnob(system, 'lambda', '5e-1')).toBe(0.5);
  });

  it.each([
    ['gamma', '0x3', 'x: gamma must be a whole number from 1 to 8, not "0x3"'],
    ['gamma', 'x', 'x: gamma must be a whole number from 1 to 8, not "x"'],
    ['gamma', '', 'x: gamma must be a whole number from 1 to 8, not ""'],
    ['lambda', '0.1,0.2', 'x: lambda must be a number from 0 to 1, not "0.1,0.2"'],
    ['draft', '1', 'x: draft must be one of greedy, sampled, not "1"'],
    ['candidates', '1,,2', 'x: candidates must be whole numbers from 1 to 32, not "1,,2"'],
  ])('refuse %s=%s, typed, with the right values', (name, text, message) => {
    expect(problem(() => parseKnob(system, name, text))).toMatchObject({ code: 'bad-request', message });
  });
});
