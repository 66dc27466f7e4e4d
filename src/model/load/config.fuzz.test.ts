// config.json comes from strangers. Damaged configs go through everything that reads one before weights are: the
// architecture, the list of tensors, the memory estimate. The outcome is an architecture or `bad-checkpoint`, soon.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { OutriderError } from '../../base/errors.ts';
import { inputs, Watch } from '../../testing/fuzz/inputs.ts';
import { mutateJson } from '../../testing/fuzz/mutate-json.ts';
import { pick, random } from '../../testing/fuzz/random.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { openCheckpoint } from '../../weights/open.ts';
import { tensorSpecs } from '../architecture.ts';
import { readArchitecture } from '../families/families.ts';
import { scratchBytes } from '../forward/scratch.ts';
import { checkedAny } from './checked-architecture.ts';
import { weightBytes } from './estimate.ts';

const SEED = 20_261_122;
const INPUTS = inputs(6_000);
const BUNDLED = ['target', 'draft', 'dflash', 'eagle3', 'prm', 'router'];

const SIZES = {
  num_hidden_layers: 4,
  hidden_size: 64,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  vocab_size: 331,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-5,
};

const { rms_norm_eps: _, num_key_value_heads: __, ...NO_RMS } = SIZES;

/** Fields that the bundled models do not have. */
const OTHERS: readonly Record<string, unknown>[] = [
  {
    ...SIZES,
    architectures: ['LlamaForCausalLM'],
    rope_theta: 5e5,
    rope_scaling: {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 128,
    },
  },
  { ...SIZES, architectures: ['MistralForCausalLM'], sliding_window: 32, head_dim: 16 },
  {
    architectures: ['Gemma3ForConditionalGeneration'],
    vision_config: {},
    text_config: {
      ...SIZES,
      head_dim: 24,
      sliding_window_pattern: 3,
      sliding_window: 16,
      query_pre_attn_scalar: 24,
      rope_local_base_freq: 1e4,
      rope_scaling: { rope_type: 'linear', factor: 8 },
      final_logit_softcapping: 30,
      attn_logit_softcapping: null,
    },
  },
  {
    ...SIZES,
    architectures: ['Phi3ForCausalLM'],
    original_max_position_embeddings: 64,
    partial_rotary_factor: 0.5,
    rope_scaling: { type: 'longrope', short_factor: [1, 1, 1, 1], long_factor: [1, 2, 3, 4] },
  },
  { ...SIZES, architectures: ['SmolLM3ForCausalLM'], no_rope_layers: [1, 1, 0, 1], use_sliding_window: false },
  {
    ...SIZES,
    architectures: ['GraniteForCausalLM'],
    embedding_multiplier: 12,
    attention_multiplier: 0.1,
    residual_multiplier: 0.22,
    logits_scaling: 8,
  },
  { ...SIZES, architectures: ['Olmo2ForCausalLM'], rope_theta: 5e5 },
  { architectures: ['GPT2LMHeadModel'], n_embd: 64, n_head: 4, n_layer: 4, n_positions: 256, vocab_size: 331 },
  { ...NO_RMS, architectures: ['GPTNeoXForCausalLM'], layer_norm_eps: 1e-5, rotary_pct: 0.25, rotary_emb_base: 1e4 },
  { ...NO_RMS, architectures: ['PhiForCausalLM'], layer_norm_eps: 1e-5, partial_rotary_factor: 0.5 },
  {
    ...SIZES,
    architectures: ['Qwen2ForCausalLM'],
    use_sliding_window: true,
    sliding_window: 16,
    max_window_layers: 2,
    layer_types: ['full_attention', 'full_attention', 'sliding_attention', 'sliding_attention'],
    rope_parameters: { rope_type: 'yarn', factor: 4, rope_theta: 1e6, original_max_position_embeddings: 64 },
  },
];

/** A file with these tensors, all zero. */
const safetensors = (config: Record<string, unknown>): Uint8Array<ArrayBuffer> => {
  let bytes = 0;
  const header = Object.fromEntries(
    tensorSpecs(readArchitecture(config)).map(({ checkpoint, shape }) => {
      const start = bytes;
      bytes += 2 * shape.reduce((product, size) => product * size, 1);
      return [checkpoint, { dtype: 'F16', shape, data_offsets: [start, bytes] }];
    }),
  );
  const text = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + bytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  return file;
};

const bundled = (name: string) => {
  const file = (part: string) =>
    new Uint8Array(readFileSync(resolve(import.meta.dirname, `../../../public/models/${name}/${part}`)));
  return { config: JSON.parse(new TextDecoder().decode(file('config.json'))), weights: file('model.safetensors') };
};

/** The tiny reference models: a model or a drafter of every family that is read. */
const references = () =>
  noShared
    ? []
    : readdirSync(shared('golden')).flatMap((name) => {
        const file = (part: string) => resolve(shared('golden'), name, part);
        if (!existsSync(file('config.json')) || !existsSync(file('model.safetensors'))) return [];
        const config = JSON.parse(readFileSync(file('config.json'), 'utf8'));
        return [{ name, config, weights: new Uint8Array(readFileSync(file('model.safetensors'))) }];
      });

it(`${INPUTS} damaged configs: an architecture or bad-checkpoint`, async () => {
  const models = [...BUNDLED.map(bundled), ...OTHERS.map((config) => ({ config, weights: safetensors(config) }))];
  const read = async (config: unknown, weights: Uint8Array<ArrayBuffer>): Promise<void> => {
    const files = new Map([
      ['config.json', new TextEncoder().encode(JSON.stringify(config))],
      ['model.safetensors', weights],
    ]);
    using checkpoint = await openCheckpoint({ kind: 'bytes', files });
    const architecture = checkedAny(checkpoint);
    weightBytes(architecture, checkpoint, undefined);
    scratchBytes(architecture);
  };
  for (const { config, weights } of models) await read(config, weights);
  const families = new Set<string>();
  for (const { config, weights } of references()) {
    // Judges with heads of their own, and families that are not read.
    if (
      !(await read(config, weights).then(
        () => true,
        () => false,
      ))
    )
      continue;
    families.add(String(config.architectures?.[0]));
    models.push({ config, weights });
  }
  console.log(
    `families of ../shared: ${noShared ? 'absent, so only those in the checkout' : [...families].join(', ')}`,
  );
  const below = random(SEED);
  const watch = new Watch();
  const messages = new Set<string>();
  let good = 0;
  for (let i = 0; i < INPUTS; i++) {
    const { config: whole, weights } = pick(models, below);
    const config = mutateJson(whole, below);
    try {
      await watch.input(() => read(config, weights));
      good++;
    } catch (error) {
      if (!(error instanceof OutriderError) || error.code !== 'bad-checkpoint')
        throw new Error(`input ${i}: ${JSON.stringify(config).slice(0, 2000)}`, { cause: error });
      messages.add(error.message.replaceAll(/[\d.]+/g, '#').slice(0, 40));
    }
    watch.check(`input ${i}: ${JSON.stringify(config).slice(0, 2000)}`);
  }
  console.log(`${INPUTS} damaged configs: ${good} read, refused in ${messages.size} ways, ${watch}`);
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(messages.size).toBeGreaterThan(20);
}, 900_000);
