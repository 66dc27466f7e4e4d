// What an answer may be constrained to, and the check of its shape: a caller may pass on JSON of a stranger.
import { isObject } from '../base/is-object.ts';
import { badConstraint } from '../base/refuse.ts';

/** A JSON Schema: an object, or true (any JSON). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** The whole answer has this form; exactly one of them is given. */
export type Constraint =
  /** `whitespace`: `fixed` (the default) writes one line, `{"a": 1, "b": 2}`; with `any` the model lays it out. */
  | { readonly json_schema: JsonSchema; readonly whitespace?: 'fixed' | 'any' }
  /** The answer matches it from its first character to its last. No look-around, no back-references. */
  | { readonly regex: string }
  /** EBNF as GBNF and XGrammar write it; the rule `root` is the answer. */
  | { readonly grammar: string }
  /** One of these texts. */
  | { readonly choice: readonly string[] };

/** Which kind of constraint. */
export type ConstraintKind = 'json_schema' | 'regex' | 'grammar' | 'choice';

const KINDS: readonly ConstraintKind[] = ['json_schema', 'regex', 'grammar', 'choice'];

/** Long enough for the largest schemas in use; a grammar of more characters takes minutes to compile. */
const MOST_CHARACTERS = 262_144;

export const kindOf = (constraint: Constraint): ConstraintKind =>
  KINDS.find((kind) => (constraint as Readonly<Record<string, unknown>>)[kind] !== undefined) as ConstraintKind;

const hasNoPlace = (text: unknown): boolean => String(text).includes('\0') || /\p{Surrogate}/u.test(String(text));

const written = (kind: ConstraintKind, own: unknown): string => {
  try {
    return JSON.stringify(own);
  } catch (cause) {
    throw badConstraint(
      `${kind} cannot be written as JSON`,
      'Give plain data that holds neither itself nor a bigint.',
      { cause },
    );
  }
};

/** Throws `bad-constraint` with the field's name. */
export const checkConstraint = (value: unknown): Constraint => {
  if (!isObject(value)) throw badConstraint('a constraint must be an object', `Give one of ${KINDS.join(', ')}.`);
  const given = Object.keys(value).filter((name) => value[name] !== undefined);
  const [kind, ...others] = given.filter((name): name is ConstraintKind => KINDS.includes(name as ConstraintKind));
  if (!kind || others.length > 0)
    throw badConstraint(`a constraint has one of ${KINDS.join(', ')}; ${given.join(', ') || 'nothing'} was given`);
  const known = kind === 'json_schema' ? [kind, 'whitespace'] : [kind];
  const strange = given.find((name) => !known.includes(name));
  if (strange !== undefined) throw badConstraint(`a ${kind} constraint has no field "${strange}"`);
  const own = value[kind];
  if (kind === 'choice') {
    if (!Array.isArray(own) || own.length === 0 || !own.every((text) => typeof text === 'string' && text !== ''))
      throw badConstraint('choice must be a list of texts that are not empty');
  } else if (kind === 'json_schema') {
    if (typeof own !== 'boolean' && !isObject(own))
      throw badConstraint('json_schema must be an object, or true for any JSON');
    if (!['fixed', 'any', undefined].includes(value.whitespace as string | undefined))
      throw badConstraint('whitespace must be fixed or any');
  } else if (typeof own !== 'string' || own === '') throw badConstraint(`${kind} must be a text that is not empty`);
  if (kind !== 'json_schema' && [own].flat().some(hasNoPlace))
    throw badConstraint(`${kind} holds U+0000 or half of a surrogate pair, which no answer can have`);
  const { length } = written(kind, own);
  if (length > MOST_CHARACTERS)
    throw badConstraint(`this ${kind} has ${length} characters; at most ${MOST_CHARACTERS} can be compiled`);
  return value as unknown as Constraint;
};
