// Sentence embeddings of a real model, from a folder and from an address.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mostCentral } from '../decode/steps/select-candidate.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { folderSource } from '../weights/files/folder.ts';
import { fileSet } from '../weights/open.ts';
import { openSentences } from './sentences.ts';

const files = async (name: string) => fileSet(await folderSource(shared(name)), {});

it('names a tokenizer that is nested without end', async () => {
  const deep = `${'{"type":"NFC","normalizers":['.repeat(1e5)}{"type":"NFC"}${']}'.repeat(1e5)}`;
  const tokenizer = `{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":${deep}}`;
  const files = new Map([['tokenizer.json', new TextEncoder().encode(tokenizer)]]);
  await expect(openSentences(fileSet({ kind: 'bytes', files }, {}))).rejects.toMatchObject({ code: 'bad-checkpoint' });
});

describe.skipIf(noShared)('sentence embeddings', () => {
  it('MiniLM: unit vectors, close for similar meanings; the outlier is not chosen', async () => {
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
    await expect(openSentences(await files('models/smollm2-135m-instruct'))).rejects.toMatchObject({
      message: 'smollm2-135m-instruct: model.onnx is missing',
      hint: expect.stringContaining('one of onnx/model_quantized.onnx'),
    });
  });
});
