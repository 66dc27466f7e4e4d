// References to a place in the schema that they stand in, such as `#/$defs/name`.
import { isObject } from '../base/is-object.ts';
import type { Node } from './schema-keywords.ts';

/** A key of a reference. A wrong escape stays as it is. */
const unescaped = (part: string): string => {
  let key = part;
  try {
    key = decodeURIComponent(part);
  } catch {}
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
};

/** `#name` is none: it names an anchor. */
export const isPointer = (reference: unknown): reference is string =>
  typeof reference === 'string' && /^#(\/|$)/.test(reference);

export const isLocal = (node: unknown): node is Node & { readonly $ref: string } =>
  isObject(node) && isPointer(node.$ref);

/** What a pointer names in the whole schema; undefined: nothing. */
export const lookUp = (whole: unknown, pointer: string): unknown => {
  let found = whole;
  for (const part of pointer.split('/').slice(1)) {
    const key = unescaped(part);
    found = (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, key) ? (found as Node)[key] : undefined;
  }
  return found;
};
