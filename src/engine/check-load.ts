// Checks what a load is asked for, while the models that are loaded are still there. Callers may write JavaScript, so
// types are not certain.
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { AlsoRole, ModelRole } from '../decode/core/system.ts';
import type { CachePrecision } from '../model/interface.ts';
import type { Precision } from '../weights/quantize/quantize.ts';

const ROLES: { readonly [Role in Exclude<ModelRole, AlsoRole>]: true } = {
  target: true,
  draft: true,
  dflash: true,
  dspark: true,
  eagle3: true,
  policy: true,
  prm: true,
  router: true,
  sentences: true,
  remote: true,
};
const PRECISIONS: { readonly [Each in Precision]: true } = { f32: true, f16: true, q8: true, q4: true };
const CACHES: { readonly [Each in CachePrecision]: true } = { f32: true, f16: true, q8: true };

const checkRole = (role: string): void => {
  if (Object.hasOwn(ROLES, role) || /^also-[1-9]\d*$/.test(role)) return;
  throw refuse(`there is no role "${role}"`, `Roles: ${Object.keys(ROLES).join(', ')}, also-1, also-2, ….`);
};

const checkOne = (name: string, value: unknown, known: object): void => {
  if (value === undefined || (typeof value === 'string' && Object.hasOwn(known, value))) return;
  throw refuse(`${name} must be one of ${Object.keys(known).join(', ')}, not ${shown(value)}`);
};

/** Throws `bad-request`. */
export const checkLoad = (sources: unknown, options: unknown): void => {
  if (!isObject(sources))
    throw refuse(`the models must be an object, not ${shown(sources)}`, 'Name each by its role: { target: … }.');
  for (const [role, source] of Object.entries(sources)) {
    checkRole(role);
    if (source !== undefined && typeof source !== 'string' && (typeof source !== 'object' || source === null))
      throw refuse(`${role}: a source must be an object or the name of a bundled model, not ${shown(source)}`);
  }
  if (!isObject(options)) throw refuse(`the options must be an object, not ${shown(options)}`);
  const { cache, precision } = options;
  checkOne('cache', cache, CACHES);
  if (!isObject(precision)) checkOne('precision', precision, PRECISIONS);
  else
    for (const [role, own] of Object.entries(precision)) {
      checkRole(role);
      checkOne(`precision.${role}`, own, PRECISIONS);
    }
};
