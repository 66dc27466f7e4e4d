// A run as a list of moments, one for each round: the drafts and their status, the probabilities of target and drafter,
// the decision on the step, and the work on the device.
import type { EventOf, TokenLogprob, TraceEvent } from '../../src/trace/index.ts';
import { type DecodedRound, RoundReader, statusesOf, type TokenStatus } from './rounds.ts';
import { type VotedToken, votesOf } from './votes.ts';

type Probability = NonNullable<EventOf<'verify'>['probabilities']>[number];

export interface Moment extends DecodedRound {
  /** Time of the commit. */
  readonly at: number;
  /** Tokens committed before this round. */
  readonly before: number;
  /** From node 1 of the tree on; null if the run recorded none. */
  readonly probabilities: readonly Probability[] | null;
  readonly logprobs: readonly TokenLogprob[] | null;
  readonly votes: readonly VotedToken[];
  /** The decision on the step that this round belongs to. */
  readonly route: EventOf<'route'> | null;
  readonly work: EventOf<'kernels'> | null;
}

export const momentsOf = (events: readonly TraceEvent[]): readonly Moment[] => {
  const reader = new RoundReader();
  const moments: Moment[] = [];
  let probabilities: Moment['probabilities'] = null;
  let route: Moment['route'] = null;
  let before = 0;
  for (const event of events) {
    if (event.type === 'verify') probabilities = event.probabilities ?? null;
    if (event.type === 'route') route = event;
    const last = moments.at(-1);
    if (event.type === 'kernels' && last) moments[moments.length - 1] = { ...last, work: event };
    const round = reader.add(event);
    if (!round || event.type !== 'commit') continue;
    const { at, logprobs } = event;
    const judged = round.step?.step === route?.step ? route : null;
    moments.push({ ...round, at, before, probabilities, logprobs, votes: votesOf(event), route: judged, work: null });
    before += round.committed.length;
    probabilities = null;
  }
  return moments;
};

/** A token of a round, drafted or the target's own, with its probabilities. */
export interface Row {
  readonly text: string;
  readonly status: TokenStatus;
  /** Position after the anchor, from 1. */
  readonly place: number;
  readonly target: number | null;
  readonly draft: number | null;
  /** What the target finds most probable at this position besides the token, where that is known. */
  readonly alternatives: readonly { readonly text: string; readonly probability: number }[];
}

/** As many are shown. */
const ALTERNATIVES = 3;

/** Candidates that a run records at each position: one of them may be the token itself. */
export const LOGPROBS = ALTERNATIVES + 1;

const alternativesOf = (scored: TokenLogprob | undefined): Row['alternatives'] =>
  (scored?.top ?? [])
    .filter(({ token }) => token !== scored?.token)
    .map(({ token, text, logprob }) => ({ text: text ?? `${token}`, probability: Math.exp(logprob) }))
    .toSorted((a, b) => b.probability - a.probability)
    .slice(0, ALTERNATIVES);

/** Alternatives of the target are known along the accepted path; a rejected draft has only its own probability. */
export const rowsOf = (moment: Moment): readonly Row[] => {
  const { pieces, parents, path, committed, probabilities, logprobs, step } = moment;
  // An accepted step has the probabilities of the draft that wrote it.
  const writer = step && step.by !== 'target' ? 'draft' : 'target';
  const scoreOf = (i: number): Pick<Row, 'target' | 'draft' | 'alternatives'> => {
    const own = logprobs?.[i] ? Math.exp(logprobs[i].logprob) : null;
    return { target: null, draft: null, alternatives: alternativesOf(logprobs?.[i]), [writer]: own };
  };
  const depths: number[] = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : (depths[parent] ?? 0) + 1);
  const drafted = statusesOf(moment).flatMap((status, node): Row[] => {
    if (node === 0) return [];
    const { target = null, draft = null } = probabilities?.[node - 1] ?? {};
    const place = depths[node] ?? 0;
    const scored = status === 'drafted' ? scoreOf(place - 1) : { target: null, alternatives: [] };
    const { alternatives } = scored;
    return [{ text: pieces[node] ?? '', status, place, draft, target: target ?? scored.target, alternatives }];
  });
  const from = Math.max(0, path.length - 1);
  const own = committed
    .slice(from)
    .map(({ text, source }, i): Row => ({ text, status: source, place: from + i + 1, ...scoreOf(from + i) }));
  return [...drafted, ...own].toSorted((a, b) => a.place - b.place);
};

/** A committed token, and the draft that it took the place of. */
export interface Explained {
  readonly row: Row;
  readonly instead: Row | null;
}

/** The token at a place of the answer, from 0. */
export const explainToken = (moments: readonly Moment[], place: number): Explained | null => {
  const moment = moments.findLast(({ before }) => before <= place);
  const rows = moment ? rowsOf(moment).filter((row) => row.place === place - moment.before + 1) : [];
  const row = rows.find(({ status }) => status !== 'rejected' && status !== 'past');
  if (!row) return null;
  const corrected = row.status === 'corrected' || row.status === 'routed';
  return { row, instead: (corrected && rows.find(({ status }) => status === 'rejected')) || null };
};
