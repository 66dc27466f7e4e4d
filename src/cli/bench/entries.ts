// What a benchmark measures: a system with settings, and the baseline that it is compared with, which is plain decoding
// or, for ensembles, the plain ensemble.
import { refuse } from '../../base/refuse.ts';
import { type KnobValue, parseKnob } from '../../decode/core/knobs.ts';
import type { DecodingSystem } from '../../decode/core/system.ts';
import autoregressive from '../../systems/autoregressive.ts';
import { SYSTEMS } from '../../systems/index.ts';

/** A system with settings; one system may be there several times. */
export interface BenchEntry {
  /** As it is written: `dflash`, `dflash:block-size=8:draft=greedy`. */
  readonly name: string;
  readonly system: DecodingSystem;
  readonly knobs: Readonly<Record<string, KnobValue>>;
}

/** Reads an entry; a list of numbers is written 1/2/3. */
export const readEntry = (name: string): BenchEntry => {
  const [id = '', ...settings] = name.split(':');
  const system = SYSTEMS.find((known) => known.id === id);
  if (!system) throw refuse(`there is no system "${id}"`, `Systems: ${SYSTEMS.map((each) => each.id).join(', ')}.`);
  const knobs = settings.map((setting) => {
    const [knob, value] = setting.split(/=(.*)/s);
    if (!knob || value === undefined)
      throw refuse(
        `${name}: "${setting}" is not KNOB=VALUE`,
        `outrider systems ${id} lists its knobs and their values.`,
      );
    return [knob, parseKnob(system, knob, value.replaceAll('/', ','))] as const;
  });
  return { name, system, knobs: Object.fromEntries(knobs) };
};

export const PLAIN: BenchEntry = { name: autoregressive.id, system: autoregressive, knobs: {} };

/** The baseline of a system, with those of the system's settings that the baseline has too. */
export const baselineOf = ({ system, knobs }: Omit<BenchEntry, 'name'>): BenchEntry => {
  const baseline = SYSTEMS.find(({ id }) => id === system.baseline);
  if (!baseline) return PLAIN;
  const shared = Object.entries(knobs).filter(([name]) => Object.hasOwn(baseline.knobs, name));
  const name = [baseline.id, ...shared.map(([knob, value]) => `${knob}=${[value].flat().join('/')}`)].join(':');
  return { name, system: baseline, knobs: Object.fromEntries(shared) };
};

export const sameRuns = (a: BenchEntry, b: BenchEntry): boolean =>
  a.system.id === b.system.id &&
  Object.keys({ ...a.knobs, ...b.knobs }).every((name) => `${a.knobs[name]}` === `${b.knobs[name]}`);

/** Each entry once, every baseline before the systems that are compared with it. */
export const withBaselines = (systems: readonly BenchEntry[]): readonly BenchEntry[] => {
  const all: BenchEntry[] = [PLAIN];
  for (const entry of systems)
    for (const each of [baselineOf(entry), entry])
      if (!all.some((there) => sameRuns(there, each))) all.push(sameRuns(each, entry) ? entry : each);
  return all;
};
