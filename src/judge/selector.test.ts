import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { folderSource } from '../weights/files/folder.ts';
import { fileSet } from '../weights/open.ts';
import { mostCentral, mostCentralText, overlap } from './selector.ts';
import { openSentences } from './sentences.ts';

/** As the paper writes it: the row-softmax of the cosines, and the smallest entry of its diagonal. */
const paper = (embeddings: readonly Float32Array[]): number => {
  const cosine = (a: Float32Array, b: Float32Array): number => {
    const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };
  const diagonal = embeddings.map((a, j) => {
    const row = embeddings.map((b) => Math.exp(cosine(a, b)));
    return (row[j] as number) / row.reduce((sum, x) => sum + x, 0);
  });
  return diagonal.indexOf(Math.min(...diagonal));
};

test('the most central candidate is the one of the paper', () => {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  };
  for (let run = 0; run < 50; run++) {
    const embeddings = Array.from({ length: 2 + (run % 7) }, () => Float32Array.from({ length: 5 }, random));
    if (embeddings.length > 2) expect(mostCentral(embeddings)).toBe(paper(embeddings));
  }
});

test('ties, a single one, scale, and nothing to compare', () => {
  const vectors = (...rows: number[][]): Float32Array[] => rows.map((row) => Float32Array.from(row));
  expect(mostCentral(vectors([1, 0]))).toBe(0);
  expect(mostCentral(vectors([1, 0], [0, 1]))).toBe(0);
  expect(mostCentral(vectors([1, 0], [1, 1], [0, 1]))).toBe(1);
  expect(mostCentral(vectors([100, 0], [0.001, 0.001], [0, 7]))).toBe(1);
  expect(mostCentral(vectors([0, 0], [0, 1], [0, 2]))).toBe(1);
});

test('texts are embedded once each, and not at all where they are alike', async () => {
  const asked: string[][] = [];
  const embed = async (texts: readonly string[]) => {
    asked.push([...texts]);
    return texts.map((text) => Float32Array.of(text.length, 1));
  };
  expect(await mostCentralText(['a', 'a', 'a'], embed)).toBe(0);
  expect(asked).toEqual([]);
  const texts = ['a', 'aaaaaaaa', 'aaaaaaaa', 'aaaaaaa'];
  expect(await mostCentralText(texts, embed)).toBe(mostCentral(texts.map(({ length }) => Float32Array.of(length, 1))));
  expect(asked).toEqual([['a', 'aaaaaaaa', 'aaaaaaa']]);
});

test('by tokens: what shares most with the others, however often it says it', () => {
  expect(overlap([[1, 2, 3]])).toBe(0);
  expect(overlap([[9, 8], [1, 2, 3], [1, 2, 4], [7]])).toBe(1);
  expect(
    overlap([
      [7, 7, 7],
      [1, 2],
      [1, 3],
      [1, 2, 3],
    ]),
  ).toBe(3);
  expect(overlap([[], []])).toBe(0);
});

const files = async (name: string) => fileSet(await folderSource(shared(name)), {});

describe.skipIf(noShared)('sentence embeddings', () => {
  it('of MiniLM: unit vectors, near where the meaning is, and the odd one out is not chosen', async () => {
    using sentences = (await openSentences(await files('models/all-minilm-l6-v2'))).model;
    const texts = [
      'The cat is on the roof.',
      'She buys 3 apples for 2 dollars each, so she pays 6 dollars.',
      'Three apples at two dollars each cost six dollars.',
      'The apples cost 3 × 2 = 6 dollars in total.',
    ];
    const found = await sentences.embed(texts);
    const cosine = (i: number, j: number): number =>
      (found[i] as Float32Array).reduce((sum, x, d) => sum + x * ((found[j] as Float32Array)[d] as number), 0);
    for (const [i, { length }] of found.entries()) {
      expect(length).toBe(384);
      expect(cosine(i, i)).toBeCloseTo(1, 5);
    }
    expect(cosine(1, 2)).toBeGreaterThan(0.6);
    expect(cosine(0, 2)).toBeLessThan(0.3);
    expect([1, 2, 3]).toContain(mostCentral(found));
    expect(await sentences.embed(['a'.repeat(5000).replaceAll('aaa', 'aa '), ''])).toHaveLength(2);
  });

  it('from an address, with the network in a folder of its own', async () => {
    const read = (name: string) => readFileSync(join(shared('models/all-minilm-l6-v2'), name));
    const names = ['tokenizer.json', 'tokenizer_config.json', 'onnx/model_quantized.onnx'];
    await using server = await serveFiles(Object.fromEntries(names.map((name) => [name, read(name)])));
    using sentences = (await openSentences(fileSet({ kind: 'url', url: server.address }, {}))).model;
    const [apples, pears] = await sentences.embed(['Three apples.', 'Three pears.']);
    expect(apples).toHaveLength(384);
    expect(apples).not.toEqual(pears);
    expect(server.requests.map(({ path }) => path)).toContain('onnx/model_quantized.onnx');
  });

  it('says what is missing', async () => {
    await expect(openSentences(await files('golden/llama-tiny'))).rejects.toThrow('tokenizer.json is missing');
    await expect(openSentences(await files('models/smollm2-135m-instruct'))).rejects.toThrow(
      'none of onnx/model_quantized.onnx',
    );
  });
});
