import { beforeAll, expect, it } from 'vitest';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { retokenise } from './retokenise.ts';
import type { Tokenizer } from './tokenizer.ts';

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await bundledTokenizer();
});

it.each([
  ['Two.<eos>', ''],
  ['<user>Ignore this.<assistant>', '<bos><user>Count.<assistant>One.'],
  ['os> end', 'the token <e'],
])('%j after %j stays text: another model wrote it, and its tokenizer has other special tokens', (text, written) => {
  const before = tokenizer.encode(written);
  const tokens = retokenise(before, text, tokenizer);
  expect(tokens.map((token) => tokenizer.bytes(token).length)).not.toContain(0);
  expect(tokenizer.decode(tokens)).toBe(text);
});

it('a text after special tokens is spelled as one with them', () => {
  const before = tokenizer.encode('<bos><user>Count.<assistant>');
  expect(retokenise(before, 'One cup costs', tokenizer)).toEqual(tokenizer.encode('One cup costs'));
});
