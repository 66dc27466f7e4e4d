// A file that was renamed would lose its place in the order without a word.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LONGEST } from './longest-first.mjs';
import { root } from './steps.mjs';

test('every file that is to run first exists', () => {
  expect(LONGEST.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
