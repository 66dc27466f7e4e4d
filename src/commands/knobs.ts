// A system's settings as people type them: `--set block-size=8`, and `dflash:block-size=8` in a list of systems.
import { type KnobValue, parseKnob } from '../decode/knobs.ts';
import type { DecodingSystem } from '../decode/system.ts';
import { SYSTEMS } from '../systems/index.ts';
import { UsageError } from './arguments.ts';

export const readKnobs = (
  system: Pick<DecodingSystem, 'id' | 'knobs'>,
  settings: readonly string[],
  option = '--set',
): Record<string, KnobValue> =>
  Object.fromEntries(
    settings.map((setting) => {
      const [name, value] = setting.split(/=(.*)/s);
      if (!name || !value) throw new UsageError(`${option}: "${setting}" is not KNOB=VALUE`);
      return [name, parseKnob(system, name, value)];
    }),
  );

/** A system to be benched, with settings: the same one may be there several times. In a list, numbers are written 1/2/3. */
export interface Entry {
  /** As it was written. */
  readonly name: string;
  readonly system: DecodingSystem;
  readonly knobs: Readonly<Record<string, KnobValue>>;
}

export const readEntry = (name: string): Entry => {
  const [id = '', ...settings] = name.split(':');
  const system = SYSTEMS.find((known) => known.id === id);
  if (!system) {
    const known = SYSTEMS.map((each) => each.id).join(', ');
    throw new UsageError(`there is no system "${id}"`, `Systems: ${known}.`);
  }
  const listed = settings.map((setting) => setting.replaceAll('/', ','));
  return { name, system, knobs: readKnobs(system, listed, '--systems') };
};
