// Whether two branches of `oneOf` have no value in common.
import { isObject } from '../base/is-object.ts';
import { impliedTypes, isOf, type Node, refused, TYPES, type Type } from './schema-keywords.ts';

/** Objects with the same properties are equal, in any order. */
const inOrder = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

/** What a branch of oneOf says at once about its values: their types, or the values themselves. */
const kinds = (
  node: unknown,
): { readonly types: readonly Type[] | null; readonly values: readonly string[] | null } => {
  if (!isObject(node)) return { types: null, values: null };
  const values = 'const' in node ? [node.const] : Array.isArray(node.enum) ? node.enum : null;
  if (values)
    return {
      types: TYPES.filter((type) => values.some((value) => isOf(value, type))),
      values: values.map((value) => JSON.stringify(value, inOrder)),
    };
  const types = [node.type].flat().filter((type) => TYPES.includes(type as Type)) as Type[];
  return { types: types.length > 0 ? types : null, values: null };
};

/** oneOf is compiled as anyOf, which is the same only where no value is of two branches. */
export const checkDisjoint = (branches: readonly unknown[], path: string): void => {
  for (const [i, a] of branches.entries())
    for (const b of branches.slice(i + 1))
      if (!disjoint(a, b))
        throw refused(
          path,
          'a value may be valid under two branches of oneOf',
          'Write anyOf, or give branches that differ by type or by a constant property.',
        );
};

/** No object that is written for `a` is valid under `b`, which requires a property that is not written. */
const lacks = (a: unknown, b: unknown): boolean => {
  if (!isObject(a) || !isObject(b) || [a, b].some((node) => '$ref' in node || 'anyOf' in node || 'oneOf' in node))
    return false;
  if ([a, b].some((node) => [node.type ?? 'object'].flat().join() !== 'object')) return false;
  if (Object.keys(a).some((name) => /^(depend|allOf|patternProperties|propertyNames)/.test(name))) return false;
  const [properties, required] = [a.properties ?? {}, a.required ?? []];
  if (!isObject(properties) || !Array.isArray(required) || !Array.isArray(b.required)) return false;
  const written = new Set<unknown>([...Object.keys(properties), ...required]);
  if (written.size === 0 && a.additionalProperties !== false) return false;
  return b.required.some((name) => !written.has(name));
};

/** Types of values that are written for `a` and may be valid under `b`. */
const sharedTypes = (a: unknown, b: unknown): readonly Type[] => {
  const valid = kinds(b).types ?? TYPES;
  const implied = isObject(a) && !('allOf' in a) ? impliedTypes(Object.keys(a)) : null;
  const written = kinds(a).types ?? implied ?? TYPES;
  const isNumeric = (type: Type): boolean => type === 'number' || type === 'integer';
  return written.filter((x) => valid.some((y) => x === y || (isNumeric(x) && isNumeric(y))));
};

const disjoint = (a: unknown, b: unknown): boolean => {
  const [first, second] = [kinds(a), kinds(b)];
  if (first.values && second.values) return !first.values.some((value) => second.values?.includes(value));
  const shared = [...sharedTypes(a, b), ...sharedTypes(b, a)];
  if (shared.length === 0) return true;
  if (lacks(a, b) && lacks(b, a)) return true;
  // Properties tell objects apart, but no values of other types.
  if (shared.some((type) => type !== 'object')) return false;
  if (!isObject(a) || !isObject(b) || !isObject(a.properties) || !isObject(b.properties)) return false;
  const [mine, others] = [a.properties, b.properties];
  const required = (node: Node, name: string): boolean => Array.isArray(node.required) && node.required.includes(name);
  return Object.keys(mine).some((name) => {
    const [x, y] = [kinds(mine[name]).values, kinds(others[name]).values];
    return x && y && required(a, name) && required(b, name) && !x.some((value) => y.includes(value));
  });
};
