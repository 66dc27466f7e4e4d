import { expect, test } from 'vitest';
import { SYSTEMS } from '../../src/index.ts';
import { roleName } from '../models/family.ts';
import { withArticle } from './words.ts';

test('the models that systems need have the article of their names as they are said', () => {
  const roles = new Set(SYSTEMS.flatMap(({ needs }) => needs));
  const named = [...roles].map((role) => withArticle(roleName(role)));
  expect(named).toEqual(expect.arrayContaining(['a target', 'a draft model', 'an EAGLE-3 drafter', 'an MTP layer']));
});
