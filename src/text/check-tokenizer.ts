// Checks tokenizer.json before anything is built from it. The file comes from a stranger: an id decides how long lists
// become, and a replacement how long a text. Patterns are bounded where they run (bounded-pattern.ts).

import { OutriderError } from '../base/errors.ts';
import { isObject } from '../base/is-object.ts';
import { bad } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';

/** Ids beyond twice the entries and this many have no place in a vocabulary; published files leave few gaps. */
const GAP = 100_000;

/** Characters of an added token, and of all. Published ones have dozens, and some ten thousands in all. */
const LONGEST_ADDED = 1000;
const MOST_ADDED = 2 ** 20;

const wrong = (what: string): Error => bad(`tokenizer.json: ${what}`);

/** Any error that a file's content causes is reported as the file's. */
export const build = <T>(file: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof OutriderError) throw cause;
    throw bad(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, '', { cause });
  }
};

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
    const found = `${what} ${shown(name)} has the id ${shown(id)}`;
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
  for (const where of Object.keys(LISTS) as (keyof typeof LISTS)[])
    if ((tokenizer[where] ?? null) !== null) checkSteps(tokenizer[where], where);
  checkGrowth([tokenizer.normalizer, tokenizer.pre_tokenizer]);
  if ((model.type ?? null) !== null && !MODELS.includes(model.type as string))
    throw wrong(`the model ${shown(model.type)} is not supported (${MODELS.slice(0, 4).join(', ')} are)`);
  if (model.type === 'BPE' || model.merges !== undefined) checkMerges(model.merges);
  const longest = model.max_input_chars_per_word ?? 0;
  if (typeof longest !== 'number' || !(longest <= LONGEST_WORD))
    throw wrong(`max_input_chars_per_word is ${shown(longest)}, expected at most ${LONGEST_WORD}`);
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

/** The last is this project's own (sentencepiece.ts). A file without a type is told by its fields. */
const MODELS = ['BPE', 'WordPiece', 'Unigram', 'WordLevel', 'SentencePiece'];

/** Where the steps of a Sequence are, by what they are. */
const LISTS = {
  normalizer: 'normalizers',
  pre_tokenizer: 'pretokenizers',
  post_processor: 'processors',
  decoder: 'decoders',
};

const checkSteps = (step: unknown, where: keyof typeof LISTS, depth = 0): void => {
  if (!isObject(step) || typeof step.type !== 'string')
    throw wrong(`${where} has the step ${shown(step)}, expected an object with a type`);
  if (depth > DEEPEST) throw wrong(`its steps are nested more than ${DEEPEST} deep`);
  const { type, pattern } = step;
  if (type === 'Sequence') {
    const inner = step[LISTS[where]];
    if (!Array.isArray(inner)) throw wrong(`${where}: ${LISTS[where]} is ${shown(inner)}, expected a list`);
    for (const each of inner) checkSteps(each, where, depth + 1);
  }
  const known = isObject(pattern) && [pattern.String, pattern.Regex].some((text) => typeof text === 'string');
  if ((type === 'Split' || type === 'Replace') && !known)
    throw wrong(`${where}: the pattern of ${type} is ${shown(pattern)}, expected a String or a Regex`);
  if (type === 'TemplateProcessing' && !(Array.isArray(step.single) && step.single.every(isObject)))
    throw wrong(`${where}: single is ${shown(step.single)}, expected a list of objects`);
};

const isText = (value: unknown): value is string => typeof value === 'string';

/** Two tokens, as a list or as a text with a space between them. */
const isMerge = (merge: unknown): boolean =>
  isText(merge) ? merge.includes(' ') : Array.isArray(merge) && merge.length === 2 && merge.every(isText);

const checkMerges = (merges: unknown): void => {
  if (!Array.isArray(merges)) throw wrong(`model.merges is ${shown(merges)}, expected a list`);
  const odd = merges.findIndex((merge) => !isMerge(merge));
  if (odd >= 0) throw wrong(`model.merges[${odd}] is ${shown(merges[odd])}, expected two tokens`);
};

/** Steps run one after the other: forty that double each `a` make a text that no memory holds. */
const checkGrowth = (steps: readonly unknown[]): void => {
  let growth = 1;
  const visit = (step: unknown): void => {
    if (!isObject(step)) return;
    for (const inner of [step.normalizers, step.pretokenizers].flat()) visit(inner);
    const from = isObject(step.pattern) ? step.pattern.String : null;
    const least = typeof from === 'string' && from ? from.length : 1;
    for (const content of [step.content, step.prepend, step.replacement, step.str_rep])
      if (typeof content === 'string') growth *= Math.max(1, content.length / least);
    if (growth > GROWTH) throw wrong(`its replacements make a text more than ${GROWTH} times as long`);
  };
  for (const step of steps) visit(step);
};
