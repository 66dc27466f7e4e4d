// The metadata of one architecture in a GGUF file. A key that is not known here is refused by name, since it may change
// the numbers. Keys: llama.cpp's gguf-py/gguf/constants.py.
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import type { GgufValue } from './container.ts';

/** Fields of an architecture that do not change its numbers, or that are zero for dense models. */
const HARMLESS = [
  'vocab_size',
  'tensor_data_layout',
  'embedding_length_out',
  'rope.scaling.finetuned',
  // How a head is divided among the positions of an image's patch, which are one and the same in text.
  'rope.dimension_sections',
];
const ZERO_ONLY = ['expert_count', 'expert_used_count', 'expert_shared_count', 'leading_dense_block_count'];

/** The fields of one architecture; remembers which were asked for, so that the rest can be refused. */
export class Fields {
  readonly #metadata: ReadonlyMap<string, GgufValue>;
  readonly #prefix: string;
  readonly #asked = new Set<string>();

  constructor(metadata: ReadonlyMap<string, GgufValue>, prefix: string) {
    this.#metadata = metadata;
    this.#prefix = prefix;
  }

  #get(key: string): GgufValue | undefined {
    this.#asked.add(`${this.#prefix}.${key}`);
    return this.#metadata.get(`${this.#prefix}.${key}`);
  }

  optional(key: string): number | undefined {
    const value = this.#get(key);
    // Some converters write one number a layer: the same one, in the architectures that are read here.
    const number = Array.isArray(value) && value.every((other) => other === value[0]) ? value[0] : value;
    if (number === undefined) return undefined;
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw bad(`${this.#prefix}.${key} is ${shown(value)}, expected one number`);
    return number;
  }

  required(key: string): number {
    const value = this.optional(key);
    if (value === undefined) throw bad(`GGUF metadata lacks ${this.#prefix}.${key}`);
    return value;
  }

  /** A size, or how many there are of something. */
  count(key: string): number {
    const value = this.required(key);
    if (!Number.isSafeInteger(value) || value < 1)
      throw bad(`${this.#prefix}.${key} is ${value}, expected a positive whole number`);
    return value;
  }

  positive(key: string, fallback?: number): number {
    const value = fallback === undefined ? this.required(key) : (this.optional(key) ?? fallback);
    if (value <= 0) throw bad(`${this.#prefix}.${key} is ${value}, expected a positive number`);
    return value;
  }

  /** One value a layer. */
  list(key: string): readonly GgufValue[] | undefined {
    const value = this.#get(key);
    return Array.isArray(value) ? value : undefined;
  }

  flag(key: string): boolean | undefined {
    const value = this.#get(key);
    if (value !== undefined && typeof value !== 'boolean')
      throw bad(`${this.#prefix}.${key} is ${shown(value)}, expected true or false`);
    return value;
  }

  /** A whole number that is no field of the architecture's own. */
  global(key: string): number {
    const value = this.#metadata.get(key);
    if (!Number.isInteger(value)) throw bad(`GGUF metadata lacks ${key}`);
    return value as number;
  }

  /** The tokens of the tokenizer inside; null: there is none. */
  get tokens(): number | null {
    const tokens = this.#metadata.get('tokenizer.ggml.tokens');
    return Array.isArray(tokens) ? tokens.length : null;
  }

  text(key: string): string | undefined {
    const value = this.#get(key);
    if (value !== undefined && typeof value !== 'string')
      throw bad(`${this.#prefix}.${key} is ${shown(value)}, expected a text`);
    return value;
  }

  refuseOthers(): void {
    for (const key of HARMLESS) this.#get(key);
    for (const key of ZERO_ONLY)
      if (this.optional(key)) throw bad(`${this.#prefix}.${key} is not 0: mixtures of experts are not supported`);
    for (const key of this.#metadata.keys())
      if (key.startsWith(`${this.#prefix}.`) && !this.#asked.has(key))
        throw bad(
          `GGUF metadata ${key} is not known to Outrider`,
          'It may change the results, so the file is refused.',
        );
  }
}
