// Checks tokenizer.json before anything is built from it. The file comes from a stranger: an id decides how long lists
// become, and a replacement how long a text. Patterns are bounded where they run (bounded-pattern.ts).

import { isObject } from '../base/is-object.ts';
import { bad } from '../base/refuse.ts';

/** Ids beyond twice the entries and this many have no place in a vocabulary; published files leave few gaps. */
const GAP = 100_000;

/** Characters of an added token, and of all. Published ones have dozens, and some ten thousands in all. */
const LONGEST_ADDED = 1000;
const MOST_ADDED = 2 ** 20;

const wrong = (what: string): Error => bad(`tokenizer.json: ${what}`);

/** Tokens with their ids. Listing 250 000 takes a tenth of a second, so it is done once. */
export type Entries = readonly (readonly [token: string, id: number])[];

/**
 * The vocabulary's entries. Throws `bad-checkpoint`. Afterwards ids are whole numbers of a sane size, and texts stay
 * about as long as they are.
 */
export const checkTokenizer = (tokenizer: unknown): Entries => {
  if (!isObject(tokenizer)) throw wrong('it is not an object');
  const { model, added_tokens: added = [] } = tokenizer;
  if (!isObject(model)) throw wrong('it has no model');
  if (!Array.isArray(added)) throw wrong('added_tokens is not a list');
  const entries = entriesOf(model.vocab);
  const most = 2 * (entries.length + added.length) + GAP;
  const checkId = (id: unknown, what: string, name: string): void => {
    if (Number.isInteger(id) && (id as number) >= 0 && (id as number) < most) return;
    const found = `${what} ${JSON.stringify(name)} has the id ${JSON.stringify(id)}`;
    throw wrong(`${found}, expected a whole number from 0 to ${most - 1}`);
  };
  for (const [token, id] of entries) checkId(id, 'the entry', token);
  let characters = 0;
  for (const token of added) {
    if (!isObject(token) || typeof token.content !== 'string') throw wrong('an entry of added_tokens has no content');
    checkId(token.id, 'the added token', token.content);
    if (token.content.length > LONGEST_ADDED) throw wrong(`an added token has more than ${LONGEST_ADDED} characters`);
    characters += token.content.length;
  }
  if (characters > MOST_ADDED) throw wrong(`the added tokens have more than ${MOST_ADDED} characters in all`);
  checkGrowth([tokenizer.normalizer, tokenizer.pre_tokenizer]);
  const longest = model.max_input_chars_per_word ?? 0;
  if (!((longest as number) <= LONGEST_WORD))
    throw wrong(`max_input_chars_per_word is ${JSON.stringify(longest)}, expected at most ${LONGEST_WORD}`);
  return entries;
};

/** Of a list with scores, an entry's place is its id. */
const entriesOf = (vocabulary: unknown): Entries => {
  if (isObject(vocabulary)) return Object.entries(vocabulary) as [string, number][];
  const isEntry = (entry: unknown): boolean => Array.isArray(entry) && typeof entry[0] === 'string';
  if (Array.isArray(vocabulary) && vocabulary.every(isEntry)) return vocabulary.map(([token], id) => [token, id]);
  throw wrong('model.vocab is neither an object nor a list of [text, score]');
};

/** Steps deeper than any published file nests them. */
const DEEPEST = 16;
/** Times that all replacements together may lengthen a text. Published ones put one character for another. */
const GROWTH = 64;
/** WordPiece looks a word up in all its parts; published files have 100. */
const LONGEST_WORD = 1000;

/** Steps run one after the other: forty that double each `a` make a text that no memory holds. */
const checkGrowth = (steps: readonly unknown[]): void => {
  let growth = 1;
  const visit = (step: unknown, depth: number): void => {
    if (!isObject(step)) return;
    if (depth > DEEPEST) throw wrong(`its steps are nested more than ${DEEPEST} deep`);
    for (const inner of [step.normalizers, step.pretokenizers].flat()) visit(inner, depth + 1);
    const from = isObject(step.pattern) ? step.pattern.String : null;
    const least = typeof from === 'string' && from ? from.length : 1;
    for (const content of [step.content, step.prepend, step.replacement, step.str_rep])
      if (typeof content === 'string') growth *= Math.max(1, content.length / least);
    if (growth > GROWTH) throw wrong(`its replacements make a text more than ${GROWTH} times as long`);
  };
  for (const step of steps) visit(step, 0);
};
