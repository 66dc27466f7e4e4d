// EXAONE 4: norms after its parts as in OLMo 2, and on every query and key head. Where some layers have a sliding window,
// the others are not rotated.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readRope } from './rope-config.ts';

const AT = 'model.layers.{i}';

/** Which layers slide: a pattern such as LLLG, or every layer but each n-th. */
const readPattern = (config: Config): ((layer: number) => boolean) => {
  if (!config.isText('sliding_window_pattern')) {
    const every = config.count('sliding_window_pattern', 4);
    return (layer) => (layer + 1) % every !== 0;
  }
  const pattern = config.text('sliding_window_pattern');
  if (!/^[LG]+$/.test(pattern)) throw config.error(`sliding_window_pattern ${pattern} has other letters than L and G`);
  return (layer) => pattern[layer % pattern.length] === 'L';
};

export const readExaone4 = (config: Config): Architecture => {
  const window = config.countOrNull('sliding_window', 4096);
  const types = readSliding(config);
  if (window === null) config.ignore('sliding_window_pattern');
  const pattern = window === null ? () => false : readPattern(config);
  const slides = (layers: number): readonly boolean[] =>
    types(layers) ?? Array.from({ length: layers }, (_, layer) => pattern(layer));
  return readDecoder(config, {
    family: 'exaone4',
    sizes: { keyValueHeads: 32 },
    queryKeyNorm: 'head',
    norms: 'after',
    epsilon: 1e-5,
    names: {
      attentionPostNorm: `${AT}.post_attention_layernorm.weight`,
      feedForwardPostNorm: `${AT}.post_feedforward_layernorm.weight`,
    },
    windows: (layers) => slides(layers).map((slides) => (slides ? window : null)),
    ropes: (sizes) => {
      const rope = readRope(config, sizes);
      return slides(sizes.layers).map((slides) => (slides || window === null ? rope : null));
    },
  });
};
