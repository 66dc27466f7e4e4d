// Small random models for every role, as files in memory: an engine loads them like any others.
import { type Architecture, tensorSpecs } from '../../model/architecture.ts';
import { readArchitecture, readDrafter, readScored } from '../../model/families/families.ts';
import type { Source } from '../../weights/open.ts';
import { noise } from '../device/run-kernel.ts';
import { TINY } from './tiny.ts';

const VOCABULARY = 50;
const LAYERS = 4;
const { architectures: _, tie_word_embeddings: __, ...BODY } = TINY;

type Config = Readonly<Record<string, unknown>>;
type Shapes = ReadonlyMap<string, readonly number[]>;

export interface TinyTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
}

export const safetensorsFile = (tensors: ReadonlyMap<string, TinyTensor>): Uint8Array => {
  let at = 0;
  const header = Object.fromEntries(
    [...tensors].map(([name, { shape, values }]) => {
      const from = at;
      at += values.byteLength;
      return [name, { dtype: 'F32', shape, data_offsets: [from, at] }];
    }),
  );
  const text = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + at);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  at = 8 + text.length;
  for (const { values } of tensors.values()) {
    file.set(new Uint8Array(values.buffer), at);
    at += values.byteLength;
  }
  return file;
};

/** A safetensors file of random numbers. */
const safetensors = (shapes: Shapes, seed: number): Uint8Array => {
  const random = noise(seed);
  const tensors = [...shapes].map(([name, shape]): [string, TinyTensor] => {
    const length = shape.reduce((a, b) => a * b, 1);
    const scale = shape.length < 2 ? 0.1 : 1.5 / Math.sqrt(shape[1] as number);
    const middle = name.includes('norm') ? 1 : 0;
    return [name, { shape, values: Float32Array.from({ length }, () => middle + scale * random()) }];
  });
  return safetensorsFile(new Map(tensors));
};

const source = (config: Config, architecture: Architecture, seed: number, others: Shapes = new Map()): Source => {
  const shapes = tensorSpecs(architecture).map(({ checkpoint, shape }) => [checkpoint, shape] as const);
  return {
    kind: 'bytes',
    files: new Map([
      ['config.json', new TextEncoder().encode(JSON.stringify(config))],
      ['model.safetensors', safetensors(new Map([...shapes, ...others]), seed)],
    ]),
  };
};

/** A language model with random weights. */
export const tinySource = (config: Config, seed: number): Source => source(config, readArchitecture(config), seed);

const drafter = (config: Config, seed: number): Source => source(config, readDrafter(config).architecture, seed);

/** They share a vocabulary of 50 tokens, and this context. */
export const tinyFamily = ({ context = 160 } = {}) => {
  const own = { vocab_size: VOCABULARY, max_position_embeddings: context };
  const target = { ...TINY, ...own, num_hidden_layers: LAYERS };
  const dflash = {
    ...BODY,
    ...own,
    architectures: ['DFlashDraftModel'],
    num_hidden_layers: 1,
    num_target_layers: LAYERS,
    block_size: 8,
    dflash_config: { mask_token_id: VOCABULARY - 1, target_layer_ids: [0, 2] },
  };
  const eagle3 = {
    ...BODY,
    ...own,
    architectures: ['LlamaForCausalLMEagle3'],
    num_hidden_layers: 1,
    draft_vocab_size: VOCABULARY,
  };
  const head = new Map([
    ['v_head.summary.weight', [1, TINY.hidden_size as number]],
    ['v_head.summary.bias', [1]],
  ]);
  return {
    target: tinySource(target, 1),
    draft: tinySource({ ...target, num_hidden_layers: 1 }, 2),
    dflash: drafter(dflash, 3),
    eagle3: drafter(eagle3, 4),
    prm: source({ ...target, layout: 'prompt' }, readScored(target), 5, head),
  };
};
