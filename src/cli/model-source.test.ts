import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readModelName } from './model-source.ts';

it('a model may be named with a precision of its own', () => {
  expect(readModelName('target@q4')).toEqual({ name: 'target', precision: 'q4' });
  expect(readModelName('models/a@b@f32')).toEqual({ name: 'models/a@b', precision: 'f32' });
  for (const name of ['target', 'models/a@b', 'a@q5', 'q8']) expect(readModelName(name)).toEqual({ name });
});

it('a path that ends like a precision is a name', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'outrider-')), 'model@q8');
  mkdirSync(path);
  expect(readModelName(path)).toEqual({ name: path });
  expect(readModelName(`${path}@q4`)).toEqual({ name: path, precision: 'q4' });
});
