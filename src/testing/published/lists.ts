// What others let people choose: the models of wllama's demo, and the quantisations of webgpu-bench's first model, by
// the names of their files (both lists as of June 2026).
import { PUBLISHED } from './configs.ts';

export interface ListedFile {
  /** The file's name without `.gguf`. */
  readonly file: string;
  /** Whose config it has (PUBLISHED). */
  readonly from: keyof typeof PUBLISHED;
  readonly quantisation: string;
  /** What is not run of it, or not known. */
  readonly note?: string;
}

const listed = (file: string, from: string, quantisation: string, note = ''): ListedFile => {
  if (!PUBLISHED[from]) throw new Error(`no config of ${from}`);
  return { file, from, quantisation, ...(note && { note }) };
};

export const WLLAMA: readonly ListedFile[] = [
  listed('LFM2.5-VL-450M-Q4_0', 'LiquidAI/LFM2.5-VL-450M', 'Q4_0', 'its text; the images’ encoder is another file'),
  listed('LFM2-700M-Q4_K_M', 'LiquidAI/LFM2-700M', 'Q4_K_M'),
  listed('LFM2-1.2B-Q4_K_M', 'LiquidAI/LFM2-1.2B', 'Q4_K_M'),
  listed('Qwen3-0.6B-Q8_0', 'Qwen/Qwen3-0.6B', 'Q8_0'),
  listed('Qwen3-1.7B-Q4_K_M', 'Qwen/Qwen3-1.7B', 'Q4_K_M'),
  listed('SmolLM3-Q4_K_M', 'HuggingFaceTB/SmolLM3-3B', 'Q4_K_M'),
  listed('smollm2-360m-instruct-q8_0', 'HuggingFaceTB/SmolLM2-360M-Instruct', 'Q8_0'),
  listed('qwen2.5-0.5b-instruct-q8_0', 'Qwen/Qwen2.5-0.5B-Instruct', 'Q8_0'),
  listed('llama-3.2-1b-instruct-q4_k_m', 'meta-llama/Llama-3.2-1B-Instruct', 'Q4_K_M'),
  listed('DeepSeek-R1-Distill-Qwen-1.5B-Q3_K_M', 'deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B', 'Q3_K_M'),
  listed('qwen2-1_5b-instruct-q4_k_m', 'Qwen/Qwen2-1.5B-Instruct', 'Q4_K_M', 'in 4 parts'),
  listed('smollm2-1.7b-instruct-q4_k_m', 'HuggingFaceTB/SmolLM2-1.7B-Instruct', 'Q4_K_M'),
  listed('gemma-2-2b-it-abliterated-Q4_K_M', 'google/gemma-2-2b-it', 'Q4_K_M', 'in 4 parts'),
  listed('neuralreyna-mini-1.8b-v0.3.q4_k_m', 'M4-ai/NeuralReyna-Mini-1.8B-v0.3', 'Q4_K_M', 'in 5 parts'),
  listed('Phi-3.1-mini-128k-instruct-Q3_K_M', 'microsoft/Phi-3.1-mini-128k-instruct', 'Q3_K_M', 'in 8 parts'),
  listed('meta-llama-3.1-8b-instruct-abliterated.Q2_K', 'meta-llama/Llama-3.1-8B-Instruct', 'Q2_K', 'in 14 parts'),
  listed('Meta-Llama-3.1-8B-Instruct-Q2_K', 'meta-llama/Llama-3.1-8B-Instruct', 'Q2_K', 'in 14 parts'),
];

const QUANTISATIONS = [
  'BF16 F16 IQ4_NL IQ4_XS Q2_K Q2_K_L Q3_K_M Q3_K_S Q4_0 Q4_1 Q4_K_M Q4_K_S Q5_K_M Q5_K_S Q6_K Q8_0',
  'UD-IQ1_M UD-IQ1_S UD-IQ2_M UD-IQ2_XXS UD-IQ3_XXS UD-Q2_K_XL UD-Q3_K_XL UD-Q4_K_XL UD-Q5_K_XL UD-Q6_K_XL UD-Q8_K_XL',
];

export const WEBGPU_BENCH: readonly ListedFile[] = QUANTISATIONS.join(' ')
  .split(' ')
  .map((name) =>
    listed(
      `Llama-3.2-1B-Instruct-${name}`,
      'meta-llama/Llama-3.2-1B-Instruct',
      name,
      name.startsWith('UD-') ? 'dynamic: the named type is tested, its exceptions are not known to us' : '',
    ),
  );
