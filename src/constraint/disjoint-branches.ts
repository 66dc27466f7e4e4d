// Whether two branches of `oneOf` have no value in common.
import { isObject } from '../base/is-object.ts';
import { ASSERTIONS, asNode, impliedTypes, isOf, type Node, refused, TYPES, type Type } from './schema-keywords.ts';

/** Objects with the same properties are equal, in any order. */
const inOrder = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

/** What a schema says at once about its values: their types, or the values themselves. */
interface Kinds {
  readonly types: readonly Type[] | null;
  readonly values: ReadonlySet<string> | null;
}

const kinds = (node: unknown): Kinds => {
  if (!isObject(node)) return { types: null, values: null };
  const values = 'const' in node ? [node.const] : Array.isArray(node.enum) ? node.enum : null;
  if (values)
    return {
      types: TYPES.filter((type) => values.some((value) => isOf(value, type))),
      values: new Set(values.map((value) => JSON.stringify(value, inOrder))),
    };
  const types = [node.type].flat().filter((type) => TYPES.includes(type as Type)) as Type[];
  return { types: types.length > 0 ? types : null, values: null };
};

/** Values beyond which a schema has none; null: any. */
const valuesOf = (node: unknown): ReadonlySet<string> | null => {
  const { allOf } = asNode(node);
  const parts = Array.isArray(allOf) ? allOf.map((part) => kinds(part).values) : [];
  return kinds(node).values ?? parts.find((values) => values !== null) ?? null;
};

/** A branch of oneOf, read once: each is compared with all others. */
interface Branch extends Kinds {
  /** Types of the values that are written for it. */
  readonly written: readonly Type[];
  /** Values of the properties that it requires, by name. */
  readonly constants: ReadonlyMap<string, ReadonlySet<string>>;
  /** All properties that its objects are written with; null where they cannot be told. */
  readonly names: ReadonlySet<unknown> | null;
  /** Properties without which no value is valid; null where there may be others. */
  readonly needs: readonly unknown[] | null;
}

const branchOf = (node: unknown): Branch => {
  const { properties, required } = asNode(node);
  const listed = isObject(properties) && Array.isArray(required) ? Object.entries(properties) : [];
  const constants = listed.flatMap(([name, own]) => {
    const values = valuesOf(own);
    return values && (required as readonly unknown[]).includes(name) ? [[name, values] as const] : [];
  });
  const own = kinds(node);
  const implied = isObject(node) && !('allOf' in node) ? impliedTypes(Object.keys(node)) : null;
  const isPlain = isObject(node) && isPlainObject(node);
  return {
    ...own,
    written: own.types ?? implied ?? TYPES,
    constants: new Map(constants),
    names: isPlain ? namesOf(node) : null,
    needs: isPlain && Array.isArray(required) ? required : null,
  };
};

/** Its values are objects, by its own keywords alone. */
const isPlainObject = (node: Node): boolean =>
  !('$ref' in node || 'anyOf' in node || 'oneOf' in node) && [node.type ?? 'object'].flat().join() === 'object';

const namesOf = (node: Node): ReadonlySet<unknown> | null => {
  if (Object.keys(node).some((name) => /^(depend|allOf|patternProperties|propertyNames)/.test(name))) return null;
  const { properties = {}, required = [], additionalProperties } = node;
  if (!isObject(properties) || !Array.isArray(required)) return null;
  const possible = Object.keys(properties).filter((name) => properties[name] !== false);
  const names = new Set<unknown>([...possible, ...required]);
  return names.size === 0 && additionalProperties !== false ? null : names;
};

/**
 * Of a oneOf whose branches say no more than that they require one property: for each branch the names of the others. An
 * object without those is of this branch alone. Null: it says more.
 */
export const otherNames = (branches: readonly unknown[]): readonly (readonly unknown[])[] | null => {
  const names = branches.map(asNode).flatMap(({ required, ...node }) => {
    const isPlain = Object.keys(node).every((name) => name === 'type' || !ASSERTIONS.has(name));
    return isPlain && Array.isArray(required) && required.length === 1 ? [required[0] as unknown] : [];
  });
  return names.length === branches.length ? names.map((own) => names.filter((name) => name !== own)) : null;
};

/** oneOf is compiled as anyOf, which is the same only where no value is of two branches. */
export const checkDisjoint = (nodes: readonly unknown[], path: string): void => {
  const branches = nodes.map(branchOf);
  if (!areDisjoint(branches))
    throw refused(
      path,
      'a value may be valid under two branches of oneOf',
      'Write anyOf, or give branches that differ by type or by a constant property.',
    );
};

/** Most branches are told apart at once, by their values or by those of one property. Others are compared in pairs. */
const areDisjoint = (branches: readonly Branch[]): boolean => {
  if (areApart(branches.map(({ values }) => values))) return true;
  const [first] = branches;
  if (first && branches.every(({ written }) => written.join() === 'object'))
    for (const name of first.constants.keys())
      if (areApart(branches.map(({ constants }) => constants.get(name)))) return true;
  return branches.every((a, i) => branches.slice(i + 1).every((b) => disjoint(a, b)));
};

const areApart = (sets: readonly (ReadonlySet<string> | null | undefined)[]): boolean => {
  const all = new Set<string>();
  for (const set of sets) {
    const before = all.size;
    for (const value of set ?? []) all.add(value);
    if (!set || all.size < before + set.size) return false;
  }
  return true;
};

/** No object that is written for `a` is valid under `b`, which requires a property that is not written. */
const lacks = ({ names }: Branch, { needs }: Branch): boolean =>
  names !== null && (needs ?? []).some((name) => !names.has(name));

/** Types of values that are written for `a` and may be valid under `b`. */
const sharedTypes = (a: Branch, b: Branch): readonly Type[] => {
  const valid = b.types ?? TYPES;
  const isNumeric = (type: Type): boolean => type === 'number' || type === 'integer';
  return a.written.filter((x) => valid.some((y) => x === y || (isNumeric(x) && isNumeric(y))));
};

const disjoint = (a: Branch, b: Branch): boolean => {
  if (a.values && b.values) return areApart([a.values, b.values]);
  const shared = [...sharedTypes(a, b), ...sharedTypes(b, a)];
  if (shared.length === 0) return true;
  const differs = [...a.constants].some(([name, own]) => areApart([own, b.constants.get(name)]));
  // Properties tell objects apart, but no values of other types.
  if (differs && shared.every((type) => type === 'object')) return true;
  return lacks(a, b) && lacks(b, a);
};
