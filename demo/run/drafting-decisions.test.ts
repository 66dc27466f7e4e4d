import { expect, test } from 'vitest';
import { paceSentence } from './drafting-decisions.ts';

const event = { at: 5, type: 'fall-back', round: 4, to: 'plain', speculative_ms: 14.23, plain_ms: 9.84 } as const;

test('giving up, trying again and giving up again', () => {
  const given = paceSentence('', event, 37);
  expect(given).toBe(
    'Drafts cost more than they saved here (14 against 9.8 ms a token): plain decoding from token 37.',
  );
  const again = paceSentence(given, { ...event, to: 'speculation' }, 69);
  expect(again).toMatch(/plain decoding from token 37, drafting again from 69\.$/);
  expect(paceSentence(again, { ...event, plain_ms: null }, 72)).toBe(
    'Drafts cost more than they saved here: plain decoding from token 72.',
  );
});

test('the block size that was chosen, and why', () => {
  const choice = {
    at: 1,
    type: 'block-size',
    size: 8,
    candidates: [1, 8, 16],
    tau: [1, 6.93, 7.4],
    round_ms: [10, 23.4, 40],
    ms: 2,
  } as const;
  const said = paceSentence('', choice, 1);
  expect(said).toBe('Block size 8 chosen: 6.9 tokens expected of a round of 23 ms.');
  expect(paceSentence('', { ...choice, size: 1 }, 1)).toContain('plain decoding is the fastest');
  const twice = paceSentence(paceSentence(said, event, 9), event, 72);
  expect(twice).toMatch(/^Block size 8 chosen: .* 23 ms\. Drafts cost more .*: plain decoding from token 72\.$/);
});
