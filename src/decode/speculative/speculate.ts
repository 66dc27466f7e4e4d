// Draft, then verify: what every exact speculative system shares. A system's drafter only proposes and observes. This
// file turns that into rounds of one submit and one readback, emits their events, and decodes plainly where there is
// nothing to propose or nothing to gain.
import type { Choice, Cursor, Verdict } from '../../model/interface.ts';
import type { Role, Source } from '../../trace/index.ts';
import { Fallback } from '../core/fallback.ts';
import { commitOf, forcedText, keepPlainRound, plainRound } from '../core/plain-round.ts';
import { assumedCost, expectedCost, measuredCost, roundName } from '../core/round-cost.ts';
import type { Models, Round, RoundContext, RunContext, Sequence } from '../core/system.ts';
import { allowedDraft, ExpectedToken, forcedAfter } from './constrained-draft.ts';
import type { Drafter, Outcome, Proposal } from './drafter.ts';
import { payingDraft } from './paying-draft.ts';

/** Passes that are timed at most: a browser may round its clock so much that all of them seem to take no time. */
const MOST_TIMED = 8;

/** Times plain rounds, once for each set of models. Their passes are not accepted, and no event tells of them. */
const timePlainRounds = async (
  target: Cursor,
  { timings, sequence }: Pick<RunContext, 'timings' | 'sequence'>,
): Promise<void> => {
  for (let i = 0; i < MOST_TIMED && timings.plain === null; i++) {
    const start = performance.now();
    await plainRound(target, sequence);
    timings.addPlain(performance.now() - start);
  }
};

const sourcesOf = ({ path, source }: Verdict, forced: number): readonly Source[] => [
  ...path.slice(1).map((_, i) => (i < forced ? ('forced' as const) : ('drafted' as const))),
  source,
];

/** Of every node but the anchor; the drafter's are the device's, or the host's where only that knows them. */
const probabilitiesOf = ({ probabilities, parents }: Verdict, draft: Proposal): Verdict['probabilities'] => {
  const { chances, ownChances } = draft;
  if (!chances || !ownChances || !probabilities) return probabilities;
  const own = (node: number): number => (chances[node] as number) / (chances[parents[node] as number] as number);
  return probabilities.map(({ target }, i) => ({ target, draft: own(i + 1) }));
};

/** The part after forced text, for a drafter that was asked about the text with it. */
const from = ({ pass, path, choices, base }: Outcome, forced: number): Outcome => ({
  pass,
  path: path.slice(forced),
  choices: choices.slice(forced),
  base: base + forced,
});

/** Memory for the distributions of drafts; `by`: the role that drafts, which may be no model's. */
const keepDistributions = async ({ target, ...models }: Models, by: Role): Promise<void> => {
  const drafter = Object.entries(models).find(([role]) => role === by)?.[1];
  for (const model of [target, drafter]) if (model && 'keepDistributions' in model) await model.keepDistributions?.();
};

export interface SpeculateOptions {
  /** False: speculate whatever it costs. */
  readonly fallBack: boolean;
  /** Whether drafts are drawn at random at temperature > 0 and kept with probability p/q. */
  readonly drawn: boolean;
  /** What a pass of the drafter usually costs, in plain rounds. */
  readonly drafting?: number;
}

/** Rounds of draft and verification. The target's cursor must hold the prompt. */
export const speculate = (
  target: Cursor,
  drafter: Drafter,
  {
    timings,
    software,
    emit,
    sequence,
    models,
  }: Pick<RunContext, 'timings' | 'software' | 'emit' | 'sequence' | 'models'>,
  { fallBack, drawn, drafting }: SpeculateOptions,
): Round => {
  const sampled = drawn && sequence.sampling.temperature > 0;
  // Under a constraint the target's own draws decide, so that it can be checked after them.
  const random = sampled && !sequence.constraint;
  let prepared = !sampled;
  let timed = !fallBack;
  const cost = random ? assumedCost(software, drafting) : measuredCost(timings);
  const { sources = [drafter.by] } = drafter;
  const fallback = new Fallback({ sources, timings, cost, byClock: !random, emit, fallBack });
  const expected = new ExpectedToken();
  // Without falling back the clock does not decide how much is drafted, so that such a run can be repeated.
  const price = expectedCost(fallBack && !random ? timings : null, drafting);

  return async (context) => {
    if (!prepared) await keepDistributions(models, drafter.by);
    prepared = true;
    if (!timed) await timePlainRounds(target, { timings, sequence });
    timed = true;
    const start = performance.now();
    // A bonus token and a draft are drawn with different noise. Where drafts are drawn at random, the answer's last
    // token is drafted too, so that a smaller budget cuts the answer and does not change it. Falling back may still do so:
    // near the budget drafts are shorter, so their rounds are taken to cost less.
    const most = Math.min(context.sequence.budget - (random ? 0 : 1), (target.levels ?? Infinity) - 1);
    // Forced text is a draft that cannot be refused. Drafts that the host knows go on after it, in the same pass.
    const forced = forcedText(context.sequence);
    const { tokens } = context.sequence;
    const after = drafter.onHost ? forced : [];
    const may = after.length === forced.length && most > forced.length ? fallback.next(context.round) : [];
    const proposes = may.length > 0;
    const text = after.length > 0 ? { ...context.sequence, tokens: [...tokens, ...after] } : context.sequence;
    const proposal = proposes ? await drafter.propose(text, most - after.length, may) : null;
    const draft = proposes ? sized(proposal, context.sequence, after, most) : null;
    if (draft) return verifyRound(draft, context, start, after.length);

    // Neither a draft that came to nothing nor alternatives count: the times of other rounds leave them out too.
    const decided = performance.now();
    const plain = await plainRound(target, context.sequence, forced);
    const ms = performance.now() - decided;
    const base = tokens.length - 1;
    const commit = await keepPlainRound(plain, { ...context, emit }, start);
    observe({ ...plain, base }, proposes ? after.length : 0);
    if (forced.length === 0) fallback.plain(context.round, ms);
    return commit;
  };

  /** As much of a proposal as the constraint allows and as pays; null: nothing. */
  function sized(
    proposal: Proposal | null,
    { tokens, promptLength, constraint }: Sequence,
    forced: readonly number[],
    most: number,
  ) {
    const text = constraint && { constraint, answer: tokens.slice(promptLength), forced, most };
    const whole = text && drafter.onHost ? expected.join(proposal, text) : proposal;
    const allowed = whole && text ? allowedDraft(whole, tokens.at(-1) as number, text) : whole;
    const chances = allowed?.chances;
    const draft = allowed && chances ? payingDraft({ ...allowed, chances }, price, fallBack ? 0 : 1).draft : allowed;
    return draft && text ? forcedAfter(draft, text) : draft;
  }

  /** `forced`: rows of text that had to come, which nothing is learned from. */
  function observe(outcome: Outcome, forced: number) {
    expected.observe(outcome.choices[forced]?.token);
    drafter.observe(from(outcome, forced));
  }

  /** `forced`: nodes after the anchor that are forced text. */
  async function verifyRound(draft: Proposal, { round, sequence: now }: RoundContext, start: number, forced: number) {
    const drafted = performance.now();
    const pass = target.forward(draft.tree);
    const verdict = await pass.verify(draft.distributions, now.sampling);
    const { path, choices, source, tokens, parents } = verdict;
    observe({ pass, path, choices, base: now.tokens.length - 1 }, forced);
    const end = performance.now();
    const { nodes, passes, missed = 0, by = drafter.by } = draft;
    const told = forced > 0 ? { forced } : {};
    emit({ type: 'draft', round, by, tokens, parents, ...told, passes: passes + missed, ms: drafted - start });
    const next = (choices.at(-1) as Choice).token;
    const known = now.alternatives === null ? null : probabilitiesOf(verdict, draft);
    const probabilities = known ? { probabilities: known } : {};
    emit({ type: 'verify', round, by: 'target', path, next, source, ...probabilities, ms: end - drafted });
    // What a round with forced text commits says little of the drafts, so the fall-back does not count it.
    const kind = { nodes, passes };
    const ms = end - start;
    const single = draft.ownChances && nodes === 1 ? end - drafted : undefined;
    if (forced === 0) fallback.speculative(round, { source: by, kind, ms, tokens: path.length, single });
    else timings.addRound(roundName(kind), ms);
    // A draft as long as the budget leaves no room for the token after it.
    const kept = Math.min(path.length, now.budget);
    const sources = sourcesOf(verdict, forced).slice(0, kept);
    return commitOf(pass, path.slice(0, kept), choices.slice(0, kept), sources, now);
  }
};
