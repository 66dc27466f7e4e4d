// Checks tokenizer.json before anything is built from it. The file comes from a stranger: an id decides how long lists
// become, and a pattern decides how long a search in a text takes.
import { bad } from '../base/refuse.ts';

type Json = Readonly<Record<string, unknown>>;

/** Ids beyond twice the entries and this many have no place in a vocabulary; published files leave few gaps. */
const GAP = 100_000;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (what: string, hint = ''): Error => bad(`tokenizer.json: ${what}`, hint);

/** Throws `bad-checkpoint`. Afterwards ids are whole numbers of a sane size, and no pattern can search for ever. */
export const checkTokenizer = (tokenizer: unknown): void => {
  if (!isObject(tokenizer)) throw wrong('it is not an object');
  const { model, added_tokens: added = [] } = tokenizer;
  if (!isObject(model)) throw wrong('it has no model');
  if (!Array.isArray(added)) throw wrong('added_tokens is not a list');
  const most = 2 * (checkEntries(model.vocab) + added.length) + GAP;
  const checkId = (id: unknown, what: string): void => {
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= most)
      throw wrong(`${what} has the id ${JSON.stringify(id)}, expected a whole number from 0 to ${most - 1}`);
  };
  if (isObject(model.vocab))
    for (const [entry, id] of Object.entries(model.vocab)) checkId(id, `the entry ${JSON.stringify(entry)}`);
  for (const token of added) {
    if (!isObject(token) || typeof token.content !== 'string') throw wrong('an entry of added_tokens has no content');
    checkId(token.id, `the added token ${JSON.stringify(token.content)}`);
  }
  checkPatterns([tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder, tokenizer.post_processor], 0);
};

/** The number of entries. */
const checkEntries = (vocabulary: unknown): number => {
  if (isObject(vocabulary)) return Object.keys(vocabulary).length;
  const isEntry = (entry: unknown): boolean => Array.isArray(entry) && typeof entry[0] === 'string';
  if (Array.isArray(vocabulary) && vocabulary.every(isEntry)) return vocabulary.length;
  throw wrong('model.vocab is neither an object nor a list of [text, score]');
};

/** Deeper than any published file nests its steps. */
const DEEPEST = 16;

/** Looks for `{ "Regex": pattern }` in every step. */
const checkPatterns = (value: unknown, depth: number): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEEPEST) throw wrong(`its steps are nested more than ${DEEPEST} deep`);
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'Regex' && typeof inner === 'string') checkPattern(inner);
    checkPatterns(inner, depth + 1);
  }
};

/**
 * A repeated group that holds another repetition or alternatives, `(a+)+` or `(a|aa)*`, can take a time exponential in
 * the text: a regular expression cannot be interrupted, so such a pattern is refused. No published split pattern has
 * one.
 */
export const checkPattern = (pattern: string): void => {
  /** For each open group: does it hold an unbounded repetition or alternatives? */
  const groups: boolean[] = [];
  let branches = false;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] as string;
    if (character === '\\') i++;
    else if (character === '[') i = classEnd(pattern, i);
    else if (character === '(') {
      groups.push(branches);
      branches = false;
    } else if (character === ')') {
      const inner: boolean = branches;
      branches = (groups.pop() ?? false) || inner;
      if (inner && repeats(pattern, i + 1))
        throw wrong(`the pattern ${JSON.stringify(pattern.slice(0, 80))} repeats a group that repeats`, SLOW);
    } else if (character === '|' && groups.length > 0) branches = true;
    else if (repeats(pattern, i)) branches = true;
  }
};

const SLOW = 'A text can keep such a pattern busy for ever, so the file is refused.';

/** `*`, `+` or `{n,}` at this place. */
const repeats = (pattern: string, at: number): boolean => /^(?:[*+]|\{\d+,\})/.test(pattern.slice(at, at + 12));

const classEnd = (pattern: string, start: number): number => {
  for (let i = start + 1; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++;
    else if (pattern[i] === ']') return i;
  }
  return pattern.length;
};
