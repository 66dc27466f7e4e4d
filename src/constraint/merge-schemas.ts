// The parts of an `allOf` as one schema: what all of them say of a value. A keyword that two parts have, and that cannot
// be merged without weakening one of them, is refused by its name.

import { isObject } from '../base/is-object.ts';

type Node = { readonly [keyword: string]: unknown };

const LEAST = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const MOST = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);
/** They speak of what another keyword of the same part leaves over. */
const REST = [
  'additionalProperties',
  'additionalItems',
  'prefixItems',
  'unevaluatedProperties',
  'unevaluatedItems',
] as const;
/** What they leave over is read from these. */
const LISTED = ['properties', 'patternProperties', 'items', ...REST] as const;

const typesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** The types that both name; every integer is a number. */
const commonTypes = (a: unknown, b: unknown): readonly unknown[] => {
  const within = (types: readonly unknown[], type: unknown): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const [own, other] = [typesOf(a), typesOf(b)];
  return [...new Set([...own.filter((type) => within(other, type)), ...other.filter((type) => within(own, type))])];
};

const bothSchemas = (a: unknown, b: unknown): unknown => {
  if (a === false || b === false) return false;
  return a === true ? b : b === true ? a : { allOf: [a, b] };
};

const bothProperties = (a: Node, b: Node): Node => {
  const all = { ...a, ...b };
  for (const name of Object.keys(a)) if (Object.hasOwn(b, name)) all[name] = bothSchemas(a[name], b[name]);
  return all;
};

/** Two values of a keyword as one; undefined: that would say less than both. */
const both = (keyword: string, a: unknown, b: unknown): unknown => {
  if (keyword === 'type') {
    const types = commonTypes(a, b);
    return types.length > 0 ? types : undefined;
  }
  if (keyword === 'required' && Array.isArray(a) && Array.isArray(b)) return [...new Set([...a, ...b])];
  if ((keyword === 'properties' || keyword === 'patternProperties') && isObject(a) && isObject(b))
    return bothProperties(a, b);
  if (keyword === 'items' && !Array.isArray(a) && !Array.isArray(b)) return { allOf: [a, b] };
  if (keyword === 'additionalProperties') return bothSchemas(a, b);
  if (typeof a === 'number' && typeof b === 'number') {
    if (LEAST.has(keyword)) return Math.max(a, b);
    if (MOST.has(keyword)) return Math.min(a, b);
  }
  return JSON.stringify(a) === JSON.stringify(b) ? a : undefined;
};

const says = (part: Node, keywords: readonly string[]): boolean =>
  keywords.some((keyword) => part[keyword] !== undefined && part[keyword] !== true);

/** Whether its properties have names that are listed, and no patterns. */
const isListed = (part: Node): boolean =>
  (part.properties === undefined || isObject(part.properties)) &&
  !says(part, ['patternProperties', 'unevaluatedProperties']);

/** A part that says of each name in the other one's list what it says of additional properties. */
const withNamesOf = (part: Node, other: Node): Node => {
  if (!says(part, ['additionalProperties']) || !isListed(part) || !isListed(other)) return part;
  const own = part.properties ?? {};
  const others = Object.keys(other.properties ?? {}).filter((name) => !Object.hasOwn(own, name));
  const rest = Object.fromEntries(others.map((name) => [name, part.additionalProperties]));
  return { ...part, properties: { ...own, ...rest } };
};

/** Whether a part speaks of the remaining properties or items, and the other one changes which those are. */
const conflict = (part: Node, other: Node): boolean => {
  const isNamed = isListed(part) && isListed(other);
  const rest = isNamed ? REST.filter((keyword) => keyword !== 'additionalProperties') : REST;
  return (
    (says(part, rest) && LISTED.some((keyword) => other[keyword] !== undefined)) ||
    (says(part, ['unevaluatedProperties', 'unevaluatedItems']) && other.allOf !== undefined)
  );
};

/** `asserts`: whether a keyword says which values are valid; others are annotations, of which the last one stays. */
export const mergeSchemas = (
  parts: readonly Node[],
  asserts: (keyword: string) => boolean,
  refuse: (what: string) => Error,
): Node => {
  let merged: Record<string, unknown> = {};
  for (const each of parts) {
    for (const [one, other] of [
      [merged, each],
      [each, merged],
    ] as const)
      if (conflict(one, other))
        throw refuse(`${REST.find((keyword) => one[keyword] !== undefined)} in a part of allOf is not supported`);
    const part = withNamesOf(each, merged);
    merged = { ...withNamesOf(merged, each) };
    for (const [keyword, value] of Object.entries(part)) {
      const known = merged[keyword];
      merged[keyword] = known === undefined || !asserts(keyword) ? value : both(keyword, known, value);
      if (merged[keyword] !== undefined) continue;
      if (keyword === 'type') throw refuse('the types that it must have exclude each other');
      throw refuse(`${keyword} in several parts of allOf is not supported`);
    }
  }
  return merged;
};
