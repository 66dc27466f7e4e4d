import { describe, expect, it } from 'vitest';
import { PRE_TOKENIZERS } from '../weights/gguf/pre-tokenizers.ts';
import { checkPattern, checkTokenizer } from './check-tokenizer.ts';

const file = (added: unknown, patterns: readonly string[] = []): unknown => ({
  model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] },
  added_tokens: added,
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: patterns.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated' })),
  },
});

describe('a tokenizer from a stranger', () => {
  it('may not have an id that makes a vocabulary of four thousand million', () => {
    expect(() => checkTokenizer(file([{ id: 4_294_967_290, content: '<x>' }]))).toThrow(
      'the added token "<x>" has the id 4294967290',
    );
    expect(() => checkTokenizer(file([{ id: -1, content: '<x>' }]))).toThrow('the id -1');
    checkTokenizer(file([{ id: 2, content: '<x>' }]));
  });

  it.each(['(a+)+$', '(?:\\s*x?)*y', '(a|aa)+', '((b*))+', '(a{2,}b?){3,}'])(
    'may not search for ever: %s',
    (pattern) => {
      expect(() => checkTokenizer(file([], [pattern]))).toThrow('repeats a group that repeats');
    },
  );

  it('may have every pattern that is known to be published', () => {
    for (const { patterns = [] } of Object.values(PRE_TOKENIZERS) as { patterns?: readonly string[] }[])
      for (const pattern of patterns) checkPattern(pattern);
    checkPattern(
      '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}(?=(?:\\p{N}{3})*\\b)| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s+(?!\\S)',
    );
    checkPattern("'(?:[sdmt]|ll|ve|re)|[(+*]+");
  });
});
