import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { toyModel } from '../../testing/toys/toy-model.ts';
import { loadTokenizer, type Tokenizer } from '../../text/tokenizer.ts';
import { createEngine } from '../engine.ts';

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../../public/models/target/${file}`, import.meta.url), 'utf8'));

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await loadTokenizer({ tokenizer: read('tokenizer.json'), config: read('tokenizer_config.json') });
});

const loaded = (name: string, vocabulary: number, text: Tokenizer | null) => ({
  name,
  model: toyModel({ vocabulary, sharpness: 1 }),
  tokenizer: text,
  stopTokens: [],
});

describe('a draft of another vocabulary is refused', () => {
  it('by the first token that differs', async () => {
    const other: Tokenizer = { ...tokenizer, entry: (id) => (id === 77 ? 'ø' : tokenizer.entry(id)) };
    const load = createEngine().load({ target: loaded('big', 512, tokenizer), draft: loaded('small', 512, other) });
    await expect(load).rejects.toMatchObject({
      code: 'vocabulary-mismatch',
      message: `token 77 is ${JSON.stringify(tokenizer.entry(77))} in big and "ø" in small`,
    });
  });

  it('by size where one has no tokenizer', async () => {
    const load = createEngine().load({ target: loaded('big', 512, tokenizer), draft: loaded('small', 500, null) });
    await expect(load).rejects.toMatchObject({
      code: 'vocabulary-mismatch',
      message: 'token 500 is in the vocabulary of big only: big has 512 tokens, small 500',
    });
  });

  it('in every role that writes', async () => {
    const other: Tokenizer = { ...tokenizer, entry: (id) => (id === 77 ? 'ø' : tokenizer.entry(id)) };
    const load = createEngine().load({
      target: loaded('big', 512, tokenizer),
      'also-1': loaded('same', 512, tokenizer),
      'also-2': loaded('different', 512, other),
    });
    await expect(load).rejects.toMatchObject({
      message: `token 77 is ${JSON.stringify(tokenizer.entry(77))} in big and "ø" in different`,
    });
  });

  it('and one of the same is taken', async () => {
    const engine = createEngine();
    await engine.load({ target: loaded('big', 512, tokenizer), draft: loaded('small', 512, tokenizer) });
    await engine.close();
  });
});
