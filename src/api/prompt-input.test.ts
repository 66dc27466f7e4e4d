import { describe, expect, it } from 'vitest';
import { readConstraint } from './prompt-input.ts';

/** Of the flag `v`, which TypeScript's target does not know in a literal. */
const sets = (source: string): RegExp => new RegExp(source, 'v');

describe('a regular expression with the flag v', () => {
  it.each([String.raw`[\w--[a-z]]`, '[[a-z]&&[aeiou]]', '[a[bc]]', String.raw`a[\q{ab|c}]`, String.raw`\[[\w--\d]`])(
    '%s is refused: its class is no list of characters',
    (source) => {
      expect(() => readConstraint(sets(source))).toThrowError(
        expect.objectContaining({ name: 'NotSupportedError', message: expect.stringContaining(source) }),
      );
    },
  );

  it.each(['[a-z]--[b]', String.raw`[\[\]\-\&]+`, String.raw`\[a--b\]`, String.raw`[\\]q`])(
    '%s has no sets of characters, and is kept',
    (source) => expect(readConstraint(sets(source))).toEqual({ regex: source }),
  );
});
