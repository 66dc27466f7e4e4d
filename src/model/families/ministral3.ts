// Ministral 3: the LLaMA decoder with YaRN, whose queries grow with their position past the context before scaling. That
// is not run, so the context ends there. Published configs nest it under `text_config`, next to a vision tower.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readMistral } from './llama.ts';
import { readRope } from './rope-config.ts';
import { readWithImages, TOWER } from './with-images.ts';

export const readMinistral3 = (config: Config): Architecture => {
  const window = config.countOrNull('sliding_window');
  const unused = ['llama_4_scaling_beta', 'max_position_embeddings'];
  const read = readDecoder(config, {
    family: 'ministral3',
    epsilon: 1e-5,
    sizes: { keyValueHeads: 8, headDim: 128 },
    windows: (layers) => Array<number | null>(layers).fill(window),
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, unused })),
  });
  const [{ mixer } = {}] = read.blocks;
  const scaling = mixer?.kind === 'attention' ? mixer.rope?.scaling : undefined;
  if (scaling?.type !== 'yarn') throw config.error('rope_parameters of type yarn are missing');
  const context = Math.min(read.sizes.context, scaling.originalContext);
  return { ...read, sizes: { ...read.sizes, context } };
};

/** Fields of the model that also sees images. */
const IMAGES = [
  'image_token_id',
  'image_token_index',
  'multimodal_projector_bias',
  'projector_hidden_act',
  'spatial_merge_size',
  'vision_config',
  'vision_feature_layer',
];

/** Mistral Small 3 is of this class too. */
export const readMistral3WithImages = (config: Config): Architecture => {
  const read = (text: Config): Architecture =>
    text.text('model_type', 'mistral') === 'ministral3' ? readMinistral3(text) : readMistral(text);
  return readWithImages(config, read, { tied: true, images: IMAGES, otherParts: TOWER });
};
