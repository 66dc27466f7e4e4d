// Measures on toy models what every ensemble system promises: its greedy tokens are those of the combined distribution
// r, and its sampled tokens follow r. The reference enumerates r from the members' logits and shares no code with any
// system. An ensemble may be broken on purpose (toy-ensemble.ts).
import type { KnobValue } from '../../decode/core/knobs.ts';
import type { DecodingSystem } from '../../decode/core/system.ts';
import { createEngine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import type { LanguageModel } from '../../model/interface.ts';
import { committedTokens, type TraceEvent } from '../../trace/index.ts';
import type { JoinRule } from '../toys/toy-ensemble.ts';
import { type ToyDistribution, toyLogits, toyModel } from '../toys/toy-model.ts';
import { ToyTokenRing } from '../toys/toy-token-ring.ts';
import { countedDistance, type Distance, jointDistribution, type Seeds, toyLoaded } from './system-contract.ts';

export interface EnsembleTrial {
  readonly members: number;
  readonly knobs?: Readonly<Record<string, KnobValue>>;
  readonly join?: JoinRule;
  /** How far the members' logits are apart. */
  readonly noise?: number;
  /** The size of each member's weights; the smallest drafts first. Default: all equal. */
  readonly bytes?: readonly number[];
}

type Settings = Readonly<Record<string, KnobValue>>;

export const memberDistributions = (
  { members, noise = 2 }: EnsembleTrial,
  distribution: ToyDistribution,
): readonly ToyDistribution[] => Array.from({ length: members }, (_, i) => ({ ...distribution, noise, seed: 10 + i }));

/** Two models are a target and its draft; more are a target and `also-1`, `also-2`, … */
const rolesOf = (members: number): readonly string[] =>
  members === 2 ? ['target', 'draft'] : ['target', ...Array.from({ length: members - 1 }, (_, i) => `also-${i + 1}`)];

export const toyEnsemble = async (system: DecodingSystem, trial: EnsembleTrial, distribution: ToyDistribution) => {
  const engine = createEngine({ systems: [system] });
  const tokenRing = new ToyTokenRing();
  const models = memberDistributions(trial, distribution).map((own, i) =>
    toyModel({ ...own, tokenRing, bytes: trial.bytes?.[i] ?? 0, ...(trial.join && { join: trial.join }) }),
  );
  const loaded = rolesOf(trial.members).map((role, i) => [role, toyLoaded(models[i] as LanguageModel)]);
  await engine.load(Object.fromEntries(loaded));
  const run = async (request: Omit<RunRequest, 'system'>): Promise<TraceEvent[]> => {
    const events: TraceEvent[] = [];
    const asked = { knobs: trial.knobs ?? {}, ...request, system: system.id };
    for await (const event of engine.run(asked)) events.push(event);
    return events;
  };
  return { engine, run, models };
};

interface Filters {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
}

export const PLAIN: Filters = { temperature: 1, topK: 0, topP: 1, minP: 0 };

const weightsOf = ({ lambda }: Settings, members: number): readonly number[] => {
  if (lambda === undefined) return Array(members).fill(1 / members);
  const given = lambda as readonly number[];
  const [own = 0] = given;
  return given.length === members ? given : [own, ...Array(members - 1).fill((1 - own) / (members - 1))];
};

/** r, of what each member says of a position. */
export const combinedRows = (
  logits: readonly (readonly number[])[],
  knobs: Settings,
  filters: Filters,
): readonly number[] => {
  const [own = [], ...others] = logits;
  if (knobs.combine === 'contrastive') {
    const mu = (knobs.mu as number | undefined) ?? 0.1;
    const mean = (token: number) => others.reduce((sum, row) => sum + (row[token] as number), 0) / others.length;
    return distributionReference(
      own.map((logit, token) => logit - mu * mean(token)),
      filters,
    );
  }
  const weights = weightsOf(knobs, logits.length);
  const total = weights.reduce((a, b) => a + b, 0);
  const each = logits.map((row) => distributionReference(row, filters));
  return own.map((_, token) =>
    each.reduce((sum, row, k) => sum + ((weights[k] as number) / total) * (row[token] as number), 0),
  );
};

/** r after this text. */
export const combinedDistribution = (
  distributions: readonly ToyDistribution[],
  text: readonly number[],
  knobs: Settings,
  filters: Filters,
) =>
  combinedRows(
    distributions.map((distribution) => toyLogits(distribution, text)),
    knobs,
    filters,
  );

const GREEDY = { vocabulary: 12, sharpness: 6 };
const known = new Map<string, readonly number[]>();

/** The argmax of r at temperature 1, token by token. */
const greedyReference = (trial: EnsembleTrial, prompt: readonly number[], count: number): readonly number[] => {
  const { members, noise, knobs = {} } = trial;
  const key = JSON.stringify([members, noise, knobs.combine, knobs.lambda, knobs.mu, prompt, count]);
  const tokens = [...prompt];
  while (tokens.length < prompt.length + count && !known.has(key)) {
    const distribution = combinedDistribution(memberDistributions(trial, GREEDY), tokens, knobs, PLAIN);
    tokens.push(distribution.indexOf(Math.max(...distribution)));
  }
  known.set(key, known.get(key) ?? tokens.slice(prompt.length));
  return known.get(key) as readonly number[];
};

/** Prompts whose greedy tokens are not those of r. */
export const greedyFailures = async (
  system: DecodingSystem,
  prompts: number,
  count: number,
  trial: EnsembleTrial,
): Promise<number> => {
  const { engine, run } = await toyEnsemble(system, trial, GREEDY);
  let failures = 0;
  for (let i = 0; i < prompts; i++) {
    const prompt = Array.from({ length: 1 + (i % 5) }, (_, j) => (i * 7 + j * 5) % GREEDY.vocabulary);
    const events = await run({ prompt: { tokens: prompt }, maxTokens: count });
    if (committedTokens(events).join() !== greedyReference(trial, prompt, count).join()) failures++;
  }
  await engine.close();
  return failures;
};

const COOLER: Filters = { ...PLAIN, temperature: 0.8 };

/** How far the joint distribution of so many sampled tokens is from r's. */
export const samplingDistance = async (
  system: DecodingSystem,
  seeds: Seeds,
  trial: EnsembleTrial,
  { count = 3, vocabulary = 4, filters = COOLER } = {},
): Promise<Distance> => {
  const distribution = { vocabulary, sharpness: 2 };
  const prompt = [1, 2, 0].map((token) => token % vocabulary);
  const { engine, run } = await toyEnsemble(system, trial, distribution);
  const distributions = memberDistributions(trial, distribution);
  const joint = await jointDistribution(
    (text) => combinedDistribution(distributions, text, trial.knobs ?? {}, filters),
    prompt,
    count,
  );
  const request = { prompt: { tokens: prompt }, maxTokens: count, ...filters };
  const found = await countedDistance((seed) => run({ ...request, seed }), seeds, joint);
  await engine.close();
  return found;
};
