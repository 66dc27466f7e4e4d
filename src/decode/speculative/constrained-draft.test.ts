import { expect, test } from 'vitest';
import { ConstrainedText } from '../core/constrained-text.ts';
import { constrainedDraft } from './constrained-draft.ts';

/** Texts of digits; after a 7 comes 8, then 9; 0 ends. A 3 is never allowed. */
const constraint = new ConstrainedText(
  {
    allows: (_, token) => token !== 3,
    allowed: async () => new Uint32Array(1),
    forced: (text) => (text.at(-1) === 7 ? 8 : text.at(-1) === 8 && text.at(-2) === 7 ? 9 : null),
    ends: async () => false,
    complete: () => false,
    stopTokens: new Set([0]),
  },
  () => new Error('a dead end'),
);
const drafted = (tokens: number[], parents: number[], forced: readonly number[] = [], most = 15) =>
  constrainedDraft({ tokens, parents }, 5, { constraint, answer: [1, 5], forced, most });

test('forbidden nodes go, with what follows them', () => {
  expect(drafted([5, 1, 3, 2], [-1, 0, 1, 2])).toEqual({ tokens: [5, 1], parents: [-1, 0] });
  expect(drafted([5, 3, 1, 2, 4], [-1, 0, 0, 1, 2])).toEqual({ tokens: [5, 1, 4], parents: [-1, 0, 1] });
  expect(drafted([5, 3], [-1, 0])).toBeNull();
  expect(drafted([5, 0, 2], [-1, 0, 1])).toEqual({ tokens: [5, 0], parents: [-1, 0] }); // nothing follows a stop token
});

test('text that must come goes before the draft and after its leaves, as far as pass and budget reach', () => {
  const [before, after] = [
    [7, 8],
    [9, 1, 7],
  ];
  expect(drafted([8, ...after], [-1, 0, 1, 2], before)).toEqual({
    tokens: [5, 7, 8, 9, 1, 7, 8, 9],
    parents: [-1, 0, 1, 2, 3, 4, 5, 6],
  });
  expect(drafted([8, ...after], [-1, 0, 1, 2], before, 6)).toMatchObject({ tokens: [5, 7, 8, 9, 1, 7, 8] });
  expect(drafted([5, 7, 7], [-1, 0, 0])).toEqual({ tokens: [5, 7, 7, 8, 9, 8, 9], parents: [-1, 0, 0, 1, 3, 2, 5] });
  const long = Array.from({ length: 20 }, () => 1);
  const whole = drafted([5, ...long], [-1, ...long.keys()]);
  expect(whole && 'tokens' in whole && whole.tokens).toHaveLength(16);
});

test('a draft that the host does not know stays as it is', () => {
  const tree = { tokens: [5, { record: () => 1 }], parents: [-1, 0] };
  expect(constrainedDraft(tree, 5, { constraint, answer: [], forced: [], most: 4 })).toBe(tree);
});
