// A scene of the stage: a run and its baseline, laid out in time. Both lanes share one clock, that of the recorded
// times from the first token on; the first round with a rejected draft is stretched so that it can be followed.
import { SYSTEMS } from '../../src/index.ts';
import { METRICS, type TraceEvent } from '../../src/trace/index.ts';
import { factorOf, type Outcome, outcomeOf } from '../run/outcome.ts';
import { passesText } from '../run/passes.ts';
import { type DecodedRound, RoundReader, statusesOf, type TokenStatus, visible } from '../run/rounds.ts';
import { LETTERS, memberOf, type VotedToken, votesOf } from '../run/votes.ts';
import { percent } from '../shared/percent.ts';

/** Seconds. */
export const DURATION = 12;
/** The last second is still: it shows the end. */
const LAST = DURATION - 1;
const SLOW = 3.6;

/** A token of a lane's text, from this time on. */
export interface Mark {
  readonly at: number;
  readonly text: string;
  readonly source: string;
  readonly member: number | null;
}

export interface Chip {
  readonly text: string;
  readonly status: TokenStatus;
  /** Ensembles: index of the model that proposed it. */
  readonly member: number | null;
}

/** Drafts of one round: guessed one after the other, checked at once, then kept or struck. */
export interface Burst {
  readonly from: number;
  readonly checked: number;
  readonly decided: number;
  /** The target's own token appears. */
  readonly corrected: number;
  readonly ended: number;
  readonly chips: readonly Chip[];
  /** The target's own token after the accepted drafts. */
  readonly own: { readonly text: string; readonly source: string } | null;
  /** Ensembles: what each model would have written in its place, where they disagree. */
  readonly ballot: string | null;
}

/** The text of a run and the times at which the target's passes end. */
export interface LaneScene {
  readonly marks: readonly Mark[];
  readonly passes: readonly number[];
}

export interface Scene {
  readonly plain: LaneScene | null;
  readonly system: LaneScene;
  readonly bursts: readonly Burst[];
  /** The result, computed from both runs. */
  readonly end: End;
}

interface TimedRound {
  readonly round: DecodedRound;
  readonly at: number;
}

/** The rounds of a run with the times of their commits; with members for ensembles. */
const roundsOf = (events: readonly TraceEvent[]): readonly TimedRound[] => {
  const reader = new RoundReader();
  return events.flatMap((event) => {
    const round = reader.add(event);
    return round ? [{ round, at: event.at }] : [];
  });
};

/** Stage seconds for recorded milliseconds after the first token. `slow`: the span that is stretched. */
export const warp = (end: number, slow: readonly [number, number] | null): ((ms: number) => number) => {
  const [from, to] = slow ?? [0, 0];
  const stretched = slow && end > to - from ? SLOW : 0;
  const rate = (LAST - stretched) / Math.max(1e-9, end - (stretched ? to - from : 0));
  return (ms) => {
    const at = Math.min(Math.max(ms, 0), end);
    if (!stretched || at <= from) return at * rate;
    if (at <= to) return from * rate + (SLOW * (at - from)) / Math.max(1e-9, to - from);
    return from * rate + SLOW + (at - to) * rate;
  };
};

/** A token as the stage shows it: without special tokens and empty lines, which take room. */
export const shown = (text: string): string => text.replace(/<\/?[\w|]+>$/, '').replace(/\n+/g, '\n');

/** Share of a round at which drafts are checked, decided on, and followed by the target's token. */
const CHECKED = 0.45;
const DECIDED = 0.65;
const CORRECTED = 0.8;

const votesAt = (events: readonly TraceEvent[], at: number): readonly VotedToken[] => {
  const commit = events.find((event) => event.type === 'commit' && event.at === at);
  return commit?.type === 'commit' ? votesOf(commit) : [];
};

/** “A: 2 (100 %) · B: 1 (71 %)”, of the round's last token; null where all models would have written the same. */
const ballotOf = (votes: readonly VotedToken[]): string | null => {
  const own = votes.at(-1)?.vote.own ?? [];
  if (own.every(({ token }) => token === own[0]?.token)) return null;
  return own
    .map(({ text, probability }, i) => `${LETTERS[i]}: ${visible(shown(text ?? '')).trim()} (${percent(probability)})`)
    .join(' · ');
};

const burstOf = ({ round }: TimedRound, from: number, ended: number, votes: readonly VotedToken[]): Burst | null => {
  const { pieces, path, committed, proposers } = round;
  if (pieces.length < 2) return null;
  const roles = votes[0]?.vote.own.map(({ by }) => by) ?? [];
  const statuses = statusesOf(round);
  const time = (share: number): number => from + share * (ended - from);
  const last = committed.length === path.length ? committed.at(-1) : undefined;
  const own = last && shown(last.text) !== '' ? { text: visible(last.text), source: last.source } : null;
  const chips = pieces.map((text, node) => {
    const by = proposers[node - 1];
    return {
      text: visible(shown(text)),
      status: statuses[node] ?? 'rejected',
      member: by ? roles.indexOf(by) : null,
    };
  });
  const ends = statuses.indexOf('past'); // accepted, but after the end of the answer
  return {
    ...{ from, checked: time(CHECKED), decided: time(DECIDED), corrected: time(CORRECTED), ended },
    ...{ chips: chips.slice(1, ends < 0 ? undefined : ends), own, ballot: own && ballotOf(votes) },
  };
};

/** Times of each pass of the target: where a round took several, at its end. */
const passesOf = (events: readonly TraceEvent[], time: (at: number) => number): readonly number[] => {
  const ends: number[] = [];
  let state = METRICS.target_passes.start;
  for (const event of events) {
    state = METRICS.target_passes.add(state, event);
    const count = METRICS.target_passes.value(state);
    while (ends.length < count) ends.push(time(event.at));
  }
  return ends;
};

/** “word for word the same”. An approximate system promises no such thing. */
export const likeOf = (run: Outcome, plain: Outcome): string => {
  const exact = SYSTEMS.find(({ id }) => id === run.system)?.guarantee === 'exact';
  const same = `${run.tokens}` === `${plain.tokens}`;
  return same ? `word for word the same${exact ? '' : ' this time'}` : 'with different words';
};

/** The result: a large figure, if there is one, and the sentence that goes on from it. */
export interface End {
  /** “2.28×” */
  readonly factor: string | null;
  readonly sentence: string;
}

/**
 * “6 passes of the large model instead of 69, plus 6 of the drafter, word for word the same.” `timed`: both were made to
 * be compared, one after the other, so their speeds count.
 */
export const endOf = (run: Outcome, plain: Outcome | null, timed = false): End => {
  const passes = passesText(run, plain);
  if (!plain) return { factor: null, sentence: `${passes} for ${run.tokens.length} tokens.` };
  const like = likeOf(run, plain);
  const factor = timed ? factorOf({ run, plain }) : null;
  if (factor === null) return { factor: null, sentence: `${passes}, ${like}.` };
  const fast = 'as fast after the first token in this recording';
  return { factor: `${factor.toFixed(2)}×`, sentence: `${fast}, ${like}: ${passes}.` };
};

const firstTokenOf = (events: readonly TraceEvent[]): number => events.find(({ type }) => type === 'commit')?.at ?? 0;

const lastTokenOf = (events: readonly TraceEvent[]): number =>
  events.findLast(({ type }) => type === 'commit')?.at ?? 0;

/** How long the tokens after the first one took. */
export const spanOf = (events: readonly TraceEvent[]): number => lastTokenOf(events) - firstTokenOf(events);

/** A lane of plain text: every token at the time of its commit. */
export const laneOf = (events: readonly TraceEvent[], time: (ms: number) => number): LaneScene => {
  const first = firstTokenOf(events);
  const at = (ms: number): number => time(ms - first);
  const marks = roundsOf(events).flatMap((timed) => {
    const members = votesAt(events, timed.at).map(memberOf);
    return timed.round.committed.map(({ text, source }, i) => ({
      at: at(timed.at),
      text: shown(text),
      source,
      member: members[i] ?? null,
    }));
  });
  return { marks, passes: passesOf(events, at) };
};

export const sceneOf = (
  events: readonly TraceEvent[],
  plainEvents: readonly TraceEvent[] | null = null,
  timed = false,
): Scene => {
  const rounds = roundsOf(events);
  const first = firstTokenOf(events);
  const rejecting = rounds.findIndex(({ round }) => statusesOf(round).includes('rejected'));
  const drafting = rejecting < 0 ? rounds.findIndex(({ round }) => round.pieces.length > 1) : rejecting;
  const before = rounds[drafting - 1]?.at ?? first;
  const slow = drafting < 0 ? null : ([before - first, (rounds[drafting] as TimedRound).at - first] as const);
  const time = warp(Math.max(spanOf(events), plainEvents ? spanOf(plainEvents) : 0), slow);
  const bursts: Burst[] = [];
  const marks: Mark[] = [];
  for (const [i, timed] of rounds.entries()) {
    const from = time((rounds[i - 1]?.at ?? first) - first);
    const ended = time(timed.at - first);
    const votes = votesAt(events, timed.at);
    const members = votes.map(memberOf);
    const burst = burstOf(timed, from, ended, votes);
    if (burst) bursts.push(burst);
    timed.round.committed.forEach(({ text, source }, place) => {
      const own = burst && source !== 'drafted';
      const at = burst ? (own ? burst.corrected : burst.decided) : ended;
      marks.push({ at, text: shown(text), source, member: members[place] ?? null });
    });
  }
  // The pass that checks a burst is counted when it has decided.
  const passed = (at: number): number => bursts.find(({ from, ended }) => from < at && at <= ended)?.decided ?? at;
  return {
    plain: plainEvents && laneOf(plainEvents, time),
    system: { marks, passes: passesOf(events, (at) => passed(time(at - first))) },
    bursts,
    end: endOf(outcomeOf(events), plainEvents && outcomeOf(plainEvents), timed),
  };
};
