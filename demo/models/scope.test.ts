import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isFollowUp, isWordProblem } from './scope.ts';

const root = join(import.meta.dirname, '../..');

test('every problem of the family is one, and questions of another kind are not', () => {
  for (const file of ['problems.json', 'problems-hard.json']) {
    const problems: readonly { question: string }[] = JSON.parse(readFileSync(join(root, 'public', file), 'utf8'));
    expect(problems.filter(({ question }) => !isWordProblem(question))).toEqual([]);
  }
  for (const other of [
    'Who was Ada Lovelace?',
    'Why is the sky blue?',
    'Write a function that adds 2 numbers.',
    'Translate “I have 3 cats” into French.',
    'What is the capital of France?',
    'Tell me about 1984.',
    'Hello!',
    '',
  ])
    expect(isWordProblem(other), other).toBe(false);
  expect(['And now?', 'How many has Leo then?', 'Who wrote Faust?'].map(isFollowUp)).toEqual([true, true, false]);
});
