// What a local reference of a schema names: `#/$defs/city`.
import { isObject } from '../base/is-object.ts';

/** A key of a reference. A wrong escape stays as it is. */
const unescaped = (part: string): string => {
  let key = part;
  try {
    key = decodeURIComponent(part);
  } catch {}
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
};

/** Undefined: nothing. */
export const lookUp = (schema: unknown, pointer: string): unknown => {
  let found = schema;
  for (const part of pointer.split('/').slice(1)) {
    const key = unescaped(part);
    found =
      (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, key)
        ? (found as Readonly<Record<string, unknown>>)[key]
        : undefined;
  }
  return found;
};
