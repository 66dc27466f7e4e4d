import { expect, test } from 'vitest';
import { draftingSentence } from './drafting-decisions.ts';

const event = { at: 5, type: 'fall-back', round: 4, to: 'plain', speculative_ms: 14.23, plain_ms: 9.84 } as const;

test('a run falls back to plain decoding, drafts again and falls back again', () => {
  const given = draftingSentence('', event, 37);
  expect(given).toBe(
    'Drafting cost more time than it saved (14 against 9.8 ms per token): plain decoding from token 37.',
  );
  const again = draftingSentence(given, { ...event, to: 'speculation' }, 69);
  expect(again).toMatch(/plain decoding from token 37, drafting again from token 69\.$/);
  expect(draftingSentence(again, { ...event, plain_ms: null }, 72)).toBe(
    'Drafting cost more time than it saved: plain decoding from token 72.',
  );
});

test('the chosen block size and the reason', () => {
  const choice = {
    at: 1,
    type: 'block-size',
    size: 8,
    candidates: [1, 8, 16],
    tau: [1, 6.93, 7.4],
    round_ms: [10, 23.4, 40],
    ms: 2,
  } as const;
  const said = draftingSentence('', choice, 1);
  expect(said).toBe('Block size 8 chosen: 6.9 tokens expected from a round of 23 ms.');
  expect(draftingSentence('', { ...choice, size: 1 }, 1)).toContain('plain decoding is fastest');
  const twice = draftingSentence(draftingSentence(said, event, 9), event, 72);
  expect(twice).toMatch(/^Block size 8 chosen: .* 23 ms\. Drafting cost more .*: plain decoding from token 72\.$/);
});
