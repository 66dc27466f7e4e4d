// Hunyuan (dense): the LLaMA decoder with norms on every query and key head after RoPE, whose base a fixed alpha
// stretches.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

/** Fields of siblings with experts, images or a classifier, and ids of tokens. */
const UNUSED = [
  'add_classification_head',
  'anyres_pooling_size',
  'anyres_vit_max_image_size',
  'anyres_vit_two_views',
  'attention_head_dim', // head_dim again
  'cla_share_factor', // counts only with use_cla
  'class_num',
  'dense_list',
  'enable_attention_fp32_softmax',
  'enable_lm_head_fp32',
  'eod_token_id',
  'im_end_id',
  'im_newline_id',
  'im_start_id',
  'image_token_id',
  'mask_init_id',
  'num_media_embeds',
  'org_vocab_size',
  'pad_id',
  'pool_type',
  'sep_token_id',
  'skip_cls_token',
  'text_end_id',
  'text_start_id',
  'video_end_id',
  'video_start_id',
];

const AT = 'model.layers.{i}.self_attn';

export const readHunyuan = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  config.must('use_qk_norm', true);
  config.must('use_cla', false);
  config.must('use_rotary_pos_emb', true);
  config.must('position_embedding_xdrope', false);
  config.must('norm_type', 'rms', 'hf_rms');
  config.must('num_experts', 1);
  config.ignore(...UNUSED);
  return readDecoder(config, {
    family: 'hunyuan',
    queryKeyNorm: 'rotated head',
    bias: { queryKeyValue: bias, output: bias },
    epsilon: 1e-5,
    names: { queryNorm: `${AT}.query_layernorm.weight`, keyNorm: `${AT}.key_layernorm.weight` },
    ropes: (sizes) => {
      const rope = readRope(config, { ...sizes, alpha: true });
      // The kernel takes a head's norm from before RoPE, which must not lengthen it.
      if ('attentionFactor' in rope.scaling && rope.scaling.attentionFactor !== 1)
        throw config.error(`RoPE type ${rope.scaling.type} is not supported in this family`);
      return Array(sizes.layers).fill(rope);
    },
  });
};
