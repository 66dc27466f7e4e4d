// The exact systems and the settings under which the contract tests run them, as their files declare them.
import type { KnobValue } from '../../decode/core/knobs.ts';
import type { DecodingSystem, Variant } from '../../decode/core/system.ts';
import autoregressive from '../../systems/autoregressive.ts';
import { SYSTEMS } from '../../systems/index.ts';

export type Settings = Readonly<Record<string, KnobValue>>;

/** A system with settings of one of its variants. */
export interface SystemVariant extends Variant {
  readonly system: DecodingSystem;
  /** For test titles: the id comes first, so that `-t ID` finds it. */
  readonly name: string;
}

export const baselineOf = ({ baseline = autoregressive.id }: DecodingSystem): DecodingSystem =>
  SYSTEMS.find(({ id }) => id === baseline) as DecodingSystem;

/** The settings that the baseline has too: how an ensemble is combined. */
export const baselineSettings = (system: DecodingSystem, knobs: Settings): Settings =>
  Object.fromEntries(Object.entries(knobs).filter(([name]) => Object.hasOwn(baselineOf(system).knobs, name)));

export const variantsOf = (system: DecodingSystem): readonly SystemVariant[] =>
  (system.variants ?? [{ knobs: {}, drawn: true }]).map(({ knobs, drawn }) => ({
    system,
    knobs,
    drawn,
    name: `${system.id} ${JSON.stringify(knobs)}`,
  }));

/** The options that these settings choose, initial ones where they choose none. */
export const choicesOf = ({ knobs }: DecodingSystem, settings: Settings): string =>
  Object.entries(knobs)
    .flatMap(([name, knob]) => (knob.kind === 'choice' ? [settings[name] ?? knob.initial] : []))
    .join();

/**
 * Whether drafts are drawn at random with these settings. They are not where every declared variant with the same
 * choices says so; settings that no variant declares count as drawn where any variant of the system is.
 */
export const isDrawn = (system: DecodingSystem, settings: Settings): boolean => {
  const all = variantsOf(system);
  const chosen = choicesOf(system, settings);
  const declared = all.filter(({ knobs }) => choicesOf(system, knobs) === chosen);
  return (declared.length > 0 ? declared : all).some(({ drawn }) => drawn);
};

/** It drafts and may fall back to plain decoding. */
export const isSpeculative = ({ knobs }: DecodingSystem): boolean => Object.hasOwn(knobs, 'fall-back');

/** It speculates even where that loses time. */
export const neverFallBack = (system: DecodingSystem, knobs: Settings): Settings =>
  isSpeculative(system) ? { ...knobs, 'fall-back': 'off' } : knobs;

/** The settings with which a draft is one token: a bonus token follows it at once. */
export const oneDraft = ({ knobs }: DecodingSystem): Settings =>
  Object.fromEntries(
    Object.entries(knobs).flatMap(([name, knob]): [string, KnobValue][] => {
      if (knob.kind === 'choice' || knob.oneDraft === undefined) return [];
      return [[name, knob.kind === 'numbers' ? [knob.oneDraft] : knob.oneDraft]];
    }),
  );

/** Exact systems, without the baselines that they are compared with. */
export const EXACT: readonly DecodingSystem[] = SYSTEMS.filter(
  (system) => system.guarantee === 'exact' && baselineOf(system) !== system,
);
