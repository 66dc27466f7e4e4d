// The knobs of all step systems: their limits, and the exact system that writes the target's steps.
import type { ChoiceKnob, Knobs, KnobValues } from '../decode/core/knobs.ts';
import { missingRoles } from '../decode/core/missing-roles.ts';
import type { DecodingSystem, ModelRole, Models } from '../decode/core/system.ts';
import autoregressive from './autoregressive.ts';
import { TOKEN_LEVEL } from './token-level.ts';

const WRITERS = TOKEN_LEVEL.filter(({ writesSteps }) => writesSteps !== undefined);
const BY_DEFAULT = WRITERS.filter(({ writesSteps }) => writesSteps === 'by-default');

const innerKnob: ChoiceKnob = {
  kind: 'choice',
  label: "System that writes the target's steps",
  options: WRITERS.map(({ id }) => id),
  initial: autoregressive.id,
};

export const limitKnobs = {
  'step-tokens': { kind: 'number', label: 'Maximum tokens of a step', min: 1, max: 4096, step: 1, initial: 128 },
  'max-steps': { kind: 'number', label: 'Maximum steps of an answer', min: 1, max: 4096, step: 1, initial: 256 },
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

/** Models with which the target's steps are written faster. */
export const WRITER_USES: readonly ModelRole[] = [
  ...new Set(BY_DEFAULT.flatMap(({ needs }) => needs).filter((role) => role !== 'target')),
];

/** Offers the systems that these models serve. The initial one is the default system that uses most of them. */
export const fitInner = (models: Models): Knobs => {
  const serves = (system: DecodingSystem): boolean =>
    missingRoles(system, (role) => models[role] !== undefined).length === 0;
  const [best = autoregressive] = BY_DEFAULT.filter(serves).toSorted((a, b) => b.needs.length - a.needs.length);
  const absent = WRITERS.filter((system) => !serves(system)).map(({ id }) => id);
  const others = absent.length > 0 && { others: `With the models that they need loaded, also: ${absent.join(', ')}.` };
  return { inner: { ...innerKnob, options: WRITERS.filter(serves).map(({ id }) => id), initial: best.id, ...others } };
};

/** The system that writes the target's steps. */
export const stepWriterOf = ({ inner }: Pick<StepKnobs, 'inner'>): DecodingSystem =>
  WRITERS.find(({ id }) => id === inner) ?? autoregressive;
