import { describe, expect, it } from 'vitest';
import { checkTokenizer } from './check-tokenizer.ts';
import { loadTokenizer } from './tokenizer.ts';

const file = (added: unknown): unknown => ({
  model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] },
  added_tokens: added,
});

describe('a tokenizer from a stranger', () => {
  it('may not have an id that makes a vocabulary of four thousand million', () => {
    expect(() => checkTokenizer(file([{ id: 4_294_967_290, content: '<x>' }]))).toThrow(
      'the added token "<x>" has the id 4294967290',
    );
    expect(() => checkTokenizer(file([{ id: -1, content: '<x>' }]))).toThrow('the id -1');
    checkTokenizer(file([{ id: 2, content: '<x>' }]));
  });

  it('may not have added tokens that are looked for in every text for ever', () => {
    const long = { id: 2, content: 'a'.repeat(1001) };
    expect(() => checkTokenizer(file([long]))).toThrow('an added token has more than 1000 characters');
    const many = Array.from({ length: 1100 }, (_, i) => ({ id: i, content: 'a'.repeat(1000) }));
    expect(() => checkTokenizer(file(many))).toThrow('the added tokens have more than 1048576 characters in all');
  });

  it('may not make a text longer and longer', () => {
    const twice = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' };
    const normalized = (normalizers: readonly unknown[]): unknown => ({
      ...(file([]) as object),
      normalizer: { type: 'Sequence', normalizers },
    });
    expect(() => checkTokenizer(normalized(Array(40).fill(twice)))).toThrow('more than 64 times as long');
    const wide = { type: 'Metaspace', replacement: '▁'.repeat(65) };
    expect(() => checkTokenizer({ ...(file([]) as object), pre_tokenizer: wide })).toThrow(
      'more than 64 times as long',
    );
    const spaces = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
    checkTokenizer(normalized(Array(40).fill(spaces)));
  });

  const model = { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] };
  it.each([
    ['a model of an unknown type', { model: { ...model, type: 'Foo' } }, 'the model "Foo" is not supported'],
    ['no merges', { model: { type: 'BPE', vocab: {} } }, 'model.merges is undefined, expected a list'],
    ['merges in a text', { model: { ...model, merges: 'a b' } }, 'model.merges is "a b", expected a list'],
    ['a merge of one', { model: { ...model, merges: ['a b', 'ab'] } }, 'model.merges[1] is "ab", expected two tokens'],
    ['a merge of three', { model: { ...model, merges: [['a', 'b', 'c']] } }, 'model.merges[0] is ["a","b","c"]'],
    ['a merge of numbers', { model: { ...model, merges: [[0, 1]] } }, 'model.merges[0] is [0,1]'],
    ['a step that is a text', { model, normalizer: 'NFC' }, 'normalizer has the step "NFC"'],
    ['a step without a type', { model, post_processor: {} }, 'post_processor has the step {}'],
    ['a step that is null', { model, decoder: { type: 'Sequence', decoders: [null] } }, 'decoder has the step null'],
    ['steps in a text', { model, pre_tokenizer: { type: 'Sequence', pretokenizers: 'x' } }, 'pretokenizers is "x"'],
    ['a Sequence of nothing', { model, decoder: { type: 'Sequence' } }, 'decoders is undefined, expected a list'],
    ['a Split at nothing', { model, pre_tokenizer: { type: 'Split', pattern: null } }, 'the pattern of Split is null'],
    [
      'a Replace of 5',
      { model, normalizer: { type: 'Replace', pattern: { String: 5 } } },
      'of Replace is {"String":5}',
    ],
    ['a template of nothing', { model, post_processor: { type: 'TemplateProcessing' } }, 'single is undefined'],
  ])('may not have %s', (_, tokenizer, message) => {
    expect(() => checkTokenizer(tokenizer)).toThrow(message);
  });

  it('is named where steps that are no Sequence are nested without end', async () => {
    let normalizer = { type: 'NFC', normalizers: [] as object[] };
    for (let i = 0; i < 1e5; i++) normalizer = { type: 'NFC', normalizers: [normalizer] };
    const loading = loadTokenizer({ tokenizer: { model, normalizer }, config: {} });
    await expect(loading).rejects.toMatchObject({ code: 'bad-checkpoint' });
  });

  it('may not look up words of any length', () => {
    const words = { model: { type: 'WordPiece', vocab: { a: 0 }, max_input_chars_per_word: 1e9 } };
    expect(() => checkTokenizer(words)).toThrow('max_input_chars_per_word is 1000000000, expected at most 1000');
    let lists: unknown = 5;
    for (let i = 0; i < 1e5; i++) lists = [lists];
    const deep = { model: { ...words.model, max_input_chars_per_word: lists } };
    expect(() => checkTokenizer(deep)).toThrow('max_input_chars_per_word is [object Array], expected at most 1000');
  });
});
