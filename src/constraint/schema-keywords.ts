// The words of a JSON Schema: its types and keywords, those that are kept and those that are not, and what is thrown where
// a schema uses them wrongly.
import { isObject } from '../base/is-object.ts';
import { badConstraint } from '../base/refuse.ts';
import type { JsonSchema } from './constraint.ts';

export type Node = { readonly [keyword: string]: unknown };
export type Type = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

export const TYPES: readonly Type[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

export const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/** Keywords that are kept, by the type of value that they apply to. */
const KEYWORDS: Readonly<Record<Type, readonly string[]>> = {
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties', 'maxProperties'],
    ...['dependencies', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'propertyNames'],
  ],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: [...BOUNDS, 'multipleOf', 'divisibleBy'],
  integer: [...BOUNDS, 'multipleOf', 'divisibleBy'],
  boolean: [],
  null: [],
};

/** Keywords of any draft that are not kept, by the type of value that they apply to. */
export const UNKEPT: Readonly<Record<Type | 'any', readonly string[]>> = {
  any: ['not', 'if', 'then', 'else', '$dynamicRef', '$recursiveRef', 'extends', 'disallow'],
  object: [],
  array: ['contains', 'minContains', 'maxContains'],
  string: [],
  number: [],
  integer: [],
  boolean: [],
  null: [],
};

/** All keywords that say which values are valid. By the specification others are annotations. */
export const ASSERTIONS = new Set([
  ...['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'],
  ...[KEYWORDS, UNKEPT].flatMap((own) => Object.values(own).flat()),
]);

/** One letter more, less, other or swapped. */
const isSlip = (a: string, b: string): boolean => {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return Math.max(x.length, y.length) <= 1 || (x.length === 2 && x === [...y].reverse().join(''));
};

export const asNode = (value: unknown): Node => (isObject(value) ? value : {});

export const refused = (path: string, what: string, hint = ''): Error =>
  badConstraint(`json_schema at ${path === '' ? 'its root' : path}: ${what}`, hint);

export const unsupported = (path: string, keyword: string): Error =>
  refused(path, `${keyword} is not supported`, 'Leave it out and check the answer, or write the schema without it.');

/** Throws where a schema says more about its values than these keywords do. */
export const checkKeywords = (schema: JsonSchema, known: readonly string[], path: string): true => {
  const node = asNode(schema);
  checkSpelling(node, path);
  for (const name of Object.keys(node))
    if (ASSERTIONS.has(name) && node[name] !== undefined && !known.includes(name)) throw unsupported(path, name);
  return true;
};

/** A misspelt keyword would be taken for an annotation. */
export const checkSpelling = (node: Node, path: string): void => {
  for (const name of Object.keys(node)) {
    if (ASSERTIONS.has(name) || !/^[a-z]/i.test(name)) continue;
    const meant = [...ASSERTIONS].find((known) => known.length > 5 && isSlip(name, known));
    if (meant) throw refused(path, `${name} is no keyword`, `Did you mean ${meant}?`);
  }
};

export const typesOf = (node: Node, path: string): readonly Type[] | null => {
  if (node.type === undefined) return null;
  const types = [node.type].flat();
  const wrong = types.find((type) => !TYPES.includes(type as Type));
  if (types.length === 0 || wrong !== undefined)
    throw refused(path, `type ${JSON.stringify(wrong ?? node.type)} does not exist`, `Types: ${TYPES.join(', ')}.`);
  // An integer is a number.
  return (types as Type[]).filter((type) => type !== 'integer' || !types.includes('number'));
};

/** Without `type`: the one that the keywords are about. Other types would be valid too; they are not written. */
export const impliedTypes = (keywords: readonly string[]): readonly Type[] | null => {
  const type = TYPES.find((each) => keywords.some((name) => KEYWORDS[each].includes(name)));
  return type ? [type] : null;
};

/** Types that no value of another type is written for; null: any. */
export const writtenTypes = (node: Node, path: string): readonly Type[] | null => {
  const isCombined = ['$ref', 'const', 'enum', 'allOf', 'anyOf', 'oneOf', 'not'].some(
    (name) => node[name] !== undefined,
  );
  return typesOf(node, path) ?? (isCombined ? null : impliedTypes(Object.keys(node)));
};

export const isOf = (value: unknown, type: Type): boolean => {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
};
