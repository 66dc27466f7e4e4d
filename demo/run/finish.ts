// The result of a race: the speed first, as the median of several runs with its range, and whether the tokens are the
// same; then the passes, which noise cannot move, and the times.
import { acceptanceLength, fold, METRICS } from '../../src/trace/index.ts';
import { capitalised, many } from '../shared/words.ts';
import { duration } from './figures.ts';
import { factorOf, type Outcome, type Pair, wholeMs } from './outcome.ts';
import { passesText } from './passes.ts';

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
  /** “2.09×”; “–” where no speed can be claimed. The sentence goes on from it. */
  readonly factor: string;
  /** “as fast as plain decoding here, after the first token. ✓ The same 70 tokens.” */
  readonly sentence: string;
  /** “6 passes of the large model instead of 69, plus 6 of the drafter” */
  readonly passes: string;
  /** Times of both runs. */
  readonly facts: readonly string[];
}

/** Factors of a run that fell back are told only below this: those up to 1 are within the noise of a machine. */
const SLOWER_BELOW = 0.95;

const sameness = ({ run, plain }: Pair, { greedy, exact }: Terms): string => {
  const different = plain.tokens.findIndex((token, i) => token !== run.tokens[i]);
  const same = different < 0 && plain.tokens.length === run.tokens.length;
  if (same) return `✓ The same ${many(run.tokens.length, 'token')}${exact ? '' : ' this time'}`;
  if (!exact) return 'Different tokens, which an approximate system may give';
  if (!greedy) return 'Different tokens, drawn from the same distribution';
  return `✗ Different from token ${different < 0 ? plain.tokens.length + 1 : different + 1} on`;
};

/** The pair with the median factor, of those that were timed. */
export const medianPair = (pairs: readonly Pair[]): Pair => {
  const sorted = pairs.toSorted((a, b) => (factorOf(a) ?? 0) - (factorOf(b) ?? 0));
  return sorted[Math.floor((sorted.length - 1) / 2)] as Pair;
};

const fellBack = ({ events }: Outcome): boolean =>
  events.some((event) => event.type === 'fall-back' && event.to === 'plain');

const speedOf = (pairs: readonly Pair[], { baseline, recorded = false }: Terms): Omit<Finish, 'passes' | 'facts'> => {
  const factors = pairs.map(factorOf).filter((factor) => factor !== null);
  if (factors.length < pairs.length) return { factor: '–', sentence: 'Too short to time.' };
  const where = recorded ? 'where it was recorded' : 'here';
  const median = medianPair(pairs);
  const [least, most] = [Math.min(...factors), Math.max(...factors)].map((factor) => factor.toFixed(2));
  const factor = factorOf(median) ?? 1;
  const range = pairs.length > 1 ? ` (median of ${pairs.length}, from ${least} to ${most})` : '';
  const compared = `as fast as ${baselineName(baseline)} ${where}, after the first token${range}.`;
  const told = { factor: `${factor.toFixed(2)}×`, sentence: compared };
  if (!fellBack(median.run)) return told;
  const why = `Drafting did not pay ${where}, so the run went on with plain decoding.`;
  // A gain would say that drafting paid, of a run that for the most part did not draft.
  return factor < SLOWER_BELOW ? { ...told, sentence: `${compared} ${why}` } : { factor: '–', sentence: why };
};

/** “558 ms against 1.17 s” */
const against = ({ run, plain }: Pair, time: (outcome: Outcome) => number): string =>
  [run, plain].map((outcome) => duration(time(outcome))).join(' against ');

const factsOf = (pair: Pair): readonly string[] => {
  const tau = fold(acceptanceLength, pair.run.events);
  const whole = wholeMs(pair.plain) / wholeMs(pair.run);
  return [
    `after the first token ${against(pair, ({ events }) => fold(METRICS.decode_ms, events))}`,
    `whole answer ${against(pair, wholeMs)}${Number.isFinite(whole) ? ` (${whole.toFixed(2)}×)` : ''}`,
    ...(tau === null ? [] : [`acceptance length ${tau.toFixed(2)} tokens a round`]),
  ];
};

export const finishOf = (pairs: readonly Pair[], terms: Terms): Finish => {
  const pair = medianPair(pairs);
  const { factor, sentence } = speedOf(pairs, terms);
  return {
    factor,
    sentence: `${sentence} ${sameness(pair, terms)}.`,
    passes: `${capitalised(passesText(pair.run, pair.plain))}.`,
    facts: factsOf(pair),
  };
};
