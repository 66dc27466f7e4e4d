// What the page states about files that it does not make: how many weights each bundled model has, what problems are about.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLES, type Problem } from '../run/problems.ts';
import { BUNDLED } from './bundled-models.ts';

const countWeights = (file: string): number => {
  const bytes = readFileSync(file);
  const length = Number(bytes.readBigUInt64LE(0));
  const header: Record<string, { shape?: number[] }> = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  return Object.values(header).reduce((sum, { shape }) => sum + (shape?.reduce((a, b) => a * b, 1) ?? 0), 0);
};

test.each(BUNDLED)('$name has $weights weights', ({ name, weights }) => {
  expect(countWeights(join(import.meta.dirname, `../../public/models/${name}/model.safetensors`))).toBe(weights);
});

test('examples are what they are called', () => {
  const problems: Problem[] = JSON.parse(readFileSync(join(import.meta.dirname, '../../public/problems.json'), 'utf8'));
  const about = EXAMPLES.map(({ index }) => problems[index]?.question);
  expect(about).toEqual([/trees/, /dollars/, /stones/].map((word) => expect.stringMatching(word)));
});
