// BlockPilot's policy (arXiv 2606.31315): after the prefill, a small network reads the target's last row of logits and
// predicts, for each block size, how many tokens a round would commit. It is a folder of config.json and policy.onnx.
import { bad } from '../base/refuse.ts';
import type { BlockPolicy } from '../decode/core/system.ts';
import { type ByteSource, type FileSet, readBytes, readJson } from '../weights/files/byte-source.ts';
import { missingFile } from '../weights/files/missing.ts';
import { type OnnxNetwork, openOnnx } from './onnx.ts';

/** What becomes of the logits first. `raw` is the paper's. */
const INPUTS = ['raw', 'softmax', 'normalised'] as const;
type Input = (typeof INPUTS)[number];

const isBlockPolicy = (config: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(config.architectures) && config.architectures[0] === 'BlockPilotPolicy';

interface PolicyConfig {
  readonly vocabulary: number;
  readonly blockSizes: readonly number[];
  readonly input: Input;
}

const readConfig = (json: Readonly<Record<string, unknown>>): PolicyConfig => {
  const { vocab_size: vocabulary, block_sizes: sizes, input } = json;
  if (!isBlockPolicy(json))
    throw bad(`config.json: architectures is ${JSON.stringify(json.architectures)}, no block-size policy`);
  if (!Number.isInteger(vocabulary) || (vocabulary as number) < 1)
    throw bad(`config.json: vocab_size is ${vocabulary}`);
  const ascending = (size: unknown, i: number, all: unknown[]): boolean =>
    Number.isInteger(size) && (size as number) > (i === 0 ? 0 : (all[i - 1] as number));
  if (!Array.isArray(sizes) || sizes.length === 0 || !sizes.every(ascending))
    throw bad(`config.json: block_sizes is ${JSON.stringify(sizes)}; expected ascending whole numbers from 1`);
  const known = INPUTS.find((name) => name === input);
  if (!known) throw bad(`config.json: input is ${JSON.stringify(input)}; expected one of ${INPUTS.join(', ')}`);
  return { vocabulary: vocabulary as number, blockSizes: sizes as number[], input: known };
};

const PREPARE: Readonly<Record<Input, (logits: Float32Array) => Float32Array>> = {
  raw: (logits) => logits,
  softmax: (logits) => {
    const top = logits.reduce((a, b) => Math.max(a, b));
    const masses = logits.map((logit) => Math.exp(logit - top));
    const sum = masses.reduce((a, b) => a + b);
    return masses.map((mass) => mass / sum);
  },
  normalised: (logits) => {
    const mean = logits.reduce((a, b) => a + b) / logits.length;
    const deviation = Math.sqrt(logits.reduce((sum, logit) => sum + (logit - mean) ** 2, 0) / logits.length);
    return logits.map((logit) => (logit - mean) / deviation);
  },
};

const NETWORK = 'policy.onnx';
const incomplete = (files: FileSet, name: string) =>
  missingFile(files, name, `A policy is config.json and ${NETWORK}.`);

/** The file of the network. */
export const openPolicyNetwork = async (files: FileSet, signal: AbortSignal | undefined): Promise<ByteSource> => {
  const file = await files.open(NETWORK, { signal });
  if (!file) throw incomplete(files, NETWORK);
  return file;
};

export const openBlockPolicy = async (files: FileSet, signal?: AbortSignal): Promise<BlockPolicy> => {
  const json = await readJson(files, 'config.json', { signal });
  if (!json) throw incomplete(files, 'config.json');
  const { vocabulary, blockSizes, input } = readConfig(json);
  using file = await openPolicyNetwork(files, signal);
  const network: OnnxNetwork = await openOnnx(NETWORK, await readBytes(file, 0, file.size, signal), {
    input: { name: 'features', width: vocabulary },
    output: { name: 'tau', width: blockSizes.length },
  });
  return {
    vocabulary,
    blockSizes,
    predict: async (logits) => [...(await network.run(PREPARE[input](logits)))],
    [Symbol.dispose]: () => network[Symbol.dispose](),
  };
};
