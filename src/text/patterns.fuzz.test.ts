// Patterns made at random, on texts made at random (without surrogate pairs, into which V8 looks against the
// specification): what the bounded pattern finds is what the browser finds. Where it
// takes too many steps it says so.
import { expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { pick, type Random, random } from '../testing/fuzz/random.ts';
import { BoundedPattern, Steps } from './bounded-pattern.ts';

const SEED = 20_261_129;
const INPUTS = inputs(1_500);

const ATOMS = [
  'a',
  'b',
  'c',
  '.',
  '\\s',
  '\\p{L}',
  '\\p{N}',
  '[ab]',
  '[^a]',
  '[^\\s\\p{L}]',
  '🙂',
  '\\u{1f642}',
  '\\n',
  '$',
  '^',
  '\\b',
];
const QUANTIFIERS = ['', '', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?', '{0,2}?'];
const OPENINGS = ['(?:', '(', '(?=', '(?!', '(?<=', '(?<!'];

const made = (below: Random, depth = 0): string =>
  Array.from({ length: 1 + below(3) }, () => {
    if (below(3) > 0 || depth > 2) {
      const atom = pick(ATOMS, below);
      return ['$', '^', '\\b'].includes(atom) ? atom : atom + pick(QUANTIFIERS, below);
    }
    const opening = pick(OPENINGS, below);
    const group = `${opening}${made(below, depth + 1)}${below(2) ? `|${made(below, depth + 1)}` : ''})`;
    return opening.length < 4 && !/[=!]$/.test(opening) ? group + pick(QUANTIFIERS, below) : group;
  }).join('');

/** Null where the steps are used up. */
const within = <T>(search: () => T): T | null => {
  try {
    return search();
  } catch (error) {
    if (error instanceof OutriderError && error.code === 'bad-checkpoint') return null;
    throw error;
  }
};

it(`${INPUTS} random patterns find what the browser finds`, async () => {
  const below = random(SEED);
  const watch = new Watch();
  let found = 0;
  let ended = 0;
  for (let i = 0; i < INPUTS; i++) {
    const native = new RegExp(made(below), 'gu');
    const text = Array.from({ length: below(12) }, () =>
      pick(['a', 'b', 'c', 'ab', ' ', '\n', '7', 'é', '!'], below),
    ).join('');
    const steps = new Steps();
    steps.refill(text.length);
    const bounded = new BoundedPattern(native, steps);
    const places = (pattern: RegExp) => [...text.matchAll(pattern)].map((each) => [each.index, each[0]]);
    const expected = places(native);
    let own: ReturnType<typeof places> | null = null;
    await watch.input(() => {
      steps.refill(text.length);
      own = within(() => places(bounded));
    });
    if (own) expect(own, `input ${i}: ${native} on ${JSON.stringify(text)}`).toEqual(expected);
    else ended++;
    found += expected.length;
    // The same pattern on a text that is made to keep it busy: an end, or an error.
    if (i % 50 !== 0) continue;
    const hostile = `${'ab'.repeat(200)}${' '.repeat(200)}${'a'.repeat(200)}!`;
    let end: readonly string[] | null = null;
    await watch.input(() => {
      steps.refill(hostile.length);
      end = within(() => hostile.match(bounded) ?? []);
    });
    if (!end) ended++;
  }
  console.log(`${INPUTS} random patterns: ${found} places, ${ended} ended, ${watch}`);
  expect(found).toBeGreaterThan(INPUTS);
  expect(ended).toBeLessThan(INPUTS / 20);
  watch.check();
}, 900_000);
