import { expect, it } from 'vitest';
import { readModelName } from './model-source.ts';

it('a model may be named with a precision of its own', () => {
  expect(readModelName('target@q4')).toEqual({ name: 'target', precision: 'q4' });
  expect(readModelName('models/a@b@f32')).toEqual({ name: 'models/a@b', precision: 'f32' });
  for (const name of ['target', 'models/a@b', 'a@q5', 'q8']) expect(readModelName(name)).toEqual({ name });
});
