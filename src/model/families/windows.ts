// Which layers have a sliding window, as the Qwen configs say it: `layer_types` where there is one, else every layer
// from `max_window_layers` on; and only where `use_sliding_window` is set.
import type { Config } from './config.ts';

export const readWindows = (config: Config): ((layers: number) => readonly (number | null)[]) => {
  const used = config.flag('use_sliding_window', false);
  const window = config.has('sliding_window') ? config.count('sliding_window') : null;
  const first = config.number('max_window_layers', 0);
  const types = config.texts('layer_types');
  return (layers) => {
    if (types && types.length !== layers)
      throw config.error(`layer_types names ${types.length} layers, num_hidden_layers is ${layers}`);
    return Array.from({ length: layers }, (_, i) => {
      const type = types?.[i] ?? (i >= first ? 'sliding_attention' : 'full_attention');
      if (type !== 'sliding_attention' && type !== 'full_attention')
        throw config.error(`layer_types[${i}] = ${type} is not supported`);
      return used && type === 'sliding_attention' ? window : null;
    });
  };
};
