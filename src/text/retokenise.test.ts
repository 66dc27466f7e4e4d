import { beforeAll, expect, it } from 'vitest';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { retokenise } from './retokenise.ts';
import { loadTokenizer, type Tokenizer } from './tokenizer.ts';

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

it.each([
  ['after a word', ['▁a'], ' a', ['▁a']],
  ['within one', ['▁a'], 'b', ['b']],
  ['after half a word', ['b', 'a'], ' a', ['▁a']],
  ['within half a word', ['b', 'a'], 'b', ['b']],
  ['after a line', ['▁a', '<0x0A>'], 'b', ['b']],
  ['at the beginning', [], 'a', ['▁a']],
])('no space comes between, where the tokenizer puts one in front of texts: %s', async (_, before, text, expected) => {
  const vocab = { '▁': 0, a: 1, b: 2, '▁a': 3, '<0x0A>': 4, '<unk>': 5 };
  const steps = [
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ];
  const normalizers = [
    { type: 'Prepend', prepend: '▁' },
    { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
  ];
  const llama = await loadTokenizer({
    tokenizer: {
      model: { type: 'BPE', merges: [['▁', 'a']], vocab, byte_fallback: true, unk_token: '<unk>' },
      normalizer: { type: 'Sequence', normalizers },
      decoder: { type: 'Sequence', decoders: steps },
      ...{ added_tokens: [], pre_tokenizer: null, post_processor: null },
    },
    config: {},
  });
  const ids = (names: readonly string[]) => names.map((name) => vocab[name as keyof typeof vocab]);
  expect(retokenise(ids(before), text, llama)).toEqual(ids(expected));
});
