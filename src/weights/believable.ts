// Checks the counts of a config against the tensors of the same files. The counts decide how much is computed and
// allocated before the first tensor is read: 2³⁰ layers in a file of 200 tensors are refused here, before a loop over
// layers begins.
import { bad } from '../base/refuse.ts';
import type { TensorInfo } from './checkpoint.ts';

/** Counts up to these cost nothing, whatever the file holds: a drafter's config also has sizes of its target's. */
const HARMLESS_LAYERS = 1024;
const HARMLESS_SIZE = 2 ** 20;
/** Heads, and elements of a head: lists as long are made for every layer. Published models have at most 512 elements. */
const MOST_HEADS = 4096;

const LAYERS = /(^|_)num_(hidden_|target_)?layers$|^n_layer$/;
const SIZES = /^(hidden_size|intermediate_size|vocab_size|draft_vocab_size|n_embd|n_inner)$/;
const HEADS = /^(head_dim|n_head|num_(attention|key_value)_heads)$/;

/** Throws `bad-checkpoint` for a count in `config`, or in an object inside it, that the tensors contradict. */
export const checkCounts = (
  config: Readonly<Record<string, unknown>>,
  tensors: Iterable<Pick<TensorInfo, 'shape'>>,
  file = 'config.json',
): void => {
  let count = 0;
  let elements = 0;
  for (const { shape } of tensors) {
    count++;
    elements += shape.reduce((product, size) => product * size, 1);
  }
  const [layers, size] = [Math.max(HARMLESS_LAYERS, count), Math.max(HARMLESS_SIZE, elements)];
  const check = (fields: Readonly<Record<string, unknown>>, path: string): void => {
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value) && path === file)
        check(value as Readonly<Record<string, unknown>>, `${path}: ${name}`);
      if (typeof value !== 'number') continue;
      if (LAYERS.test(name) && value > layers)
        throw bad(
          `${path}: ${name} is ${value}, and the files hold ${count} tensors`,
          'The config is not of these weights.',
        );
      if (HEADS.test(name) && value > MOST_HEADS) throw bad(`${path}: ${name} is ${value}, more than ${MOST_HEADS}`);
      if (SIZES.test(name) && value > size)
        throw bad(
          `${path}: ${name} is ${value}, and the tensors have ${elements} elements`,
          'The config is not of these weights.',
        );
    }
  };
  check(config, file);
};
