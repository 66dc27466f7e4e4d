// Which layers of Qwen's models have a sliding window: `layer_types` where there is one, else a rule.
import type { Config } from './config.ts';
import { readSliding } from './layer-types.ts';

/** As the Qwen configs say it: every layer from `max_window_layers` on, and only where `use_sliding_window` is set. */
export const readWindows = (config: Config): ((layers: number) => readonly (number | null)[]) => {
  const used = config.flag('use_sliding_window', false);
  const window = config.countOrNull('sliding_window', 4096);
  const first = config.number('max_window_layers', 28);
  const types = readSliding(config);
  return (layers) => {
    const sliding = types(layers) ?? Array.from({ length: layers }, (_, i) => i >= first);
    return sliding.map((slides) => (used && slides ? window : null));
  };
};
