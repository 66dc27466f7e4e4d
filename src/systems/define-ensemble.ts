// What all ensemble systems share: the models, how they become one distribution r, and the guarantee, which is exact
// with respect to r. A system's file declares in which order the models read, draft and decide.
import type { Knobs } from '../decode/core/knobs.ts';
import type {
  DecodingSystem,
  Models,
  PlannedRun,
  Round,
  RunContext,
  SystemFacts,
  Variant,
} from '../decode/core/system.ts';
import { combinationKnobs, combinationOf, fitCombination, memberRoles } from '../decode/ensemble/combination.ts';
import { type EnsembleDecoder, openEnsemble } from '../decode/ensemble/ensemble-decoder.ts';

type Run<K extends Knobs> = RunContext<K & typeof combinationKnobs>;

export interface EnsembleDeclaration<K extends Knobs> extends Pick<SystemFacts, 'id' | 'title' | 'summary'> {
  /** Variants other than those of the combination. */
  readonly variants?: readonly Variant[];
  /** The system's own knobs; those of the combination are added. */
  readonly knobs?: K;
  fit?(models: Models): Knobs;
  /** Refuses settings of its own knobs. */
  check?(run: PlannedRun<K>): void;
  /** The most drafts that wait for a verdict at once. Default: 15. */
  drafts?(run: Run<K>): number;
  round(decoder: EnsembleDecoder, run: Run<K>): Round;
}

/** All of them decode the ensemble of the CoS paper, and are compared with its plain form. */
const PAPER = 'https://arxiv.org/abs/2502.01662';
const PLAIN = 'ensemble';

export const defineEnsemble = <const K extends Knobs = Record<never, never>>({
  knobs,
  fit,
  check,
  drafts,
  round,
  variants = [],
  ...facts
}: EnsembleDeclaration<K>): DecodingSystem => ({
  ...facts,
  group: 'ensemble',
  paper: PAPER,
  guarantee: 'exact',
  baseline: PLAIN,
  needs: ['target', 'draft'],
  joins: true,
  knobs: { ...combinationKnobs, ...knobs },
  variants: [
    { knobs: { combine: 'weighted' }, drawn: true },
    { knobs: { combine: 'contrastive' }, drawn: true },
    ...variants,
  ],
  fit: (models) => ({ ...fitCombination(models), ...fit?.(models) }),
  check(untyped) {
    const run = untyped as unknown as PlannedRun<K & typeof combinationKnobs>;
    combinationOf(run.knobs, memberRoles(run.models).length);
    check?.(run);
  },
  async start(untyped) {
    const run = untyped as unknown as Run<K>;
    const decoder = await openEnsemble(run, drafts?.(run));
    return { first: await decoder.prefill(run), round: round(decoder, run) };
  },
});
