// A checkpoint of either file format: a configuration, a table of tensors under their Hugging Face names, their rows in
// blocks of a few megabytes, and the tokenizer's files. Opening one reads headers only.
import type { WeightFormat } from './quantize/device-layout.ts';
import type { Repacker } from './quantize/repack.ts';

export interface TensorInfo {
  /** The Hugging Face name (`model.layers.0.self_attn.q_proj.weight`), also for GGUF. */
  readonly name: string;
  /** As stored: 'F32', 'BF16', 'I64', 'Q4_1' … */
  readonly type: string;
  /** Slowest dimension first: `[rows, columns]` of a matrix. */
  readonly shape: readonly number[];
  readonly bytes: number;
  /** Where its columns are put in an order that breaks up the blocks of its type: the type that keeps their values. */
  readonly readAs?: string;
}

/** The type whose values a tensor has once it is read; F32 where there is no such tensor. */
export const typeAsRead = (info: TensorInfo | undefined): string => info?.readAs ?? info?.type ?? 'F32';

/** Whole rows of one tensor. A vector is one row; dimensions before the last are flattened into rows. */
export interface RowBlock {
  readonly tensor: TensorInfo;
  readonly firstRow: number;
  readonly rows: number;
  /** The rows as stored; valid until the loop asks for the next block. */
  readonly raw: Uint8Array<ArrayBuffer>;
  /** rows × columns values, in a new array. */
  decode(): Float32Array<ArrayBuffer>;
  /** Turns the rows into this format without decoding them; undefined when that would lose something. */
  repacker(format: WeightFormat): Repacker | undefined;
}

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** Bytes of tensor data delivered so far, of `Checkpoint.bytes` (or of the wanted part of it). */
  readonly onProgress?: ((bytes: number) => void) | undefined;
  readonly wanted?: ((name: string) => boolean) | undefined;
}

export interface TokenizerFiles {
  /** tokenizer.json */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** tokenizer_config.json, always with the chat template in `chat_template` where the model has one. */
  readonly config: Readonly<Record<string, unknown>>;
  /** generation_config.json, or the same keys (`eos_token_id` …) made from GGUF metadata; `{}` when there is none. */
  readonly generation: Readonly<Record<string, unknown>>;
}

/** The field of tokenizer_config.json for a template, and for one that holds where tools are given. */
export const templateField = (template: unknown, withTools: unknown): TokenizerFiles['config'] => {
  if (typeof template !== 'string') return {};
  if (typeof withTools !== 'string') return { chat_template: template };
  const named = { default: template, tool_use: withTools };
  return { chat_template: Object.entries(named).map(([name, template]) => ({ name, template })) };
};

export interface Checkpoint extends Disposable {
  readonly format: 'safetensors' | 'gguf';
  /** For people: the file's or folder's name. */
  readonly name: string;
  /** All tensor data. */
  readonly bytes: number;
  /** Differs when the files of the weights differ, as far as their sizes and their server tell. */
  readonly version: string;
  /** config.json as published; for GGUF the same keys, made from its metadata. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** Tensors in file order, each in blocks of whole rows. */
  stream(options?: StreamOptions): AsyncIterable<RowBlock>;
  /** Null when the model has none: it then serves token ids only. */
  tokenizer(signal?: AbortSignal): Promise<TokenizerFiles | null>;
  /** generation_config.json, for a model without a tokenizer; `{}` when there is none. */
  generation(signal?: AbortSignal): Promise<TokenizerFiles['generation']>;
}

/** A tensor's rows and columns, as a matrix. */
export const matrixShape = (shape: readonly number[]): { rows: number; columns: number } => {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  return { rows, columns };
};
