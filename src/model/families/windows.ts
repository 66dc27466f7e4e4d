// Which layers have a sliding window: `layer_types` where there is one, else a rule of the family.
import type { Config } from './config.ts';

/** Given the number of layers, whether each has a window; null where the config does not say. */
export const readLayerTypes = (config: Config): ((layers: number) => readonly boolean[] | null) => {
  const types = config.texts('layer_types');
  return (layers) => {
    if (!types) return null;
    if (types.length !== layers)
      throw config.error(`layer_types names ${types.length} layers, num_hidden_layers is ${layers}`);
    return types.map((type, i) => {
      if (type !== 'sliding_attention' && type !== 'full_attention')
        throw config.error(`layer_types[${i}] = ${type} is not supported`);
      return type === 'sliding_attention';
    });
  };
};

/** As the Qwen configs say it: every layer from `max_window_layers` on, and only where `use_sliding_window` is set. */
export const readWindows = (config: Config): ((layers: number) => readonly (number | null)[]) => {
  const used = config.flag('use_sliding_window', false);
  const window = config.has('sliding_window') ? config.count('sliding_window') : null;
  const first = config.number('max_window_layers', 0);
  const types = readLayerTypes(config);
  return (layers) => {
    const sliding = types(layers) ?? Array.from({ length: layers }, (_, i) => i >= first);
    return sliding.map((slides) => (used && slides ? window : null));
  };
};
