// `layer_types`: which of two kinds each layer is.
import type { Config } from './config.ts';

/** Given the number of layers, whether each is of kind `kind`, not `other`; null where the config does not say. */
export const readLayerTypes = (
  config: Config,
  kind: string,
  other: string,
): ((layers: number) => readonly boolean[] | null) => {
  const types = config.texts('layer_types');
  return (layers) => {
    if (!types) return null;
    if (types.length !== layers)
      throw config.error(`layer_types names ${types.length} layers, num_hidden_layers is ${layers}`);
    return types.map((type, layer) => {
      if (type !== kind && type !== other) throw config.error(`layer_types[${layer}] = ${type} is not supported`);
      return type === kind;
    });
  };
};

/** Whether each layer has a sliding window. */
export const readSliding = (config: Config): ((layers: number) => readonly boolean[] | null) =>
  readLayerTypes(config, 'sliding_attention', 'full_attention');
