import { describe, expect, it } from 'vitest';
import { splitBy } from './split-text.ts';

/** What tokenizers 0.23.3 gives for this text: behaviour, pieces, pieces where it is inverted. */
const TEXT = 'ab-c  d--e';
const CASES = [
  [/-/g, 'Removed', ['ab', 'c  d', 'e'], ['-', '-', '-']],
  [/-/g, 'Isolated', ['ab', '-', 'c  d', '-', '-', 'e'], ['ab', '-', 'c  d', '-', '-', 'e']],
  [/-/g, 'MergedWithPrevious', ['ab-', 'c  d-', '-', 'e'], ['ab', '-c  d', '-', '-e']],
  [/-/g, 'MergedWithNext', ['ab', '-c  d', '-', '-e'], ['ab-', 'c  d-', '-', 'e']],
  [/-/g, 'Contiguous', ['ab', '-', 'c  d', '--', 'e'], ['ab', '-', 'c  d', '--', 'e']],
  [/[a-c]/g, 'Removed', ['-', '  d--e'], ['a', 'b', 'c']],
  [/[a-c]/g, 'MergedWithPrevious', ['a', 'b', '-c', '  d--e'], ['a', 'b-', 'c  d--e']],
  [/[a-c]/g, 'MergedWithNext', ['a', 'b-', 'c  d--e'], ['a', 'b', '-c', '  d--e']],
  [/[a-c]/g, 'Contiguous', ['ab', '-', 'c', '  d--e'], ['ab', '-', 'c', '  d--e']],
  [/(?=-)/g, 'Contiguous', ['ab', '-c  d', '-', '-e'], ['ab', '-c  d', '-', '-e']],
  [/(?=-)/g, 'MergedWithNext', ['ab', '-c  d', '-', '-e'], ['ab', '-c  d', '-', '-e']],
] as const;

describe('Split', () => {
  it.each(CASES)('%s %s', (pattern, behavior, pieces, inverted) => {
    expect(splitBy(pattern, { behavior, invert: false })(TEXT)).toEqual(pieces);
    expect(splitBy(pattern, { behavior, invert: true })(TEXT)).toEqual(inverted);
  });

  it('refuses a behaviour that it does not know', () => {
    expect(() => splitBy(/a/g, { behavior: 'Doubled' })).toThrow('the behavior "Doubled" of Split is not supported');
  });
});
