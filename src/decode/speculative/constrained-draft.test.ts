import { expect, test } from 'vitest';
import { ConstrainedText } from '../core/constrained-text.ts';
import { allowedDraft, ExpectedToken, forcedAfter } from './constrained-draft.ts';

/** Texts of digits; after a 7 comes 8, then 9; 0 ends. A 3 is never allowed. */
const constraint = new ConstrainedText(
  {
    allows: (_, token) => token !== 3,
    allowed: async () => new Uint32Array(1),
    forced: (text) => (text.at(-1) === 7 ? 8 : text.at(-1) === 8 && text.at(-2) === 7 ? 9 : null),
    expected: (text) => (text.at(-1) === 9 && text.at(-2) === 8 ? 6 : null),
    ends: async () => false,
    complete: () => false,
    stopTokens: new Set([0]),
  },
  () => new Error('a dead end'),
);
const answer = [1, 5];
const proposed = (tokens: number[], parents: number[]) => ({
  tree: { tokens, parents },
  chances: tokens.map((_, i) => 1 / (i + 1)),
  distributions: null,
  nodes: tokens.length,
  passes: 0,
});
const allowed = (tokens: number[], parents: number[], forced: readonly number[] = []) =>
  allowedDraft(proposed(tokens, parents), 5, { constraint, answer, forced });
const filled = (tokens: number[], parents: number[], most = 15) =>
  forcedAfter(proposed(tokens, parents), { constraint, answer, most }).tree;

test('forbidden nodes go, with what follows them', () => {
  expect(allowed([5, 1, 3, 2], [-1, 0, 1, 2])?.tree).toEqual({ tokens: [5, 1], parents: [-1, 0] });
  const draft = allowed([5, 3, 1, 2, 4], [-1, 0, 0, 1, 2]);
  expect(draft?.tree).toEqual({ tokens: [5, 1, 4], parents: [-1, 0, 1] });
  expect(draft).toMatchObject({ chances: [1, 1 / 3, 1 / 5], nodes: 3 });
  expect(allowed([5, 3], [-1, 0])).toBeNull();
  expect(allowed([5, 0, 2], [-1, 0, 1])?.tree).toEqual({ tokens: [5, 0], parents: [-1, 0] }); // nothing follows a stop
});

test('text that must come goes before the draft, as far as the pass reaches, and cannot be refused', () => {
  expect(allowed([8, 9, 1, 7], [-1, 0, 1, 2], [7, 8])).toMatchObject({
    tree: { tokens: [5, 7, 8, 9, 1, 7], parents: [-1, 0, 1, 2, 3, 4] },
    chances: [1, 1, 1, 1 / 2, 1 / 3, 1 / 4],
  });
  const long = Array.from({ length: 20 }, () => 1);
  expect(allowed([5, ...long], [-1, ...long.keys()])?.nodes).toBe(16);
});

test('the token that ends text which must come is drafted first, and its chance is counted', () => {
  const text = { constraint, answer: [1, 7], forced: [8, 9] };
  const expected = new ExpectedToken();
  expect(expected.join(null, text)).toMatchObject({ tree: { tokens: [0, 6], parents: [-1, 0] }, chances: [1, 0.95] });
  // Of two branches the one that begins with it becomes likelier, with all that follows it.
  const tree = proposed([9, 4, 2, 6, 5], [-1, 0, 1, 0, 3]);
  const chances = [1, 0.6, 0.3, 0.25, 0.2];
  const joined = expected.join({ ...tree, chances }, text);
  expect(joined?.tree).toEqual({ tokens: [9, 6, 5, 4, 2], parents: [-1, 0, 1, 0, 3] });
  expect(joined?.chances?.map((chance) => Math.round(1000 * chance))).toEqual([1000, 950, 760, 30, 15]);
  for (let i = 0; i < 20; i++) {
    expected.observe(4);
    expected.join(null, text);
  }
  expect(expected.join(null, text)?.chances?.[1]).toBeLessThan(0.2);
  expect(expected.join(null, { ...text, forced: [8] })).toBeNull(); // there the text goes on
});

test('text that must follow the leaves fills the rows of the pass, as far as the budget reaches', () => {
  expect(filled([5, 1, 7], [-1, 0, 1])).toEqual({ tokens: [5, 1, 7, 8], parents: [-1, 0, 1, 2] });
  expect(filled([5, 7, 7, 1, 2], [-1, 0, 0, 0, 0])).toEqual({
    tokens: [5, 7, 7, 1, 2, 8, 9, 8],
    parents: [-1, 0, 0, 0, 0, 1, 5, 2],
  });
  expect(filled([5, 1, 2, 1, 7], [-1, 0, 1, 2, 3], 5)).toMatchObject({ tokens: [5, 1, 2, 1, 7, 8] });
});

test('a draft that the host does not know stays as it is', () => {
  const proposal = {
    tree: { tokens: [5, { record: () => 1 }], parents: [-1, 0] },
    distributions: null,
    nodes: 2,
    passes: 1,
  };
  expect(allowedDraft(proposal, 5, { constraint, answer: [], forced: [] })).toBe(proposal);
  expect(forcedAfter(proposal, { constraint, answer: [], most: 4 })).toBe(proposal);
});
