// Checks what a load is asked for, while the models that are loaded are still there. Callers may write JavaScript, so
// types are not certain.
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { AlsoRole, ModelRole } from '../decode/core/system.ts';
import type { CachePrecision } from '../model/interface.ts';
import { serverAddress } from '../remote/address.ts';
import type { Server } from '../remote/server.ts';
import type { FileSet } from '../weights/files/byte-source.ts';
import type { Source } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import { BUILT_IN } from './built-in.ts';
import { checkBundled, isAddress, SOURCES } from './bundled.ts';
import type { OnnxProvider } from './load/loaded-models.ts';
import type { PreflightOptions } from './preflight.ts';
import type { LoadOptions } from './sources.ts';

const ROLES: { readonly [Role in Exclude<ModelRole, AlsoRole>]: true } = {
  target: true,
  draft: true,
  dflash: true,
  dspark: true,
  eagle3: true,
  mtp: true,
  policy: true,
  prm: true,
  router: true,
  sentences: true,
  remote: true,
};
const PRECISIONS: { readonly [Each in Precision]: true } = { f32: true, f16: true, q8: true, q4: true };
const CACHES: { readonly [Each in CachePrecision]: true } = { f32: true, f16: true, q8: true };
const ONNX: { readonly [Each in OnnxProvider]: true } = { wasm: true, webgpu: true };
const VOCABULARIES: { readonly [Each in NonNullable<LoadOptions['vocabularies']>]: true } = { shared: true, own: true };

const LOAD_OPTIONS: { readonly [Name in keyof LoadOptions]-?: true } = {
  precision: true,
  cache: true,
  vocabularies: true,
  onnx: true,
  onProgress: true,
  signal: true,
};
const PREFLIGHT_OPTIONS: { readonly [Name in keyof PreflightOptions]-?: true } = {
  precision: true,
  cache: true,
  tokens: true,
  memory: true,
  signal: true,
};

const checkRole = (role: string): void => {
  if (Object.hasOwn(ROLES, role) || /^also-[1-9]\d*$/.test(role)) return;
  throw refuse(`there is no role "${role}"`, `Roles: ${Object.keys(ROLES).join(', ')}, also-1, also-2, ….`);
};

const checkOne = (name: string, value: unknown, known: object): void => {
  if (value === undefined || (typeof value === 'string' && Object.hasOwn(known, value))) return;
  throw refuse(`${name} must be one of ${Object.keys(known).join(', ')}, not ${shown(value)}`);
};

const isList = (value: unknown, isOne: (one: unknown) => boolean): boolean =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && [...(value as [])].every(isOne);

const isFile = (value: unknown): boolean => {
  const { name, slice } = (value ?? {}) as Partial<File>;
  return typeof name === 'string' && typeof slice === 'function';
};

/** By their tags: those of another frame are no instances of this one's classes. */
const isTagged = (value: unknown, tag: string): boolean => Object.prototype.toString.call(value) === `[object ${tag}]`;

interface Payload {
  readonly field: string;
  readonly what: string;
  readonly isRight: (value: unknown) => boolean;
}

/** What a source of each kind holds, and where. */
const PAYLOADS: { readonly [Kind in Source['kind']]: Payload } = {
  url: { field: 'url', what: 'an address', isRight: isAddress },
  // A FileList too, which an input has.
  files: { field: 'files', what: 'a list of files', isRight: (value) => isList(value, isFile) },
  bytes: {
    field: 'files',
    what: 'a Map of names and Uint8Arrays',
    isRight: (value) =>
      isTagged(value, 'Map') && isList((value as Map<unknown, unknown>).values(), (one) => isTagged(one, 'Uint8Array')),
  },
  folder: {
    field: 'files',
    what: 'an open set of files',
    isRight: (value) => typeof (value as Partial<FileSet> | null)?.open === 'function',
  },
};

/** A model that is loaded already, or one on another machine. */
const isModel = (role: string, { kind, model, open }: Readonly<Record<string, unknown>>): boolean => {
  if (role === 'remote') return kind === 'remote' || (kind === undefined && typeof open === 'function');
  if ((role === 'prm' || role === 'router') && kind === 'remote-judge') return true;
  return typeof model === 'object' && model !== null;
};

const checkSource = (role: string, source: object): void => {
  const given = source as Readonly<Record<string, unknown>>;
  const { kind } = given;
  if (isModel(role, given)) {
    if (kind === 'remote' || kind === 'remote-judge') serverAddress(source as Server, '');
    return;
  }
  if (role === 'remote' || typeof kind !== 'string' || !Object.hasOwn(PAYLOADS, kind))
    throw refuse(
      `${role}: a source of the kind ${shown(kind)} cannot be loaded`,
      role === 'remote'
        ? 'Give remote(address, model).'
        : `Kinds: ${Object.keys(PAYLOADS).join(', ')}; or give a model that is loaded already.`,
    );
  const { field, what, isRight } = PAYLOADS[kind as Source['kind']];
  if (!isRight(given[field]))
    throw refuse(`${role}: a source of the kind ${kind} needs ${field}, ${what}, not ${shown(given[field])}`);
};

const checkSources = (sources: unknown): void => {
  if (!isObject(sources))
    throw refuse(`the models must be an object, not ${shown(sources)}`, 'Name each by its role: { target: … }.');
  for (const [role, source] of Object.entries(sources)) {
    checkRole(role);
    if (source === undefined) continue;
    if (role === 'mtp' && source === BUILT_IN) continue;
    if (typeof source === 'string') {
      checkBundled(source);
      continue;
    }
    if (typeof source !== 'object' || source === null)
      throw refuse(`${role}: a source must be an object or the name of a bundled model, not ${shown(source)}`, SOURCES);
    checkSource(role, source);
  }
  checkMembers(sources);
};

/** An ensemble counts its members up to the first that is missing. */
const checkMembers = (sources: Readonly<Record<string, unknown>>): void => {
  const given = Object.keys(sources).filter((role) => role.startsWith('also-') && sources[role] !== undefined);
  for (let i = 1; i <= given.length; i++)
    if (!given.includes(`also-${i}`))
      throw refuse(`${given.join(', ')}: there is no also-${i}`, 'Number these models from also-1 on, without a gap.');
};

const checkOptions = (options: unknown, known: object): void => {
  if (!isObject(options)) throw refuse(`the options must be an object, not ${shown(options)}`);
  for (const name of Object.keys(options))
    if (!Object.hasOwn(known, name))
      throw refuse(`there is no option "${name}"`, `Options: ${Object.keys(known).join(', ')}.`);
  const { cache, onnx, precision, vocabularies } = options;
  checkOne('cache', cache, CACHES);
  checkOne('onnx', onnx, ONNX);
  checkOne('vocabularies', vocabularies, VOCABULARIES);
  if (!isObject(precision)) checkOne('precision', precision, PRECISIONS);
  else
    for (const [role, own] of Object.entries(precision)) {
      checkRole(role);
      checkOne(`precision.${role}`, own, PRECISIONS);
    }
};

/** Throws `bad-request`. */
export const checkLoad = (sources: unknown, options: unknown): void => {
  checkSources(sources);
  checkOptions(options, LOAD_OPTIONS);
};

/** Throws `bad-request`. */
export const checkPreflight = (sources: unknown, options: unknown): void => {
  checkSources(sources);
  checkOptions(options, PREFLIGHT_OPTIONS);
};
