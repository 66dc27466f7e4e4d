// Reads a config.json field by field. A field that was not read, and is not known to be harmless, is an error that
// names it: it might change what the model computes.
import type { OutriderError } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';

type Json = Readonly<Record<string, unknown>>;

/** Fields that do not change what the network computes at inference. */
const HARMLESS: ReadonlySet<string> = new Set([
  '_attn_implementation',
  '_attn_implementation_autoset',
  '_commit_hash',
  '_name_or_path',
  'architectures',
  'attention_dropout',
  'auto_map', // names the Python files that transformers would run
  'bos_token_id',
  'cache_implementation', // names a cache of transformers
  'chunk_size_feed_forward', // memory only
  'dtype',
  'embd_pdrop',
  'eos_token_id',
  'hidden_dropout',
  'id2label', // names a classifier's answers
  'initializer_range',
  'is_llama_config',
  'label2id',
  'model_type',
  'output_attentions',
  'output_hidden_states',
  'pad_token_id',
  'pretraining_tp', // splits a product into slices: rounding only
  'resid_pdrop',
  'residual_dropout',
  'return_dict',
  'torch_dtype',
  'transformers.js_config',
  'transformers_version',
  'unk_token_id',
  'unsloth_fixed',
  'unsloth_version',
  'use_cache',
]);

/** How transformers 4 generates where nothing else says so: old files have all of these. */
const GENERATION: ReadonlySet<string> = new Set([
  'diversity_penalty',
  'do_sample',
  'early_stopping',
  'encoder_no_repeat_ngram_size',
  'length_penalty',
  'max_length',
  'min_length',
  'no_repeat_ngram_size',
  'num_beam_groups',
  'num_beams',
  'num_return_sequences',
  'pruned_heads',
  'remove_invalid_values',
  'repetition_penalty',
  'temperature',
  'tf_legacy_loss',
  'top_k',
  'top_p',
  'torchscript',
  'typical_p',
  'use_bfloat16',
]);

/** Of other models: where they are false they change nothing. */
const HARMLESS_WHEN_FALSE: ReadonlySet<string> = new Set([
  'add_cross_attention',
  'is_decoder',
  'is_encoder_decoder',
  'output_scores',
  'return_dict_in_generate',
  'tie_encoder_decoder',
]);

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export class Config {
  readonly #json: Json;
  readonly #path: string;
  readonly #names: Readonly<Record<string, string>>;
  readonly #read = new Set<string>();

  /** `names`: what the file calls fields that elsewhere have another name. */
  constructor(json: Json, path = 'config.json', names: Readonly<Record<string, string>> = {}) {
    this.#json = json;
    this.#path = path;
    this.#names = names;
  }

  /** The config of a family that has names of its own for some fields; it may also use the usual ones. */
  named(names: Readonly<Record<string, string>>): Config {
    return new Config(this.#json, this.#path, names);
  }

  /** The field's name in this file. */
  #own(name: string): string {
    const own = this.#names[name];
    return own !== undefined && this.#json[name] === undefined ? own : name;
  }

  /** Null and absent are the same: transformers writes null for "not used". */
  #get(name: string): unknown {
    const own = this.#own(name);
    this.#read.add(own);
    return this.#json[own] ?? undefined;
  }

  #wrong(name: string, what: string): OutriderError {
    const own = this.#own(name);
    const value = this.#json[own];
    return bad(`${this.#path}: ${own} is ${value === undefined ? 'missing' : shown(value)}, expected ${what}`);
  }

  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  number(name: string, fallback?: number): number {
    const value = this.#get(name) ?? fallback;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.#wrong(name, 'a number');
    return value;
  }

  positive(name: string, fallback?: number): number {
    const value = this.number(name, fallback);
    if (value <= 0) throw this.#wrong(name, 'a positive number');
    return value;
  }

  /** A bound that null switches off. */
  cap(name: string, fallback: number | null): number | null {
    return this.has(name) ? this.positive(name) : this.#json[name] === null ? null : fallback;
  }

  /** A positive integer; the bound keeps a lying header from asking for absurd allocations. */
  count(name: string, fallback?: number): number {
    const value = this.#get(name) ?? fallback;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 2 ** 30)
      throw this.#wrong(name, 'a positive whole number');
    return value;
  }

  /** A count that null switches off; `fallback` where it is absent. */
  countOrNull(name: string, fallback: number | null = null): number | null {
    return this.has(name) ? this.count(name) : this.#json[name] === null ? null : fallback;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.#get(name) ?? fallback;
    if (typeof value !== 'boolean') throw this.#wrong(name, 'true or false');
    return value;
  }

  text(name: string, fallback?: string): string {
    const value = this.#get(name) ?? fallback;
    if (typeof value !== 'string') throw this.#wrong(name, 'a string');
    return value;
  }

  /** Of a field that may be of another type. */
  isText(name: string): boolean {
    return typeof this.#get(name) === 'string';
  }

  texts(name: string): readonly string[] | null {
    const value = this.#get(name);
    if (value === undefined) return null;
    if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string'))
      throw this.#wrong(name, 'a list of strings');
    return value;
  }

  /** An id or the number of a layer: a whole number from 0 on. */
  index(name: string): number {
    const value = this.#get(name);
    if (!isIndex(value)) throw this.#wrong(name, 'a whole number');
    return value;
  }

  /** `least` is the smallest of them. */
  indices(name: string, least = 0): readonly number[] | null {
    const value = this.#get(name);
    if (value === undefined) return null;
    if (
      !Array.isArray(value) ||
      value.length === 0 ||
      !value.every((each) => typeof each === 'number' && isIndex(each - least))
    )
      throw this.#wrong(name, `a list of whole numbers${least === 0 ? '' : ` from ${least} on`}`);
    return value;
  }

  numbers(name: string): readonly number[] | null {
    const value = this.#get(name);
    if (value === undefined) return null;
    if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'number' && Number.isFinite(entry)))
      throw this.#wrong(name, 'a list of numbers');
    return value;
  }

  list(name: string): readonly unknown[] | null {
    const value = this.#get(name);
    if (value === undefined) return null;
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list');
    return value;
  }

  /** Fields that say nothing of what the network computes, or that the published code does not read. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  inner(name: string): Config | null {
    const value = this.#get(name);
    if (value === undefined) return null;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#wrong(name, 'an object');
    return new Config(value as Json, `${this.#path}: ${name}`);
  }

  /** A field of which only one value is supported, which is also the meaning of its absence; `also`: other names of it. */
  must(name: string, only: unknown, ...also: readonly unknown[]): void {
    const value = this.#get(name);
    if (value !== undefined && value !== only && !also.includes(value))
      throw bad(
        `${this.#path}: ${this.#own(name)} = ${shown(value)} is not supported`,
        `Only ${JSON.stringify(only)} is.`,
      );
  }

  /** To be called last: refuses the first field that was not read. */
  finish(): void {
    for (const [name, value] of Object.entries(this.#json)) {
      if (this.#read.has(name) || HARMLESS.has(name) || GENERATION.has(name) || (value ?? null) === null) continue;
      if (value === false && HARMLESS_WHEN_FALSE.has(name)) continue;
      throw bad(
        `${this.#path}: unknown field ${name} = ${shown(value)}`,
        'It may change what the model computes, so the model is refused. Remove the field if it does not.',
      );
    }
  }

  error(message: string, hint = ''): OutriderError {
    return bad(`${this.#path}: ${message}`, hint);
  }
}
