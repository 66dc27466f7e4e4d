// A run as moments that can be gone back to, one for each round: what was drafted and what became of it, what target and
// drafter gave each token, what the rule said of the step, what reached the device.
import type { EventOf, TokenLogprob, TraceEvent } from '../../src/trace/index.ts';
import { type DecodedRound, type Fate, fatesOf, RoundReader } from '../run/rounds.ts';
import { type VotedToken, votesOf } from '../run/votes.ts';

type Probability = NonNullable<EventOf<'verify'>['probabilities']>[number];

export interface Moment extends DecodedRound {
  /** When it was committed. */
  readonly at: number;
  /** Tokens that were committed before it. */
  readonly before: number;
  /** Of node 1 and up of the tree; null where the run was made without. */
  readonly probabilities: readonly Probability[] | null;
  readonly logprobs: readonly TokenLogprob[] | null;
  readonly votes: readonly VotedToken[];
  /** What was decided on the step that this belongs to. */
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

/** A token of a round, drafted or the target's own, and what is known of it. */
export interface Row {
  readonly text: string;
  readonly fate: Fate;
  /** Places behind the anchor, from 1. */
  readonly place: number;
  readonly target: number | null;
  readonly draft: number | null;
  /** What else the target found probable there, where it is known. */
  readonly instead: readonly { readonly text: string; readonly probability: number }[];
}

/** Less is nothing to speak of. */
const LEAST = 0.001;

const instead = (scored: TokenLogprob | undefined): Row['instead'] =>
  (scored?.top ?? [])
    .filter(({ token }) => token !== scored?.token)
    .map(({ token, text, logprob }) => ({ text: text ?? `${token}`, probability: Math.exp(logprob) }))
    .filter(({ probability }) => probability >= LEAST);

/** Along the kept path the target's alternatives are known; of a rejected draft only what it got itself. */
export const rowsOf = (moment: Moment): readonly Row[] => {
  const { pieces, parents, path, committed, probabilities, logprobs, step } = moment;
  // An accepted step has the probabilities of the draft that wrote it.
  const writer = step && step.by !== 'target' ? 'draft' : 'target';
  const scoreOf = (i: number): Pick<Row, 'target' | 'draft' | 'instead'> => {
    const own = logprobs?.[i] ? Math.exp(logprobs[i].logprob) : null;
    return { target: null, draft: null, instead: instead(logprobs?.[i]), [writer]: own };
  };
  const depths: number[] = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : (depths[parent] ?? 0) + 1);
  const drafted = fatesOf(moment).flatMap((fate, node): Row[] => {
    if (node === 0) return [];
    const { target = null, draft = null } = probabilities?.[node - 1] ?? {};
    const place = depths[node] ?? 0;
    const scored = fate === 'drafted' ? scoreOf(place - 1) : { target: null, instead: [] };
    return [{ text: pieces[node] ?? '', fate, place, draft, target: target ?? scored.target, instead: scored.instead }];
  });
  const from = Math.max(0, path.length - 1);
  const own = committed
    .slice(from)
    .map(({ text, source }, i): Row => ({ text, fate: source, place: from + i + 1, ...scoreOf(from + i) }));
  return [...drafted, ...own].toSorted((a, b) => a.place - b.place);
};
