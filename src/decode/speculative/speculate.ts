// Draft, then verify: what every exact speculative system shares. A system only proposes and observes; this file turns
// that into rounds of one submit and one readback, says what happened, and decodes plainly where there is nothing to
// propose or nothing to gain.
import type { Choice, Cursor, Draft, Forward, Token, Verdict } from '../../model/interface.ts';
import type { Role, Source } from '../../trace/index.ts';
import { assumedCost, FallbackController, measuredCost } from '../core/fallback.ts';
import { scoresOf } from '../core/prefill.ts';
import type { Commit, Round, RunContext, Sequence } from '../core/system.ts';

/** Drafts, and what they took. */
export interface Proposal extends Draft {
  /** Who drafted it, where that was not the drafter. */
  readonly by?: Role;
  /** Rows of the tree, the anchor's included. */
  readonly nodes: number;
  /** Forward passes of the drafter. */
  readonly passes: number;
}

export interface Drafter {
  /** Who drafts, for the trace. */
  readonly by: Role;
  /**
   * A tree behind the last committed token, at most `most` levels deep: more could not be committed any more. Null:
   * nothing to propose, so the round is a plain one.
   */
  propose(sequence: Sequence, most: number): Proposal | null | Promise<Proposal | null>;
  /** What became of it, and of plain rounds: these rows of the pass are committed now, each followed by its choice. */
  observe(outcome: Outcome): void;
}

export interface Outcome {
  readonly pass: Forward;
  readonly path: readonly number[];
  readonly choices: readonly Choice[];
  /** Of the sequence, the row of `path[0]`: the anchor's. */
  readonly base: number;
}

/** A chain behind the anchor. */
export const chainOf = (tokens: readonly Token[]) => ({ tokens, parents: tokens.map((_, i) => i - 1) });

interface Plain {
  readonly pass: Forward;
  readonly choice: Choice;
}

/** One token, as plain decoding takes it. Nothing is kept yet. */
export const plainRound = async (target: Cursor, { tokens, sampling }: Sequence): Promise<Plain> => {
  const pass = target.forward(chainOf(tokens.slice(-1)));
  const [choice] = await pass.draw(0, sampling).read();
  if (!choice) throw new Error('a draw of one row came back empty');
  return { pass, choice };
};

/** Milliseconds of a plain round here. Measured once for each set of models; nothing is kept of these passes. */
const plainTime = async (
  target: Cursor,
  { timings, sequence }: Pick<RunContext, 'timings' | 'sequence'>,
): Promise<number> => {
  for (;;) {
    const known = timings.least('plain');
    if (known !== null) return known;
    const start = performance.now();
    await plainRound(target, sequence);
    timings.add('plain', performance.now() - start);
  }
};

const commitOf = async (
  pass: Forward,
  path: readonly number[],
  choices: readonly Choice[],
  source: readonly Source[],
  sequence: Sequence,
): Promise<Commit> => ({
  tokens: choices.map(({ token }) => token),
  source,
  scores: await scoresOf(pass, path, choices, sequence),
});

const sourcesOf = ({ path, source }: Verdict): readonly Source[] => [
  ...path.slice(1).map(() => 'drafted' as const),
  source,
];

export interface SpeculateOptions {
  /** False: speculate whatever it costs. */
  readonly fallBack: boolean;
  /** Whether drafts are drawn at random at temperature > 0, and so kept with probability p/q. */
  readonly drawn: boolean;
}

/** The target's cursor holds the prompt. */
export const speculate = (
  target: Cursor,
  drafter: Drafter,
  { timings, emit, sequence }: Pick<RunContext, 'timings' | 'emit' | 'sequence'>,
  { fallBack, drawn }: SpeculateOptions,
): Round => {
  const weighed = drawn && sequence.sampling.temperature > 0;
  const cost = weighed ? assumedCost : measuredCost(timings);
  const fallback = new FallbackController({ timings, cost, emit, fallBack });

  return async (context) => {
    if (fallBack) await plainTime(target, { timings, sequence });
    const start = performance.now();
    // Where drafts are drawn, what draws the answer's last token depends on where a block ends: so that a budget cuts an
    // answer and never changes it, that token is drafted too.
    const most = context.sequence.budget - (weighed ? 0 : 1);
    const draft = most > 0 && fallback.next(context.round) ? await drafter.propose(context.sequence, most) : null;
    if (draft) return verifyRound(draft, context, start);

    const { pass, choice } = await plainRound(target, context.sequence);
    pass.accept([0]);
    const [path, choices] = [[0], [choice]];
    drafter.observe({ pass, path, choices, base: context.sequence.tokens.length - 1 });
    const ms = performance.now() - start;
    fallback.plain(ms);
    emit({ type: 'verify', round: context.round, by: 'target', path, next: choice.token, source: 'sampled', ms });
    return commitOf(pass, path, choices, ['sampled'], context.sequence);
  };

  async function verifyRound(draft: Proposal, { round, sequence: now }: Parameters<Round>[0], start: number) {
    const drafted = performance.now();
    const pass = target.forward(draft.tree);
    const verdict = await pass.verify(draft.distributions, now.sampling);
    const { path, choices, source, tokens, parents } = verdict;
    drafter.observe({ pass, path, choices, base: now.tokens.length - 1 });
    const end = performance.now();
    const { nodes, passes, by = drafter.by } = draft;
    emit({ type: 'draft', round, by, tokens, parents, passes, ms: drafted - start });
    const next = (choices.at(-1) as Choice).token;
    const told = now.alternatives === null ? {} : { probabilities: verdict.probabilities };
    emit({ type: 'verify', round, by: 'target', path, next, source, ...told, ms: end - drafted });
    fallback.speculative(round, { nodes, passes }, end - start, path.length);
    return commitOf(pass, path, choices, sourcesOf(verdict), now);
  }
};
