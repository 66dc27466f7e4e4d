// The arguments of a call that names each of them, as those of Qwen3-Coder and LFM2 do. A grammar keeps the schema of each;
// of what a schema says about all of them together it keeps which must be there.
import { isObject } from '../../base/is-object.ts';
import { isLocal, lookUp } from '../../constraint/local-reference.ts';
import type { GrammarRules } from './family.ts';
import { argumentsOf } from './json-call.ts';
import type { ToolFunction } from './tools.ts';

type Schema = Readonly<Record<string, unknown>>;

export interface NamedArgument {
  readonly key: string;
  readonly schema: unknown;
  readonly required: boolean;
}

export interface NamedArguments {
  /** In the order of the schema. */
  readonly listed: readonly NamedArgument[];
  /** The schema of arguments by any name, where none is listed. Null: there are none. */
  readonly others: unknown;
}

/** An argument that no schema lists, as EBNF: what the parsers of all families read as one. */
export const ANY_NAME = '[a-zA-Z_] [a-zA-Z0-9_-]*';

/** A schema, what it refers to, and the parts of its `allOf`: all of them hold. `whole`: where references are looked up. */
export const partsOf = (schema: unknown, whole: unknown, seen = new Set<unknown>()): readonly Schema[] => {
  if (!isObject(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const target = isLocal(schema) ? [lookUp(whole, schema.$ref)] : [];
  const all = Array.isArray(schema.allOf) ? schema.allOf : [];
  return [schema, ...[...target, ...all].flatMap((part) => partsOf(part, whole, seen))];
};

/** Several schemas as one; true: there are none. */
const joined = (schemas: readonly unknown[]): unknown =>
  schemas.length > 1 ? { allOf: schemas } : (schemas[0] ?? true);

/** What is said of arguments that are not listed. */
const unlisted = (parts: readonly Schema[]): unknown =>
  joined(parts.flatMap(({ additionalProperties: rest }) => (rest === undefined ? [] : [rest])));

const argumentIn = (parts: readonly Schema[], key: string): unknown => {
  const said = parts.flatMap(({ properties }) =>
    isObject(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [],
  );
  return said.length > 0 ? joined(said) : unlisted(parts);
};

/** The schema of an argument. */
export const argumentOf = (parameters: unknown, key: string): unknown =>
  argumentIn(partsOf(parameters, parameters), key);

/** `readable`: keys that the family's parser reads; others are left out. */
export const namedArguments = (own: ToolFunction, readable: RegExp, { says }: GrammarRules): NamedArguments => {
  const parameters = argumentsOf(own);
  const parts = partsOf(parameters, parameters);
  const all = parts.flatMap(({ properties }) => Object.keys(isObject(properties) ? properties : {}));
  const keys = [...new Set(all)].filter((key) => readable.test(key));
  const names: readonly unknown[] = parts.flatMap(({ required = [] }) => required);
  const complete = names.every((name) => keys.some((key) => key === name));
  says(parameters, ['type', 'properties', 'additionalProperties', complete ? 'required' : '']);
  const rest = unlisted(parts);
  const hasPatterns = parts.some(({ patternProperties }) => patternProperties !== undefined);
  return {
    listed: keys.map((key) => ({ key, schema: argumentIn(parts, key), required: names.includes(key) })),
    others: keys.length > 0 || (rest === false && !hasPatterns) ? null : rest || true,
  };
};
