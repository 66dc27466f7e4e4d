// A system's settings as people type them: `--set block-size=8`.
import { type KnobValue, parseKnob } from '../decode/core/knobs.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { UsageError } from './arguments.ts';

/** How much is drafted at once. */
const SIZES = ['block-size', 'gamma', 'depth'];

/**
 * Who names a size means it in every round: such a run is compared with other implementations, round by round. It falls
 * back to plain decoding only where that is said too.
 */
const kept = ({ knobs }: Pick<DecodingSystem, 'knobs'>, given: ReadonlyMap<string, KnobValue>) =>
  Object.hasOwn(knobs, 'fall-back') && SIZES.some((name) => (given.get(name) ?? 0) !== 0) ? { 'fall-back': 'off' } : {};

export const readKnobs = (
  system: Pick<DecodingSystem, 'id' | 'knobs'>,
  settings: readonly string[],
): Record<string, KnobValue> => {
  const given = new Map<string, KnobValue>();
  for (const setting of settings) {
    const [name, value] = setting.split(/=(.*)/s);
    if (!name || !value) throw new UsageError(`--set: "${setting}" is not KNOB=VALUE`);
    if (given.has(name)) throw new UsageError(`--set: ${name} is given twice`);
    given.set(name, parseKnob(system, name, value));
  }
  return { ...kept(system, given), ...Object.fromEntries(given) };
};
