// A system's settings, declared once as data: pages build their controls from them, the command line reads them, and a
// wrong name or value is an error that says which are right.
import { decimal } from '../../base/decimal.ts';
import type { OutriderError } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';

/** A number within bounds. */
export interface NumberKnob {
  readonly kind: 'number';
  readonly label: string;
  readonly min: number;
  readonly max: number;
  /** A whole step allows whole numbers only. */
  readonly step: number;
  readonly initial: number;
  /** Why `max` is the most, where that is not obvious. */
  readonly most?: string;
  /** Marks a knob that says how much is drafted at once: the value at which a draft is one token. */
  readonly oneDraft?: number;
}

/** One of several options. */
export interface ChoiceKnob {
  readonly kind: 'choice';
  readonly label: string;
  readonly options: readonly string[];
  readonly initial: string;
  /** What to load for the options that are not offered now. */
  readonly others?: string;
}

/** Several numbers. */
export interface NumbersKnob {
  readonly kind: 'numbers';
  readonly label: string;
  readonly min: number;
  readonly max: number;
  /** As in a NumberKnob. Default: 1. */
  readonly step?: number;
  readonly initial: readonly number[];
  /** As in a NumberKnob. */
  readonly oneDraft?: number;
}

/** A setting. */
export type Knob = NumberKnob | ChoiceKnob | NumbersKnob;
/** A system's settings, by name. */
export type Knobs = Readonly<Record<string, Knob>>;
/** A setting's value. */
export type KnobValue = number | string | readonly number[];

export type KnobValues<K extends Knobs> = {
  readonly [Name in keyof K]: K[Name] extends ChoiceKnob
    ? K[Name]['options'][number]
    : K[Name] extends NumberKnob
      ? number
      : K[Name] extends NumbersKnob
        ? readonly number[]
        : KnobValue;
};

/** A wrong setting of a system. */
export const refuseKnob = (message: string, hint = ''): OutriderError => refuse(message, hint, { field: 'knobs' });

interface Named {
  readonly id: string;
  readonly knobs: Knobs;
}

const findKnob = ({ id, knobs }: Named, name: string): Knob => {
  const knob = Object.hasOwn(knobs, name) ? knobs[name] : undefined;
  if (knob) return knob;
  const known = Object.keys(knobs);
  throw refuseKnob(
    `${id} has no knob "${name}"`,
    known.length > 0 ? `Its knobs are: ${known.join(', ')}.` : 'It has none.',
  );
};

const isList = (value: KnobValue): value is readonly number[] => Array.isArray(value);

/** A list as people type it, with commas. A text keeps its quotes: "5" is no number. */
const asGiven = (value: unknown): string =>
  (Array.isArray(value) ? value.map(shown).join(',') : shown(value)) || 'nothing';

const check = (where: string, knob: Knob, value: KnobValue): KnobValue => {
  if (knob.kind === 'choice') {
    if (knob.options.some((option) => option === value)) return value;
    throw refuseKnob(`${where} must be one of ${knob.options.join(', ')}, not ${asGiven(value)}`, knob.others);
  }
  const { min, max } = knob;
  const whole = Number.isInteger(knob.step ?? 1);
  const fits = (one: unknown): boolean =>
    typeof one === 'number' && one >= min && one <= max && (!whole || Number.isInteger(one));
  const numbers = knob.kind === 'numbers' && isList(value) && value.length > 0 ? value : [value];
  if (isList(value) === (knob.kind === 'numbers') && numbers.every(fits)) return value;
  const kind = `${whole ? 'whole ' : ''}${knob.kind === 'numbers' ? 'numbers' : 'number'}`;
  throw refuseKnob(
    `${where} must be ${knob.kind === 'numbers' ? '' : 'a '}${kind} from ${min} to ${max}, not ${asGiven(value)}`,
    (knob.kind === 'number' && typeof value === 'number' && value > max && knob.most) || '',
  );
};

/** The knobs with the ranges and initial values that suit these models. */
export const fittedKnobs = <Models>(
  system: { readonly knobs: Knobs; fit?(models: Models): Knobs },
  models: Models,
): Knobs => ({ ...system.knobs, ...system.fit?.(models) });

/** Every knob's value: the given one, or else its initial one. */
export const resolveKnobs = (
  system: Named,
  given: Readonly<Record<string, KnobValue>> = {},
): Record<string, KnobValue> => {
  for (const name of Object.keys(given)) findKnob(system, name);
  return Object.fromEntries(
    Object.entries(system.knobs).map(([name, knob]) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      return [name, value === undefined ? knob.initial : check(`${system.id}: ${name}`, knob, value)];
    }),
  );
};

/** A value as people type it: `8`, `greedy`, `2,4,8`. */
export const parseKnob = (system: Named, name: string, text: string): KnobValue => {
  const knob = findKnob(system, name);
  const several = knob.kind === 'numbers';
  const numbers = (several ? text.split(',') : [text]).map((part) => decimal(part, false));
  const isNumeric = knob.kind !== 'choice' && numbers.every(Number.isFinite);
  // A text that is no number is refused as it was typed, with the right values.
  return check(`${system.id}: ${name}`, knob, isNumeric ? (several ? numbers : (numbers[0] as number)) : text);
};
