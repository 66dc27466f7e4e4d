// Special tokens that tokenizer_config.json alone names. Transformers adds them to those of tokenizer.json, and so finds
// them in a text and ends an answer at them.
import { isObject } from '../base/is-object.ts';
import type { Entries } from './check-tokenizer.ts';

type Json = Readonly<Record<string, unknown>>;

/** In the order in which transformers adds them. */
const NAMED = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map((name) => `${name}_token`);

const contentOf = (token: unknown): string => {
  const content = isObject(token) ? token.content : token;
  return typeof content === 'string' ? content : '';
};

/**
 * tokenizer.json with the tokens of the config that it lacks: with the id of the vocabulary's entry, or the next one. The
 * same object where it lacks none.
 */
export const withConfigTokens = (tokenizer: Json, entries: Entries, config: Json): Json => {
  const added = (tokenizer.added_tokens ?? []) as readonly Json[];
  const { added_tokens_decoder: listed, additional_special_tokens: more } = config;
  const byId = isObject(listed) ? Object.entries(listed).toSorted(([a], [b]) => Number(a) - Number(b)) : [];
  const named = [...NAMED.map((name) => config[name]), ...(Array.isArray(more) ? more : [])];
  const tokens = [
    ...byId.map(([, token]) => token),
    ...named.map((token) => ({ content: contentOf(token), special: true })),
  ];
  const known = new Set(['', ...added.map(contentOf)]);
  const ids = new Map(entries);
  let next = Math.max(ids.size, ...added.map(({ id }) => Number(id) + 1));
  const absent = tokens.flatMap((token): Json[] => {
    const content = contentOf(token);
    if (known.has(content)) return [];
    known.add(content);
    const { lstrip = false, rstrip = false, single_word = false, special = true, normalized = false } = token as Json;
    return [{ id: ids.get(content) ?? next++, content, lstrip, rstrip, single_word, special, normalized }];
  });
  return absent.length === 0 ? tokenizer : { ...tokenizer, added_tokens: [...added, ...absent] };
};
