// Parts of a schema with an `$id` of their own: a reference in them is meant from there, and not from the root.
import { isLocal } from './local-reference.ts';
import { type Node, refused } from './schema-keywords.ts';

/** Their members are schemas by any name; one that is called `$id` or `$ref` is no keyword. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** They hold values, which may look like schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples']);

interface Place {
  readonly node: object;
  readonly path: string;
  readonly isNamed: boolean;
  /** It stands in a part with an `$id`. */
  readonly isMoved: boolean;
}

/** `#name` is an anchor in older drafts. */
const movesBase = (id: unknown): boolean => typeof id === 'string' && !id.startsWith('#');

/** Throws where a reference is meant from another place than the root of the schema. */
export const checkBases = (whole: unknown): void => {
  const seen = { root: new Set<object>(), moved: new Set<object>() };
  const places: Place[] = [];
  const add = (node: unknown, place: Omit<Place, 'node'>): void => {
    const known = place.isMoved ? seen.moved : seen.root;
    if (typeof node !== 'object' || node === null || known.has(node)) return;
    known.add(node);
    places.push({ node, ...place });
  };
  add(whole, { path: '', isNamed: false, isMoved: false });
  for (const place of places) {
    const { node, path, isNamed } = place;
    const own = isNamed || node === whole ? {} : (node as Node);
    const isMoved = place.isMoved || movesBase(own.$id) || movesBase(own.id);
    if (isMoved && !isNamed && isLocal(node))
      throw refused(path, `$ref "${node.$ref}" below an $id is not supported`, 'Leave the $id out.');
    for (const [key, value] of Object.entries(node))
      if (isNamed || !VALUES.has(key))
        add(value, { path: `${path}/${key}`, isNamed: !isNamed && NAMED.has(key), isMoved });
  }
};
