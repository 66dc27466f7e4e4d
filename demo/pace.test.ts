import { expect, test } from 'vitest';
import { paceSentence } from './pace.ts';

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
