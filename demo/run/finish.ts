// The result of a race: passes first, which noise cannot move; whether the tokens are the same; then the speed, as the
// median of several runs with its range.
import { acceptanceLength, fold, METRICS } from '../../src/trace/index.ts';
import { many } from '../shared/words.ts';
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
  /** The runs were made elsewhere. */
  readonly recorded?: boolean;
}

export interface Finish {
  /** “69 → 6 passes” */
  readonly passes: string;
  readonly sentence: string;
  /** Figures of both runs. */
  readonly facts: readonly string[];
}

/** One run of the system and one of the baseline, made one after the other. */
export interface Pair {
  readonly run: Outcome;
  readonly plain: Outcome;
}

/** Smaller factors than this are called slower; those up to 1 are within the noise of a machine. */
const SLOWER_BELOW = 0.95;

const sameness = ({ run, plain }: Pair, { greedy, exact }: Terms): string => {
  const different = plain.tokens.findIndex((token, i) => token !== run.tokens[i]);
  const same = different < 0 && plain.tokens.length === run.tokens.length;
  if (same) return `✓ the same ${run.tokens.length} tokens${exact ? '' : ' this time'}`;
  if (!exact) return 'different tokens, which an approximate system may give';
  if (!greedy) return 'different tokens, drawn from the same distribution';
  return `✗ different from token ${different < 0 ? plain.tokens.length + 1 : different + 1} on`;
};

/** The speed of a system divided by that of its baseline; null if either was too short to time. */
const factorOf = ({ run, plain }: Pair): number | null => {
  const [mine, theirs] = [rateOf(run), rateOf(plain)];
  return mine === null || theirs === null ? null : mine / theirs;
};

/** The pair with the median factor, of those that were timed. */
export const medianPair = (pairs: readonly Pair[]): Pair => {
  const sorted = pairs.toSorted((a, b) => (factorOf(a) ?? 0) - (factorOf(b) ?? 0));
  return sorted[Math.floor((sorted.length - 1) / 2)] as Pair;
};

const fellBack = ({ events }: Outcome): boolean =>
  events.some((event) => event.type === 'fall-back' && event.to === 'plain');

const speedOf = (pairs: readonly Pair[], { baseline, recorded = false }: Terms): string => {
  const factors = pairs.map(factorOf).filter((factor) => factor !== null);
  if (factors.length < pairs.length) return 'too short to time';
  const where = recorded ? 'where it was recorded' : 'here';
  const median = medianPair(pairs);
  const [least, most] = [Math.min(...factors), Math.max(...factors)].map((factor) => factor.toFixed(2));
  const factor = factorOf(median) ?? 1;
  const range = pairs.length > 1 ? ` (median of ${pairs.length}, from ${least} to ${most})` : '';
  const name = baselineName(baseline);
  const slower =
    factor < SLOWER_BELOW ? `${Math.round(100 * (1 - factor))} % slower ${where} than ${name}${range}` : null;
  // A gain would say that drafting paid, of a run that for the most part did not draft.
  if (fellBack(median.run))
    return slower
      ? `${slower}: drafting did not pay, so the run fell back to it`
      : `drafting did not pay ${where}, so the run fell back to plain decoding`;
  return slower ?? `${factor.toFixed(2)}× as fast as ${name} ${where}${range}`;
};

const passesOf = ({ events }: Outcome): number => fold(METRICS.target_passes, events);

const factsOf = ({ run, plain }: Pair): readonly string[] => {
  const [mine, theirs] = [rateOf(run), rateOf(plain)];
  const times = [run, plain].map(({ events }) => duration(fold(METRICS.decode_ms, events)));
  const tau = fold(acceptanceLength, run.events);
  return [
    times.join(' against '),
    ...(mine === null || theirs === null ? [] : [`${brief(mine)} against ${brief(theirs)} tokens/s`]),
    ...(tau === null ? [] : [`acceptance length ${tau.toFixed(2)} tokens a round`]),
  ];
};

/** “69 → 6 passes”; “✓ The same 70 tokens, 2.10× as fast as plain decoding here (median of 3, from 1.98 to 2.15).” */
export const finishOf = (pairs: readonly Pair[], terms: Terms): Finish => {
  const pair = medianPair(pairs);
  const same = sameness(pair, terms).replace(/^([✓✗] )?(.)/, (_, sign = '', letter) => sign + letter.toUpperCase());
  return {
    passes: `${passesOf(pair.plain)} → ${many(passesOf(pair.run), 'pass', 'passes')}`,
    sentence: `${same}; ${speedOf(pairs, terms)}.`,
    facts: factsOf(pair),
  };
};
