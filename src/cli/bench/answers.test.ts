import { describe, expect, it } from 'vitest';
import { givesAnswer, publishedAnswer } from './answers.ts';
import { isRight, readPrompts } from './prompts.ts';

describe('answers of published sets', () => {
  it('are read from each set’s own form', () => {
    expect(publishedAnswer({ question: 'q', answer: '1 + 1 = 2\n#### 1,002' })).toEqual({
      result: '1,002',
      form: 'number',
    });
    expect(publishedAnswer({ Body: 'b', Question: 'q', Answer: 51.0 })).toEqual({ result: '51', form: 'number' });
    expect(publishedAnswer({ problem: 'p', answer: '\\frac{1}{2}' })).toEqual({
      result: '\\frac{1}{2}',
      form: 'boxed',
    });
    expect(publishedAnswer({ question: 'q', answer: 'The answer is 4.' })).toBeNull();
  });

  it.each([
    ['so she pays $1,002.', '1002', true],
    ['24 / 2 = 12 and 12 - 3 = 9', '9', true],
    ['That is 9.50 dollars', '9.5', true],
    ['It is -3', '3', false],
    ['first 9, then 10', '9', false],
    ['no number', '9', false],
  ])('the last number of %j is %s: %s', (text, result, right) => {
    expect(givesAnswer(text, result, 'number')).toBe(right);
  });

  it.each([
    ['thus $\\boxed{\\dfrac{1}{2}}$.', '\\frac{1}{2}', true],
    ['\\boxed{1} no, \\boxed{\\left( 3, \\frac{\\pi}{2} \\right)}', '\\left(3,\\frac{\\pi}{2}\\right)', true],
    ['\\boxed{2', '2', false],
    ['the answer is 2', '2', false],
  ])('what is boxed in %j is %s: %s', (text, result, right) => {
    expect(givesAnswer(text, result, 'boxed')).toBe(right);
  });

  it('are checked where a benchmark asks for it', () => {
    const line = '[{"Body":"Dan had 3 dollars","Question":"How many now?","Answer":3.0}]';
    const [timed] = readPrompts(line, 'f');
    expect(timed).toEqual({
      prompt: { messages: [{ role: 'user', content: 'Dan had 3 dollars. How many now?' }] },
      result: null,
    });
    const [judged] = readPrompts(line, 'f', { answers: true });
    expect(judged && isRight(judged, 'He has 3')).toBe(true);
    expect(judged && isRight(judged, 'He has 4')).toBe(false);
    expect(() => readPrompts('{"prompt":"x"}', 'f', { answers: true })).toThrow('f:1 has no answer');
  });
});
