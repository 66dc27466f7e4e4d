// What the page states about the bundled files: the number of weights of each model, and the topics of the examples.
import { readFileSync, statSync } from 'node:fs';
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

test('“Put this on your page” states what the widget loads', () => {
  const of = (path: string): string => join(import.meta.dirname, '../..', path);
  const bytes = ['target', 'dflash'].map((name) => statSync(of(`public/models/${name}/model.safetensors`)).size);
  const megabytes = ((bytes[0] ?? 0) + (bytes[1] ?? 0)) / 1e6;
  expect(readFileSync(of('demo/index.html'), 'utf8')).toContain(`the bundled models, ${megabytes.toFixed(1)} MB.`);
});

test('the examples are about what their buttons say', () => {
  const problems: Problem[] = JSON.parse(readFileSync(join(import.meta.dirname, '../../public/problems.json'), 'utf8'));
  const about = EXAMPLES.map(({ index }) => problems[index]?.question);
  expect(about).toEqual([/trees/, /dollars/].map((word) => expect.stringMatching(word)));
});
