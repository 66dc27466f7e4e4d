// How the models of an ensemble become one distribution r: the knobs of all ensemble systems, and initial values that
// suit the loaded models.
import type { Combination } from '../../model/interface.ts';
import { type ChoiceKnob, type KnobValues, type NumberKnob, type NumbersKnob, refuseKnob } from '../core/knobs.ts';
import type { Models, WriterRole } from '../core/system.ts';

/** The knobs of every ensemble system. */
export const combinationKnobs = {
  combine: {
    kind: 'choice',
    label: 'How the models are combined',
    options: ['weighted', 'contrastive'],
    initial: 'weighted',
  },
  lambda: {
    kind: 'numbers',
    label: 'λ, weight of the target, or of each model (weighted)',
    min: 0,
    max: 1,
    step: 0.05,
    initial: [0.5],
  },
  mu: {
    kind: 'number',
    label: 'μ, how far the others are subtracted (contrastive)',
    min: 0,
    max: 2,
    step: 0.05,
    initial: 0.1,
  },
} as const satisfies Readonly<Record<string, ChoiceKnob | NumberKnob | NumbersKnob>>;

/** The target and the models named `also-1`, `also-2`, …; where there is none of those, the target and its draft. */
export const memberRoles = (models: Models): readonly WriterRole[] => {
  const also: WriterRole[] = [];
  for (let i = 1; models[`also-${i}`]; i++) also.push(`also-${i}`);
  return ['target', ...(also.length > 0 ? also : (['draft'] as const))];
};

/** Equal weights. */
export const fitCombination = (models: Models) => ({
  lambda: { ...combinationKnobs.lambda, initial: [1 / memberRoles(models).length] },
});

/** One number for each member: as given, or what `spread` makes of a single one. */
export const eachMember = (
  name: string,
  given: readonly number[],
  members: number,
  spread = (one: number): readonly number[] => Array(members).fill(one),
): readonly number[] => {
  if (given.length === members) return given;
  if (given.length === 1) return spread(given[0] as number);
  throw refuseKnob(`${name} takes one number, or one for each of the ${members} models, not ${given.length}`);
};

/** Refuses weights that are not one for all or one a member, or that are all 0. */
export const combinationOf = (
  { combine, lambda, mu }: KnobValues<typeof combinationKnobs>,
  members: number,
): Combination => {
  if (combine === 'contrastive') return { kind: 'contrastive', mu };
  const others = (one: number) => [one, ...Array<number>(members - 1).fill((1 - one) / (members - 1))];
  const weights = eachMember('lambda', lambda, members, others);
  if (weights.every((weight) => weight === 0)) throw refuseKnob('lambda: all weights are 0');
  return { kind: 'weighted', weights };
};
