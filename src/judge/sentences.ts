// Sentence embeddings: a small ONNX encoder and its tokenizer from any folder or address in the sentence-transformers
// layout (all-MiniLM-L6-v2 …). The tokenizer library makes the tokens. An embedding is the mean over the tokens, of unit
// length.
import type { SentenceEncoder } from '../decode/core/system.ts';
import type { LoadedSentences, LoadSourceOptions } from '../engine/load/loaded-models.ts';
import { build, checkTokenizer } from '../text/check-tokenizer.ts';
import { type ByteSource, type FileSet, readBytes } from '../weights/files/byte-source.ts';
import { missingFile } from '../weights/files/missing.ts';
import { readTokenizer } from '../weights/open.ts';
import { openTextOnnx } from './onnx.ts';

/** Where exporters put the network, the smallest first. */
const NETWORKS = ['onnx/model_quantized.onnx', 'model_quantized.onnx', 'onnx/model.onnx', 'model.onnx'];
const NEEDS = `A sentence encoder is tokenizer.json and one of ${NETWORKS.join(', ')}.`;

/** The file of the network. */
export const openSentenceNetwork = async (files: FileSet, signal: AbortSignal | undefined): Promise<ByteSource> => {
  for (const name of NETWORKS) {
    const file = await files.open(name, { signal, optional: true });
    if (file) return file;
  }
  throw missingFile(files, NETWORKS.at(-1) as string, NEEDS);
};

/** The mean row, scaled to length 1. */
const pooled = (data: Float32Array, rows: number, width: number): Float32Array => {
  const sums = new Float32Array(width);
  for (let i = 0; i < rows * width; i++) sums[i % width] = (sums[i % width] as number) + (data[i] as number);
  const length = Math.sqrt(sums.reduce((sum, x) => sum + x * x, 0));
  return sums.map((x) => x / Math.max(length, Number.MIN_VALUE));
};

export const openSentences = async (
  files: FileSet,
  { signal, onnx }: Pick<LoadSourceOptions, 'signal' | 'onnx'> = {},
): Promise<Omit<LoadedSentences, 'name'>> => {
  const words = await readTokenizer(files, signal);
  if (!words) throw missingFile(files, 'tokenizer.json', NEEDS);
  build('tokenizer.json', () => checkTokenizer(words.tokenizer));
  const { openEncoder } = await import('../text/library.ts');
  const encoder = build('tokenizer.json', () => openEncoder(words.tokenizer, words.config));
  const longest = Number.isInteger(words.config.model_max_length) ? (words.config.model_max_length as number) : 512;
  using file = await openSentenceNetwork(files, signal);
  const network = await openTextOnnx(file.name, await readBytes(file, 0, file.size, signal), onnx);
  const model: SentenceEncoder = {
    bytes: file.size,
    async embed(texts) {
      const found: Float32Array[] = [];
      for (const text of texts) {
        const ids = build('tokenizer.json', () => encoder.encode(text, true));
        const { rows, width, data } = await network.run(ids.slice(0, longest));
        found.push(pooled(data, rows, width));
      }
      return found;
    },
    [Symbol.dispose]: () => network[Symbol.dispose](),
  };
  return { model, notice: network.notice };
};
