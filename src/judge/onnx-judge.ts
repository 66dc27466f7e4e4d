// A judge as an ONNX file: config.json, model.onnx and, where its layout needs one, a tokenizer. Any network with the
// input `input_ids` (and `attention_mask`) will do. It keeps nothing of a text, so every step costs the whole text
// again; a judge of a known family costs only its new rows (device-judge.ts).
import { bad, refuse } from '../base/refuse.ts';
import type { LoadSourceOptions } from '../engine/load/loaded-models.ts';
import { loadTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { type ByteSource, type FileSet, readBytes, readJson } from '../weights/files/byte-source.ts';
import { missingFile } from '../weights/files/missing.ts';
import type { ProbedFiles } from '../weights/files/probed.ts';
import { readTokenizer } from '../weights/open.ts';
import { layoutOf } from './input-layout.ts';
import { readJudgeConfig } from './judge-config.ts';
import { TextCursor, type VocabularyJudge } from './judge-cursor.ts';
import { type OnnxEncoder, openTextOnnx } from './onnx.ts';

const NETWORK = 'model.onnx';
const WEIGHTS = ['model.safetensors', 'model.safetensors.index.json'];

/** Whether the ONNX network is the file that was named, or the folder has no other weights. */
export const isOnnx = async (files: ProbedFiles, signal: AbortSignal | undefined): Promise<boolean> => {
  if (files.entry) return files.entry.endsWith('.onnx');
  for (const name of WEIGHTS) if (await files.has(name, signal)) return false;
  return files.has(NETWORK, signal);
};

/** The file of the network. */
export const openJudgeNetwork = async (files: FileSet, signal: AbortSignal | undefined): Promise<ByteSource> => {
  const path = files.entry ?? NETWORK;
  const file = await files.open(path, { signal });
  if (!file) throw missingFile(files, path);
  return file;
};

/** As many bytes as the file has, and the network that they are. */
export const readNetwork = async (files: FileSet, { signal, onnx }: Pick<LoadSourceOptions, 'signal' | 'onnx'>) => {
  using file = await openJudgeNetwork(files, signal);
  const bytes = await readBytes(file, 0, file.size, signal);
  return { bytes: file.size, network: await openTextOnnx(files.entry ?? NETWORK, bytes, onnx) };
};

/** Reads all of a text again, from its first token. */
const rereading = (network: OnnxEncoder, vocabulary: number, context: number) => {
  let before: number[] = [];
  return {
    capacity: context,
    rewind: (length: number) => {
      before.length = length;
    },
    async read(tokens: readonly number[]): Promise<readonly Float32Array[]> {
      const text = [...before, ...tokens];
      const outside = text.find((token) => token >= vocabulary);
      if (outside !== undefined) throw refuse(`token ${outside} is outside the judge's vocabulary of ${vocabulary}`);
      const { rows, width, data } = await network.run(text);
      before = text;
      const row = (i: number): Float32Array => data.subarray(i * width, (i + 1) * width);
      // Of a network that answers once, the answer is the last token's.
      return tokens.map((_, i) => row(rows === 1 ? 0 : rows - tokens.length + i));
    },
    [Symbol.dispose]() {},
  };
};

export const loadOnnxJudge = async (
  files: FileSet,
  target: Tokenizer | null,
  options: Pick<LoadSourceOptions, 'signal' | 'onnx'>,
): Promise<{ judge: VocabularyJudge; notice: string | undefined }> => {
  const { signal } = options;
  const json = await readJson(files, 'config.json', { signal });
  if (!json) throw missingFile(files, 'config.json', `A judge is config.json and ${NETWORK}.`);
  const { vocab_size: vocabulary, max_position_embeddings: context } = json;
  for (const [name, value] of Object.entries({ vocab_size: vocabulary, max_position_embeddings: context }))
    if (!Number.isInteger(value) || (value as number) < 1) throw bad(`config.json: ${name} is ${value}`);
  const config = readJudgeConfig(json);
  const words = await readTokenizer(files, signal);
  const tokenizer = words && (await loadTokenizer(words));
  const { bytes, network } = await readNetwork(files, options);
  try {
    const { width } = await network.run([0]);
    const gives = config.gives ?? (width === 1 ? 'reward' : 'advantage');
    const layOut = layoutOf(config, gives, files.name, { own: tokenizer, target });
    const judge: VocabularyJudge = {
      family: 'onnx',
      gives,
      needsSteps: config.layout !== 'prompt',
      vocabulary: vocabulary as number,
      tokenizer,
      sharesVocabulary: config.layout !== 'published',
      context: context as number,
      bytes,
      async open({ capacity = context as number } = {}) {
        return new TextCursor(rereading(network, vocabulary as number, context as number), layOut, capacity);
      },
      [Symbol.dispose]: () => network[Symbol.dispose](),
    };
    return { judge, notice: network.notice };
  } catch (error) {
    network[Symbol.dispose]();
    throw error;
  }
};
