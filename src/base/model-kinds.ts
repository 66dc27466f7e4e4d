// What a model is that is not run, by the name of its architecture (config.json's or GGUF's), and what can be done.

export interface ModelKind {
  /** Completes "it is not supported: …". */
  readonly what: string;
  readonly hint: string;
}

const DENSE = 'Choose a dense model, such as Qwen3, Llama 3.2, Gemma 3, or Granite 4 without H in its name.';

const EXPERTS: ModelKind = { what: 'it is a mixture of experts', hint: DENSE };
const COMPRESSED: ModelKind = {
  what: 'its keys and values are compressed (multi-head latent attention)',
  hint: DENSE,
};
const BOTH: ModelKind = {
  what: 'it has an encoder besides its decoder',
  hint: 'Outrider runs models that decode only, such as Qwen3, Llama 3.2 or Gemma 3.',
};

/** By names in small letters without `-` and `_`; the first that fits holds. */
const KINDS: readonly (readonly [RegExp, ModelKind])[] = [
  [/^dream|llada|diffusion/, { what: 'it writes by diffusion, not token after token', hint: DENSE }],
  [
    /gemma(3n|4)/,
    { what: 'Gemma 3n and 4 have embeddings of their own in every layer', hint: 'Gemma 1, 2 and 3 run.' },
  ],
  [
    /^chatglm/,
    {
      what: 'its layout is not that of transformers',
      hint: 'Load its version in the layout of transformers, whose name ends in -hf.',
    },
  ],
  [
    /bert|embed|encoder|(?<!lmhead|chat|reward)model$/,
    {
      what: 'it gives vectors (embeddings) or the states of a body without a head, and writes no text',
      hint: 'Load the model that was made to write, whose architectures end in ForCausalLM.',
    },
  ],
  [/^(m|um|long)?t5|bart|marian|pegasus|whisper|prophetnet|blenderbot|m2m100/, BOTH],
  [
    /mamba|rwkv|jamba|zamba|bamba|nemotronh|falconh|recurrent|xlstm|qwen3next|kimilinear|hybrid/,
    {
      what: 'it has recurrent layers (Mamba, RWKV and others)',
      hint: 'Of models with recurrent layers LFM2 and Qwen3.5 run, and Granite 4 without H in its name has none.',
    },
  ],
  [/moe|mixtral|gptoss|dbrx|grok|llama4|minimax|kimi|deepseekv|^deepseek|bailing|mimo|afmoe|mellum/, EXPERTS],
  [/minicpm3|youtu/, COMPRESSED],
  [/bitnet/, { what: 'its weights have three values, with norms of their own', hint: DENSE }],
  [
    /^(clip|mmproj)/,
    {
      what: 'it is the vision tower of another model',
      hint: 'Load the file of its language model, which is published next to this one.',
    },
  ],
  [
    /conditionalgeneration|vl|vision|image|ocr|llava|moondream|gemma|phi4m|chatmodel|audio|speech|tts|asr/,
    {
      what: 'it sees images or hears, and its language model is not known',
      hint: 'Of models that see images the language models of Gemma 3, Qwen2-VL to Qwen3.5, SmolVLM, LFM2-VL and Mistral 3 run.',
    },
  ],
];

type Json = Readonly<Record<string, unknown>>;

const EXPERT_FIELDS = ['num_experts', 'num_local_experts', 'n_routed_experts', 'moe_num_experts'];

/** `config`: what config.json says, which may tell what the name does not. Null: its kind is not known. */
export const modelKind = (name: string, config: Json = {}): ModelKind | null => {
  const plain = name.toLowerCase().replace(/[-_]/g, '');
  const named = KINDS.find(([pattern]) => pattern.test(plain));
  if (named) return named[1];
  if (EXPERT_FIELDS.some((field) => Number(config[field]) > 1)) return EXPERTS;
  if (config.is_encoder_decoder === true) return BOTH;
  return config.kv_lora_rank ? COMPRESSED : null;
};
