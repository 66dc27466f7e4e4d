// What all step systems have in common: their limits, and the exact system that writes escalated steps.
import type { ChoiceKnob, Knobs, KnobValues } from '../decode/core/knobs.ts';
import type { DecodingSystem, ModelRole, Models } from '../decode/core/system.ts';
import autoregressive from './autoregressive.ts';
import blockpilot from './blockpilot.ts';
import dflash from './dflash.ts';
import draftModel from './draft-model.ts';
import eagle3 from './eagle3.ts';
import promptLookup from './prompt-lookup.ts';

/** Any of them writes what the target would. */
const INNER: readonly DecodingSystem[] = [blockpilot, dflash, eagle3, draftModel, promptLookup, autoregressive];
/** By itself the first of these for which the models are there. */
const PREFERRED: readonly DecodingSystem[] = [blockpilot, dflash, autoregressive];

const innerKnob: ChoiceKnob = {
  kind: 'choice',
  label: "System that writes the target's steps",
  options: INNER.map(({ id }) => id),
  initial: autoregressive.id,
};

export const limitKnobs = {
  'step-tokens': { kind: 'number', label: 'Most tokens of a step', min: 1, max: 4096, step: 1, initial: 128 },
  'max-steps': { kind: 'number', label: 'Most steps of an answer', min: 1, max: 4096, step: 1, initial: 256 },
  delimiter: {
    kind: 'number',
    label: 'Token that ends a step (-1: a blank line of the text)',
    min: -1,
    max: 2 ** 24,
    step: 1,
    initial: -1,
  },
} as const satisfies Knobs;

export const stepKnobs = { inner: innerKnob, ...limitKnobs } as const;

export type StepKnobs = KnobValues<typeof stepKnobs>;

/** What the nested system is faster with. */
export const NESTED_USES: readonly ModelRole[] = ['dflash', 'policy'];

/** Which nested systems these models serve. */
export const fitInner = (models: Models): Knobs => {
  const serves = ({ needs }: DecodingSystem): boolean => needs.every((role) => models[role] !== undefined);
  return {
    inner: {
      ...innerKnob,
      options: INNER.filter(serves).map(({ id }) => id),
      initial: PREFERRED.find(serves)?.id ?? autoregressive.id,
    },
  };
};

export const innerSystem = ({ inner }: Pick<StepKnobs, 'inner'>): DecodingSystem =>
  INNER.find(({ id }) => id === inner) ?? autoregressive;
