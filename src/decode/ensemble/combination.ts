// How the models of an ensemble become one distribution, as settings: the knobs that all ensemble systems have, and what suits the
// models that are there. A page needs no more of them than this until one is run (collaboration.ts is a chunk of its own).
import { refuse } from '../../base/refuse.ts';
import type { ChoiceKnob, NumberKnob, NumbersKnob } from '../core/knobs.ts';
import type { Models, WriterRole } from '../core/system.ts';

/** Of every ensemble system. */
export const combinationKnobs = {
  combine: {
    kind: 'choice',
    label: 'How the models become one',
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

/** The target, and those that were named beside it; nobody named, its draft. */
export const memberRoles = (models: Models): readonly WriterRole[] => {
  const also: WriterRole[] = [];
  for (let i = 1; models[`also-${i}`]; i++) also.push(`also-${i}`);
  return ['target', ...(also.length > 0 ? also : (['draft'] as const))];
};

/** All alike. */
export const fitCombination = (models: Models) => ({
  lambda: { ...combinationKnobs.lambda, initial: [1 / memberRoles(models).length] },
});

/** One for each member: as given, or the one for all that `spread` makes of it. */
export const eachMember = (
  name: string,
  given: readonly number[],
  members: number,
  spread = (one: number): readonly number[] => Array(members).fill(one),
): readonly number[] => {
  if (given.length === members) return given;
  if (given.length === 1) return spread(given[0] as number);
  throw refuse(`${name} takes one number, or one for each of the ${members} models, not ${given.length}`);
};
