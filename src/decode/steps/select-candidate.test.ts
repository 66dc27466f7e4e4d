// Candidates are compared as in the paper, and texts are embedded once each.
import { expect, test } from 'vitest';
import { mostCentral, mostCentralText, mostOverlapping } from './select-candidate.ts';

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
  expect(mostOverlapping([[1, 2, 3]])).toBe(0);
  expect(mostOverlapping([[9, 8], [1, 2, 3], [1, 2, 4], [7]])).toBe(1);
  expect(
    mostOverlapping([
      [7, 7, 7],
      [1, 2],
      [1, 3],
      [1, 2, 3],
    ]),
  ).toBe(3);
  expect(mostOverlapping([[], []])).toBe(0);
});
