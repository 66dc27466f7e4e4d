// GPT-2: LayerNorm, a feed-forward part without a gate, a learned row for each position instead of RoPE. Its matrices are
// stored with a row for each input, and some checkpoints name its tensors without `transformer.`.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder, readLayerNorm, readPlain, withBiases } from './decoder.ts';

/** Of a head that chooses among answers, of training, and of rounding. */
const UNUSED = [
  'attn_pdrop',
  'n_ctx', // n_positions again
  'reorder_and_upcast_attn',
  'summary_activation',
  'summary_first_dropout',
  'summary_proj_to_labels',
  'summary_type',
  'summary_use_proj',
  'task_specific_params',
];

const AT = 'transformer.h.{i}';

export const readGPT2 = (config: Config): Architecture => {
  config.must('scale_attn_weights', true);
  config.must('scale_attn_by_inverse_layer_idx', false);
  config.must('add_cross_attention', false);
  config.ignore(...UNUSED);
  const hidden = config.count('n_embd', 768);
  const transposed = config.flag('rows_are_inputs', true); // not in GGUF
  const decoder = readDecoder(config, {
    family: 'gpt2',
    tied: true,
    sizes: {
      hidden,
      layers: config.count('n_layer', 12),
      heads: config.count('n_head', 12),
      feedForward: config.countOrNull('n_inner') ?? 4 * hidden,
      vocabulary: 50_257,
      context: config.count('n_positions', 1024),
    },
    bias: { queryKeyValue: true, output: true },
    ropes: ({ layers }) => Array(layers).fill(null),
    norm: readLayerNorm(config, { field: 'layer_norm_epsilon' }),
    plain: readPlain(config, { field: 'activation_function', fallback: 'gelu_new' }),
    names: {
      embedding: 'transformer.wte.weight',
      positions: 'transformer.wpe.weight',
      ...withBiases({
        attentionNorm: `${AT}.ln_1`,
        query: `${AT}.attn.c_attn`,
        key: `${AT}.attn.c_attn`,
        value: `${AT}.attn.c_attn`,
        output: `${AT}.attn.c_proj`,
        feedForwardNorm: `${AT}.ln_2`,
        up: `${AT}.mlp.c_fc`,
        down: `${AT}.mlp.c_proj`,
        finalNorm: 'transformer.ln_f',
      }),
    },
  });
  return { ...decoder, transposed, input: { ...decoder.input, positions: 'learned' } };
};
