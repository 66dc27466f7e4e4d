// What an engine is made of, and the check of it: callers may write JavaScript, so types are not certain.
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import type { Gpu } from '../gpu/device.ts';
import { isAddress } from './bundled.ts';
import { checkDevice } from './engine-device.ts';

/** Where an engine takes its device, the bundled models and its systems from. */
export interface EngineOptions {
  /**
   * Default: the browser's, opened by the first load that needs it. Elsewhere: a device, in Node of the npm package
   * `webgpu`, or a function that opens one. Only a function can replace a lost device.
   */
  readonly gpu?: Gpu | GPUDevice | (() => Promise<Gpu | GPUDevice>);
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string;
  /** Default: all of systems/index.ts. */
  readonly systems?: readonly DecodingSystem[];
  /** Compile what no load waits for once nothing has run for a second, as the worker does. Default: when it is needed. */
  readonly whenIdle?: boolean;
}

const OPTIONS: { readonly [Name in keyof EngineOptions]-?: true } = {
  gpu: true,
  base: true,
  systems: true,
  whenIdle: true,
};

const isSystem = (system: unknown): boolean => isObject(system) && typeof system.start === 'function';

/** Throws `bad-request`. */
export const checkEngine = (options: unknown): void => {
  if (!isObject(options)) throw refuse(`the options must be an object, not ${shown(options)}`);
  for (const name of Object.keys(options))
    if (!Object.hasOwn(OPTIONS, name))
      throw refuse(`there is no option "${name}"`, `Options: ${Object.keys(OPTIONS).join(', ')}.`);
  const { gpu, base, systems, whenIdle } = options;
  if (gpu !== undefined && typeof gpu !== 'function') checkDevice(gpu);
  if (base !== undefined && !isAddress(base)) throw refuse(`base must be an address, not ${shown(base)}`);
  if (systems !== undefined && !(Array.isArray(systems) && systems.every(isSystem)))
    throw refuse(`systems must be a list of decoding systems, not ${shown(systems)}`, 'Those of Outrider are SYSTEMS.');
  if (whenIdle !== undefined && typeof whenIdle !== 'boolean')
    throw refuse(`whenIdle must be true or false, not ${shown(whenIdle)}`);
};
