import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { BenchPrompt } from './prompts.ts';
import { readSuite, SPLITS, SUITE_NAMES, suiteFile } from './suites.ts';

const read = (file: string) => readFileSync(new URL(`../../../public/${file}`, import.meta.url), 'utf8');
const problems = read('problems.json');

test('every suite has prompts; held-out problems have answers', () => {
  for (const name of SUITE_NAMES) {
    const prompts = readSuite(name, read(suiteFile(name)));
    expect(prompts.length).toBeGreaterThan(5);
    expect(prompts.every(({ prompt }) => 'messages' in prompt && prompt.messages.at(-1)?.role === 'user')).toBe(true);
    expect(prompts.every(({ result }) => (result !== null) === name.startsWith('bundled-math'))).toBe(true);
  }
});

test('a problem that is asked twice has its answer in between', () => {
  const [first] = readSuite('bundled-copy', problems);
  const [known] = JSON.parse(problems) as { question: string; answer: string }[];
  expect(first?.prompt).toEqual({
    messages: [
      { role: 'user', content: known?.question },
      { role: 'assistant', content: known?.answer },
      { role: 'user', content: known?.question },
    ],
  });
});

/** What was trained on and what was not is decided by a problem's arithmetic, so two problems that share it are one. */
const arithmetic = ({ prompt, answer = '' }: BenchPrompt): string => {
  const [question] = 'messages' in prompt ? prompt.messages : [];
  const numbers = `${question?.content}`.match(/\d+/g) ?? [];
  const equations = answer.match(/\d+ [-+*/] \d+ = \d+/g) ?? [];
  return `${[...numbers, ...equations]}`;
};

test('no validation problem is a held-out one', () => {
  const [headline, validation] = SPLITS.map((split) =>
    (['bundled-math', 'bundled-math-hard'] as const).map((name) => readSuite(name, read(suiteFile(name, split)))),
  );
  for (const problems of [...(headline ?? []), ...(validation ?? [])]) expect(problems).toHaveLength(600);
  const measured = new Set(headline?.flat().map(arithmetic));
  expect(measured.size).toBeGreaterThan(1100);
  expect(validation?.flat().filter((problem) => measured.has(arithmetic(problem)))).toEqual([]);
});
