import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSuite, SUITE_NAMES, suiteFile } from './suites.ts';

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
