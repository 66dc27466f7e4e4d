// A system's settings as people type them: `--set block-size=8`.
import { type Knob, type KnobValue, parseKnob } from '../decode/core/knobs.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { SYSTEMS } from '../systems/index.ts';
import { UsageError } from './arguments.ts';

/** A knob that says how much is drafted at once. */
const isDraftSize = (knob: Knob): boolean => knob.kind !== 'choice' && knob.oneDraft !== undefined;

/**
 * A draft size that is given holds for every round, because such runs are compared with other implementations round by
 * round. The run falls back to plain decoding only if that is asked for too.
 */
const fixedDraftSize = ({ knobs }: Pick<DecodingSystem, 'knobs'>, given: ReadonlyMap<string, KnobValue>) => {
  const fixed = Object.entries(knobs).some(([name, knob]) => isDraftSize(knob) && (given.get(name) ?? 0) !== 0);
  return fixed && Object.hasOwn(knobs, 'fall-back') ? { 'fall-back': 'off' } : {};
};

export const readKnobs = (
  system: Pick<DecodingSystem, 'id' | 'knobs'>,
  settings: readonly string[],
): Record<string, KnobValue> => {
  const given = new Map<string, KnobValue>();
  for (const setting of settings) {
    const [name, value] = setting.split(/=(.*)/s);
    if (!name || value === undefined)
      throw new UsageError(
        `--set: "${setting}" is not KNOB=VALUE`,
        `outrider systems ${system.id} lists its knobs and their values.`,
      );
    if (given.has(name)) throw new UsageError(`--set: ${name} is given twice`);
    given.set(name, parseKnob(system, name, value));
  }
  return { ...fixedDraftSize(system, given), ...Object.fromEntries(given) };
};

/** What models are loaded for: these systems, and those that their knob `inner` names. */
export const withInner = (
  entries: readonly { readonly system: DecodingSystem; readonly knobs: Readonly<Record<string, KnobValue>> }[],
): readonly DecodingSystem[] =>
  entries.flatMap(({ system, knobs: { inner } }) => [system, ...SYSTEMS.filter(({ id }) => id === inner)]);
