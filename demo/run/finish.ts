// The result of a race: the speed-up, and whether the tokens are the same.
import { fold, METRICS } from '../../src/trace/index.ts';
import { brief, duration } from './figures.ts';
import { type Outcome, rateOf } from './outcome.ts';

/** What the page calls a baseline: the system that others race against. */
export const baselineName = (baseline: string): string =>
  baseline === 'autoregressive' ? 'plain decoding' : 'the plain ensemble';

export interface Terms {
  /** Temperature 0, where an exact system gives the same tokens as its baseline. */
  readonly greedy: boolean;
  readonly exact: boolean;
  /** Id of the system that it races against. */
  readonly baseline: string;
}

export interface Finish {
  /** “2.10×” */
  readonly factor: string;
  readonly sentence: string;
  /** Figures of both runs. */
  readonly facts: readonly string[];
}

const sameness = (run: Outcome, plain: Outcome, { greedy, exact }: Terms): string => {
  const different = plain.tokens.findIndex((token, i) => token !== run.tokens[i]);
  const same = different < 0 && plain.tokens.length === run.tokens.length;
  if (same) return `✓ the same ${run.tokens.length} tokens`;
  if (!exact) return 'different tokens, which an approximate system may give';
  if (!greedy) return 'different tokens, drawn from the same distribution';
  return `✗ different from token ${different < 0 ? plain.tokens.length + 1 : different + 1} on`;
};

const factsOf = (run: Outcome, plain: Outcome): readonly string[] => {
  const [mine, theirs] = [run, plain].map(({ events }) => ({
    time: fold(METRICS.decode_ms, events),
    passes: fold(METRICS.target_passes, events),
  })) as [{ time: number; passes: number }, { time: number; passes: number }];
  const tau = fold(METRICS.tokens_per_round, run.events);
  return [
    `${duration(mine.time)} against ${duration(theirs.time)}`,
    `${mine.passes} target passes against ${theirs.passes}`,
    ...(tau === null ? [] : [`acceptance length ${tau.toFixed(2)} tokens per round`]),
  ];
};

/** “2.10× as fast as plain decoding (84 against 40 tokens/s); ✓ the same 61 tokens.” */
export const finishOf = (run: Outcome, plain: Outcome, terms: Terms): Finish => {
  const [mine, theirs] = [rateOf(run), rateOf(plain)];
  const same = sameness(run, plain, terms);
  const facts = factsOf(run, plain);
  if (mine === null || theirs === null) return { factor: '–', sentence: `Too short to time; ${same}.`, facts };
  const factor = `${(mine / theirs).toFixed(2)}×`;
  const rates = `${brief(mine)} against ${brief(theirs)} tokens/s`;
  return { factor, sentence: `${factor} as fast as ${baselineName(terms.baseline)} (${rates}); ${same}.`, facts };
};
