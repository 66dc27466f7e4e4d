// What all step routers share: the draft writes a step, something scores it, and a threshold decides whether it is kept
// or the target writes the step anew. A router's file declares its facts, its threshold, and where the score comes
// from. Its guarantee is approximate: the kept steps are the draft's.
import type { Knobs } from '../decode/core/knobs.ts';
import type { DecodingSystem, ModelRole, Models, PlannedRun, RunContext, SystemFacts } from '../decode/core/system.ts';
import { judgeScore } from '../decode/steps/judge-score.ts';
import { type DraftOptions, openSteps, type StepModels } from '../decode/steps/open-steps.ts';
import { route } from '../decode/steps/route.ts';
import { checkDelimiter } from '../decode/steps/step-boundary.ts';
import type { StepWriter } from '../decode/steps/step-writer.ts';
import { type ScoreStep, type ThresholdOptions, thresholdRule } from '../decode/steps/threshold-rule.ts';
import type { Role } from '../trace/index.ts';
import { fitInner, type StepKnobs, stepKnobs, stepWriterOf, WRITER_USES } from './step-knobs.ts';

/** Where a run's scores come from. */
export interface Scorer {
  /** The model whose score it is. */
  readonly by: Role;
  readonly score: ScoreStep;
  /** Who writes escalated steps. Default: the system of the knob `inner`, or a remote target. */
  readonly target?: StepWriter;
}

type Run<K extends Knobs> = RunContext<K & typeof stepKnobs>;

type Facts = Pick<SystemFacts, 'id' | 'title' | 'summary' | 'group' | 'paper' | 'needs' | 'remote' | 'calibrated'>;

export interface RouterDeclaration<K extends Knobs> extends Facts {
  /** Optional models other than those that write the target's steps faster. */
  readonly uses?: readonly ModelRole[];
  /** The router's own knobs; those of all step systems are added. */
  readonly knobs: K;
  readonly threshold: Extract<keyof K, string>;
  readonly escalates: NonNullable<SystemFacts['escalates']>;
  readonly reasons: ThresholdOptions['reasons'];
  fit?(models: Models): Knobs;
  /** How the draft writes steps. Default: one candidate, drawn as the request says. */
  draft?(run: Run<K>): DraftOptions;
  scorer(run: Run<K>, models: StepModels): Scorer | Promise<Scorer>;
}

export const defineRouter = <const K extends Knobs>({
  uses = [],
  knobs,
  reasons,
  fit,
  draft,
  scorer,
  ...facts
}: RouterDeclaration<K>): DecodingSystem => ({
  ...facts,
  guarantee: 'approximate',
  uses: [...WRITER_USES, ...uses],
  knobs: { ...knobs, ...stepKnobs },
  fit: (models) => ({ ...fitInner(models), ...fit?.(models) }),
  check: (run) => checkDelimiter(run as unknown as PlannedRun<typeof stepKnobs>),
  async start(untyped) {
    const run = untyped as unknown as Run<K>;
    const limits = run.knobs as StepKnobs;
    const models = await openSteps(untyped, limits, stepWriterOf(limits), draft?.(run));
    const { by, score, target = models.target } = await scorer(run, models);
    const threshold = untyped.knobs[facts.threshold] as number;
    const rule = thresholdRule({ by, score, threshold, escalates: facts.escalates, reasons });
    return { first: null, round: route(untyped, { ...models, rule, target }) };
  },
});

/** Scores by a judge: a process reward model (`prm`) or a router. */
export const judgedBy = (role: 'prm' | 'router') => ({
  draft: ({ models }: Pick<RunContext, 'models'>): DraftOptions => ({ states: models[role]?.readsDraft === true }),
  async scorer(run: Pick<RunContext, 'open'> & { readonly knobs: StepKnobs }, models: StepModels): Promise<Scorer> {
    const judge = await run.open(role, { ahead: run.knobs['step-tokens'] });
    return { by: role, score: judgeScore(judge, models.written) };
  },
});
