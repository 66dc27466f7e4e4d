import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shared } from '../testing/goldens/shared.ts';
import { checkTokenizer } from './check-tokenizer.ts';
import { Pieces } from './pieces.ts';
import { textStream } from './text-stream.ts';
import { loadTokenizer } from './tokenizer.ts';

/** A small deterministic generator: a failing text can be made again. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

/**
 * Text from every plane: ASCII, combining marks, CJK, emoji with joiners, private use, noncharacters; no surrogates.
 */
const randomText = (next: () => number): string => {
  const ranges = [
    [0x20, 0x7e],
    [0x00, 0x1f],
    [0x80, 0x24f],
    [0x300, 0x36f],
    [0x4e00, 0x9fff],
    [0x1f300, 0x1faff],
    [0x200b, 0x200f],
    [0xe000, 0xffff],
    [0x10000, 0x10ffff],
  ] as const;
  return Array.from({ length: Math.floor(next() * 24) }, () => {
    const [low, high] = ranges[Math.floor(next() * ranges.length)] ?? ranges[0];
    return String.fromCodePoint(low + Math.floor(next() * (high - low + 1)));
  }).join('');
};

/** Feeds one token at a time and checks that no delta cuts a character. */
const streamed = (pieces: Pieces, ids: readonly number[]): string => {
  const stream = textStream(pieces, { special: true });
  let text = '';
  for (const id of ids) {
    const delta = stream.push([id]);
    expect(delta).not.toMatch(/\p{Surrogate}/u);
    expect(delta).not.toContain('\ufffd');
    text += delta;
  }
  return text + stream.end();
};

/** SmolLM2's vocabulary lacks bytes of planes 4 to 11 and of some control characters. */
const MISSING = /[\u{40000}-\u{bffff}\p{Cc}]/gu;
const NONE = /(?!)/g;
const folders: [name: string, folder: string, missing: RegExp][] = [
  ['the bundled tokenizer', new URL('../../public/models/target', import.meta.url).pathname, NONE],
  ['SmolLM2', shared('models/smollm2-135m-instruct'), MISSING],
  ['a Qwen pre-tokenizer', shared('golden/gguf-qwen3-tiny'), NONE],
];

describe.each(folders)('any text through %s', (_, folder, missing) => {
  it.skipIf(!existsSync(folder))('comes back from a stream as it went in', async () => {
    const source = JSON.parse(readFileSync(`${folder}/tokenizer.json`, 'utf8'));
    const tokenizer = await loadTokenizer({ tokenizer: source, config: {} });
    const pieces = new Pieces(source, checkTokenizer(source));
    const next = random(7);
    for (let i = 0; i < 1500; i++) {
      const text = randomText(next).replaceAll('\ufffd', '').replaceAll(missing, '');
      expect(streamed(pieces, tokenizer.encode(text)), JSON.stringify(text)).toBe(text);
    }
  });
});

/** A Llama-2 style vocabulary: `▁` for a space, bytes spelled `<0x..>`, one special token. */
const sentencePiece = {
  model: {
    type: 'BPE',
    merges: [],
    vocab: {
      '▁': 0,
      '▁one': 1,
      two: 2,
      ...Object.fromEntries([0xf0, 0x9f, 0x99, 0x82].map((b, i) => [hex(b), 3 + i])),
    },
  },
  added_tokens: [
    { id: 7, content: '</s>', special: true },
    { id: 8, content: '<think>', special: false },
  ],
  decoder: {
    type: 'Sequence',
    decoders: [
      { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
      { type: 'ByteFallback' },
      { type: 'Fuse' },
      { type: 'Strip', content: ' ', start: 1, stop: 0 },
    ],
  },
};
function hex(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase()}>`;
}

describe('text streams', () => {
  const pieces = new Pieces(sentencePiece, checkTokenizer(sentencePiece));

  it('waits for the last byte of a character', () => {
    const stream = textStream(pieces);
    expect([3, 4, 5, 6].map((id) => stream.push([id]))).toEqual(['', '', '', '🙂']);
    expect(stream.end()).toBe('');
  });

  it('shows a character that was cut off as one replacement', () => {
    const stream = textStream(pieces);
    expect(stream.push([2, 3, 4])).toBe('two');
    expect(stream.end()).toBe('\ufffd');
  });

  it('drops the one space that the encoder put first, and no other', () => {
    const stream = textStream(pieces);
    expect(stream.push([1])).toBe('one');
    expect(stream.push([1])).toBe(' one');
    expect(stream.push([0])).toBe(' ');
  });

  it('hides special tokens, keeps added ones that are text, and skips ids beyond the vocabulary', () => {
    expect(textStream(pieces).push([2, 7, 8, 2, 999])).toBe('two<think>two');
    expect(textStream(pieces, { special: true }).push([2, 7])).toBe('two</s>');
  });

  it('writes the spaces of added tokens, which Gemma has for runs of them; byte-level ones are as they are', () => {
    const added_tokens = [...sentencePiece.added_tokens, { id: 9, content: '▁▁', special: false, normalized: false }];
    const file = { ...sentencePiece, added_tokens };
    const spaced = new Pieces(file, checkTokenizer(file));
    const stream = textStream(spaced);
    expect([2, 9, 1].map((id) => stream.push([id]))).toEqual(['two', '  ', ' one']);
    expect(spaced.bytes(9)).toEqual(new TextEncoder().encode('  '));
    const bytes = { added_tokens: [{ id: 0, content: '▁é', special: false }], decoder: { type: 'ByteLevel' } };
    expect(textStream(new Pieces(bytes, [])).push([0])).toBe('▁é');
  });

  /** What tokenizers 0.23.3 gives. */
  it.each([
    ['first', [0, 0], 'a  a'],
    ['always', [0, 0], 'a  a'],
    ['never', [0, 0], '  a  a'],
    ['always', [1, 2], ' a'],
  ])('Metaspace, %s: drops all spaces of the first token unless it puts none', (prepend_scheme, ids, text) => {
    const vocab = { '▁▁a': 0, '▁': 1, '▁a': 2 };
    const metaspace = { model: { vocab }, decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme } };
    expect(textStream(new Pieces(metaspace, checkTokenizer(metaspace))).push(ids)).toBe(text);
  });

  it('takes the tokens of a round at once', () => {
    expect(textStream(pieces).push([1, 3, 4, 5, 6, 2])).toBe('one🙂two');
  });
});
