// Which layers of Qwen's models have a sliding window: `layer_types` where there is one, else a rule. Drafters with layers
// of LLaMA have one where `layer_types` says so: their configs have no switch, and without it no layer slides.
import type { Config } from './config.ts';
import { readSliding } from './layer-types.ts';

/** As the Qwen configs say it: every layer from `max_window_layers` on, and only where `use_sliding_window` is set. */
export const readWindows = (config: Config): ((layers: number) => readonly (number | null)[]) => {
  const llama = config.text('model_type', 'qwen3') === 'llama';
  const used = config.flag('use_sliding_window', llama);
  const window = config.countOrNull('sliding_window', llama ? null : 4096);
  const first = config.number('max_window_layers', 28);
  const types = readSliding(config);
  return (layers) => {
    const sliding = types(layers) ?? Array.from({ length: layers }, (_, i) => !llama && i >= first);
    return sliding.map((slides) => (used && slides ? window : null));
  };
};
