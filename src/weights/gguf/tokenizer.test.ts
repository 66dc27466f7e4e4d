import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import type { ChatMessage } from '../../text/chat-template.ts';
import { loadTokenizer, type Tokenizer } from '../../text/tokenizer.ts';
import type { TokenizerFiles } from '../checkpoint.ts';
import { folderSource } from '../files/folder.ts';
import { openCheckpoint, openTokenizerFiles } from '../open.ts';
import type { GgufValue } from './container.ts';
import { PRE_TOKENIZERS } from './pre-tokenizers.ts';
import { ggufTokenizer } from './tokenizer.ts';

const embedded = async (...path: string[]): Promise<Tokenizer> => {
  using checkpoint = await openCheckpoint(await folderSource(shared(...path)));
  const files = await checkpoint.tokenizer();
  if (!files) throw new Error('no tokenizer');
  return loadTokenizer(files);
};
const alone = async (path: string): Promise<Tokenizer> => {
  const files = await openTokenizerFiles(await folderSource(shared(path)));
  if (!files) throw new Error('no tokenizer');
  return loadTokenizer(files);
};
const json = (...path: string[]) => JSON.parse(readFileSync(shared(...path), 'utf8'));

describe.skipIf(noShared)('tokenizers inside GGUF files give the reference ids', () => {
  const FAMILIES = ['llama', 'qwen3', 'gemma3', 'phi3-longrope', 'smollm3', 'granite', 'lfm2', 'qwen3_5'];
  it.each(FAMILIES)('%s', async (family) => {
    const tokenizer = await alone(`golden/gguf-${family}-tiny/${family}-tiny.F16.gguf`);
    const { tokenization } = json(`golden/gguf-${family}-tiny/case.json`);
    expect(tokenization.length).toBeGreaterThanOrEqual(13);
    for (const { text, ids } of tokenization) {
      expect(tokenizer.encode(text), JSON.stringify(text)).toEqual(ids);
      expect(tokenizer.decode(ids)).toBe(text);
    }
  });

  it.each(['llama-spm', 'qwen2'])('the vocabulary %s, without weights', async (name) => {
    const path = `golden/vocab/ggml-vocab-${name}.gguf`;
    const start = performance.now();
    const tokenizer = await alone(path);
    const loaded = performance.now() - start;
    const texts = readFileSync(shared(`${path}.inp`), 'utf8').split('\n__ggml_vocab_test__\n');
    const lines = readFileSync(shared(`${path}.out`), 'utf8')
      .replace(/\n$/, '')
      .split('\n');
    expect(lines.length).toBeGreaterThan(40);
    // The last text is followed by a line end, and by no mark.
    lines.forEach((line, i) => {
      const ids = line.trim().split(' ').filter(Boolean).map(Number);
      expect(tokenizer.encode(texts[i] as string), JSON.stringify(texts[i])).toEqual(ids);
    });
    // An accent of its own stays one (golden/qwen2.5-coder-1.5b).
    if (name === 'qwen2') expect(tokenizer.encode('e\u0301 vs \u00e9')).toEqual([68, 53839, 6165, 3958]);
    if (name === 'llama-spm') expect(tokenizer.encode('a\ufeff').at(-1)).toBe(30143);
    console.log(`${name}: ${tokenizer.vocabulary} entries, loaded in ${loaded.toFixed()} ms`);
  });

  it('SmolLM2: 60 strings and all conversations', async () => {
    const tokenizer = await embedded('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf');
    const { strings, chats } = json('golden/tokenizers/case.json') as {
      strings: { text: string; ids: number[] }[];
      chats: { messages: ChatMessage[]; add_generation_prompt: boolean; text: string; ids: number[] }[];
    };
    expect(strings).toHaveLength(60);
    for (const { text, ids } of strings) {
      expect(tokenizer.encode(text), JSON.stringify(text)).toEqual(ids);
      expect(tokenizer.decode(ids, { special: true })).toBe(text);
    }
    for (const chat of chats) {
      const text = tokenizer.chat(chat.messages, { generationPrompt: chat.add_generation_prompt });
      expect(text).toBe(chat.text);
      expect(tokenizer.encode(text)).toEqual(chat.ids);
    }
    expect(tokenizer.eos).toEqual([2, 0]); // <|im_end|>, which the file names, and <|endoftext|>
  });
});

/** A vocabulary of single bytes (as byte-level BPE writes them) and one control token. */
const bytes = Array.from({ length: 256 }, (_, byte) => {
  const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  return printable ? String.fromCodePoint(byte) : null;
});
let shifted = 256;
const alphabet = bytes.map((own) => own ?? String.fromCodePoint(shifted++));
const metadata = (changes: Record<string, GgufValue> = {}): Map<string, GgufValue> =>
  new Map<string, GgufValue>(
    Object.entries({
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': 'llama-bpe',
      'tokenizer.ggml.tokens': [...alphabet, '<s>'],
      'tokenizer.ggml.token_type': [...alphabet.map(() => 1), 3],
      'tokenizer.ggml.merges': ['1 2', '12 3', '3 4'],
      'tokenizer.ggml.bos_token_id': 256,
      ...changes,
    }).filter(([, value]) => value !== ''),
  );
/** The pieces that a text is cut into: what matches and what lies between, pattern after pattern. */
const pieces = (name: string, text: string): string[] => {
  const cut = PRE_TOKENIZERS[name]?.patterns.reduce(
    (parts, pattern) => parts.flatMap((part) => isolate(part, new RegExp(pattern, 'gu'))),
    [text],
  );
  return cut ?? [];
};
const isolate = (text: string, pattern: RegExp): string[] => {
  const parts: string[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(end, match.index), match[0]);
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
};

describe('ggufTokenizer', () => {
  it('adds a BOS where the pre-tokenizer or the file says so', async () => {
    const load = async (changes: Record<string, GgufValue>): Promise<number | undefined> => {
      const files = ggufTokenizer(metadata(changes));
      if (!files) throw new Error('no tokenizer');
      return (await loadTokenizer(files)).encode('a', { special: true })[0];
    };
    expect(await load({})).toBe(256);
    expect(await load({ 'tokenizer.ggml.add_bos_token': false })).toBe(97);
    expect(await load({ 'tokenizer.ggml.pre': 'gpt-2' })).toBe(97);
    expect(await load({ 'tokenizer.ggml.pre': 'gpt-2', 'tokenizer.ggml.add_bos_token': true })).toBe(256);
  });

  it.each([
    ['glm4', [257]],
    ['glm5', [257]],
    ['llama-bpe', [257]],
    ['chatglm-bpe', [97, 98, 99]],
  ])('%s and a piece that is a token, without merges that lead there', async (pre, ids) => {
    const files = ggufTokenizer(
      metadata({
        'tokenizer.ggml.pre': pre,
        'tokenizer.ggml.tokens': [...alphabet, '<s>', 'abc'],
        'tokenizer.ggml.token_type': [...alphabet.map(() => 1), 3, 1],
        'tokenizer.ggml.merges': ['x y'],
      }),
    );
    expect((await loadTokenizer(files as TokenizerFiles)).encode('abc')).toEqual(ids);
  });

  it('names what it does not know', () => {
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.model': 'llama' }))).toThrow(/scores is missing/);
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.pre': 'kimi-k9' }))).toThrow(/pre-tokenizer kimi-k9/);
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.merges': ['a b c'] }))).toThrow(/merges\[0\] is "a b c"/);
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.merges': '' }))).toThrow(/merges is missing/);
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.token_type': [1] }))).toThrow(/257 tokens and 1 token types/);
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.token_type': 'x'.repeat(257) }))).toThrow(
      /token_type is "x+, expected a list of numbers/,
    );
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.token_type': [...alphabet, '<s>'] }))).toThrow(
      /token_type is .*, expected a list of numbers/,
    );
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.bos_token_id': 'a' }))).toThrow(/bos_token_id is "a"/);
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.add_bos_token': 1 }))).toThrow(
      /add_bos_token is 1, expected/,
    );
    expect(() => ggufTokenizer(metadata({ 'tokenizer.chat_template': 1 }))).toThrow(
      /chat_template is 1, expected a text/,
    );
    const scored = { 'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.scores': Array(257).fill(Number.NaN) };
    expect(() => ggufTokenizer(metadata(scored))).toThrow(/scores is missing, or is not a number for each token/);
    expect(ggufTokenizer(metadata({ 'tokenizer.ggml.model': '' }))).toBeNull();
  });

  it('refuses a vocabulary that has a token twice, but not one with several empty ones', () => {
    const load = (added: readonly string[]) =>
      ggufTokenizer(
        metadata({
          'tokenizer.ggml.tokens': [...alphabet, '<s>', ...added],
          'tokenizer.ggml.token_type': [...alphabet.map(() => 1), 3, ...added.map(() => 1)],
        }),
      );
    expect(() => load(['b', 'a'])).toThrow('tokenizer.ggml.tokens has "b" twice, as 98 and as 257');
    expect(load(['', ''])).not.toBeNull();
  });

  it.each(['bert', 't5', 'rwkv', 'plamo2'])('refuses the tokenizer %s, which llama.cpp has, by its name', (model) => {
    expect(() => ggufTokenizer(metadata({ 'tokenizer.ggml.model': model }))).toThrow(
      expect.objectContaining({
        code: 'bad-checkpoint',
        message: `the tokenizer ${model} inside the GGUF file is not supported`,
        hint: expect.stringContaining('Load the safetensors version'),
      }),
    );
  });

  it('takes a special token that the vocabulary does not have as none', () => {
    const beyond = Object.fromEntries(
      ['bos', 'eos', 'eot', 'unknown', 'padding'].map((kind) => [`tokenizer.ggml.${kind}_token_id`, 2 ** 32 - 1]),
    );
    const files = ggufTokenizer(metadata({ ...beyond, 'tokenizer.ggml.eom_token_id': 256 }));
    expect(files?.generation).toEqual({ eos_token_id: 256 });
    expect(Object.keys(files?.config ?? {}).filter((key) => key.endsWith('_token'))).toEqual([
      'add_bos_token',
      'add_eos_token',
    ]);
    const scored = {
      'tokenizer.ggml.model': 'llama',
      'tokenizer.ggml.scores': [...alphabet, '<s>'].map(() => 0),
      'tokenizer.ggml.bos_token_id': -1,
    };
    expect(ggufTokenizer(metadata(scored))?.config).toMatchObject({ bos_token: '<s>' }); // SentencePiece's own
  });

  it('ends a text at every token that the file names', () => {
    const ends = ggufTokenizer(metadata({ 'tokenizer.ggml.eos_token_id': 1, 'tokenizer.ggml.eot_token_id': 2 }));
    expect(ends?.generation).toEqual({ bos_token_id: 256, eos_token_id: [1, 2] });
  });

  it('ends a text at what is known to end one, which is a special token whatever the file calls it', () => {
    const files = ggufTokenizer(
      metadata({
        'tokenizer.ggml.tokens': [...alphabet, '<s>', '<|im_end|>', '</s>', '<|endoftext|>'],
        'tokenizer.ggml.token_type': [...alphabet.map(() => 1), 3, 1, 1, 4],
        'tokenizer.ggml.eos_token_id': 259,
      }),
    );
    expect(files?.generation.eos_token_id).toEqual([259, 257]);
    expect(files?.tokenizer.added_tokens).toMatchObject([256, 257, 259].map((id) => ({ id, special: true })));
  });

  it('has a template of its own where tools are given', async () => {
    const files = ggufTokenizer(
      metadata({ 'tokenizer.chat_template': 'plain', 'tokenizer.chat_template.tool_use': 'with tools' }),
    );
    const tokenizer = await loadTokenizer(files as TokenizerFiles);
    expect([tokenizer.chatTemplate(), tokenizer.chatTemplate(true)]).toEqual(['plain', 'with tools']);
  });

  it('has patterns that JavaScript reads', () => {
    for (const { patterns } of Object.values(PRE_TOKENIZERS))
      for (const pattern of patterns) expect(() => new RegExp(pattern, 'gu')).not.toThrow();
  });

  // Cut by hand from each model's tokenizer.json.
  it.each([
    ['gpt-2', "I'm 1234  ok", ['I', "'m", ' 1234', ' ', ' ok']],
    ['smollm', 'x12 3', ['x', '1', '2', ' ', '3']],
    ['qwen2', "I'M 12\n\n x", ['I', "'M", ' ', '1', '2', '\n\n', ' x']],
    ['llama-bpe', '12345 a\r\n', ['123', '45', ' a', '\r\n']],
    ['superbpe', '1234x', ['1', '234', 'x']],
    ['tiny_aya', '12345 1234x', ['12', '345', ' ', '123', '4', 'x']], // a word that goes on is cut from the left
    ['tekken', 'HelloWorld 12', ['Hello', 'World', ' ', '1', '2']],
    ['gpt-4o', "it's 1234", ["it's", ' ', '123', '4']],
    ['default', 'a,b 12345', ['a', ',', 'b', ' ', '123', '45']],
    ['falcon', 'a`b 12345', ['a', '`', 'b', ' ', '123', '45']],
    ['deepseek-llm', 'Ab 12, 日本\n', ['Ab', ' ', '12', ',', ' ', '日本', '\n']],
    ['deepseek-coder', 'Ab 12', ['Ab', ' ', '1', '2']],
    ['deepseek-v3', 'x=1234 日本', ['x', '=', '123', '4', ' ', '日本']],
  ])('%s cuts %j', (name, text, expected) => {
    expect(pieces(name, text)).toEqual(expected);
  });
});
