// OLMo 2: the LLaMA decoder with norms after its parts instead of before them, and q/k norms over the whole width. OLMo 3
// also has a sliding window in some layers, whose RoPE is not scaled.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { type DecoderDifferences, readDecoder } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readLayerRopes } from './rope-config.ts';

const AT = 'model.layers.{i}';

const readOlmo = (config: Config, differences: Partial<DecoderDifferences>): Architecture => {
  const bias = config.flag('attention_bias', false);
  return readDecoder(config, {
    family: 'olmo2',
    queryKeyNorm: 'row',
    bias: { queryKeyValue: bias, output: bias },
    norms: 'after',
    epsilon: 1e-5,
    names: {
      attentionPostNorm: `${AT}.post_attention_layernorm.weight`,
      feedForwardPostNorm: `${AT}.post_feedforward_layernorm.weight`,
    },
    ...differences,
  });
};

export const readOlmo2 = (config: Config): Architecture => readOlmo(config, {});

export const readOlmo3 = (config: Config): Architecture => {
  const window = config.countOrNull('sliding_window', 4096);
  const types = readSliding(config);
  const slides = (layers: number): readonly boolean[] =>
    types(layers) ?? Array.from({ length: layers }, (_, layer) => (layer + 1) % 4 !== 0);
  const base = config.positive('rope_theta', 500_000);
  return readOlmo(config, {
    family: 'olmo3',
    windows: (layers) => slides(layers).map((slid) => (slid ? window : null)),
    ropes: (sizes) => {
      const { local, global } = readLayerRopes(config, sizes, base, base);
      return slides(sizes.layers).map((slid) => (slid ? local : global));
    },
  });
};
