// SmolLM3: the LLaMA decoder with layers that are not rotated. `no_rope_layers[i]` = 1 says that layer i *is* rotated.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readRope } from './rope-config.ts';

export const readSmolLM3 = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  config.ignore('max_window_layers'); // left over from Qwen2's config; the published code does not read it
  const interval = config.count('no_rope_layer_interval', 4);
  const named = config.indices('no_rope_layers');
  const rotated = (layers: number): readonly boolean[] => {
    if (named && named.length < layers)
      throw config.error(`no_rope_layers names ${named.length} layers, num_hidden_layers is ${layers}`);
    return Array.from({ length: layers }, (_, i) => (named ? named[i] !== 0 : (i + 1) % interval !== 0));
  };
  const window = config.countOrNull('sliding_window');
  const used = config.flag('use_sliding_window', false); // only where layer_types does not say which layers slide
  const types = readSliding(config);
  return readDecoder(config, {
    family: 'smollm3',
    sizes: { keyValueHeads: 4 },
    tied: true,
    bias: { queryKeyValue: bias, output: bias },
    feedForwardBias: config.flag('mlp_bias', false),
    windows: (layers) =>
      (types(layers) ?? rotated(layers).map((is) => used && !is)).map((slides) => (slides ? window : null)),
    ropes: (sizes) => {
      const rope = readRope(config, sizes, 2_000_000);
      return rotated(sizes.layers).map((is) => (is ? rope : null));
    },
  });
};
