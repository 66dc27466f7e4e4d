// Checkpoints that also see images: the config of their language model is nested, and the rest of them is not loaded.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readHead } from './decoder.ts';

interface Parts {
  /** Whether embedding and head are one matrix where the outer config does not say. */
  readonly tied: boolean;
  /** Fields of the outer config that belong to the rest. */
  readonly images: readonly string[];
  /** How the names of the rest's tensors begin. */
  readonly otherParts: readonly string[];
}

/** The language model under `text_config`. */
export const readWithImages = (
  config: Config,
  read: (text: Config) => Architecture,
  { tied, images, otherParts }: Parts,
): Architecture => {
  const text = config.inner('text_config');
  if (!text) throw config.error('text_config is missing');
  const head = readHead(config, tied);
  config.ignore(...images);
  config.finish();
  const model = read(text);
  return { ...model, head, otherParts: [...(model.otherParts ?? []), ...otherParts] };
};

/** A vision tower and its projector, under the names of transformers 4 and 5. */
export const TOWER = ['vision_tower.', 'multi_modal_projector.'].flatMap((part) => [part, `model.${part}`]);

/** Fields and tensors of Qwen's. */
export const QWEN_IMAGES = {
  images: ['image_token_id', 'video_token_id', 'vision_config', 'vision_end_token_id', 'vision_start_token_id'],
  otherParts: ['model.visual.', 'visual.'],
};
