// Counts the escalated steps that the target did not better: for each, what the draft had written, what the target
// wrote instead, and, when the true answer is known step by step, which of them was right.
import type { EventOf, TraceEvent } from '../../trace/index.ts';

export interface Escalations {
  readonly escalated: number;
  /** The target's step was no better: the same as the draft's, or not the true one where the draft's was wrong too. */
  readonly useless: number;
}

/** The text of some tokens, the token that ended the answer left out. */
const textOf = (tokens: readonly number[], pieces: readonly string[] | undefined, stop: unknown): string =>
  (pieces ?? tokens.map((token) => `${token} `)).filter((_, i) => tokens[i] !== stop).join('');

/** Null where they are not known. */
export const trueSteps = (answer: string | null | undefined): readonly string[] | null =>
  answer?.split('\n\n').map((step) => step.trim()) ?? null;

/** `right`: the true step; null where only equal steps can be told. */
export const isUseless = (drafted: string, written: string, right: string | null): boolean =>
  written.trim() === drafted.trim() || (right !== null && written.trim() !== right);

/** `answer`: the true one; null where only equal steps can be told. */
export const countEscalations = (events: readonly TraceEvent[], answer: string | null): Escalations => {
  const truth = trueSteps(answer);
  const done = events.find((event): event is EventOf<'done'> => event.type === 'done');
  let drafted: EventOf<'candidates'> | null = null;
  let asked: string | null = null;
  let escalated = 0;
  let useless = 0;
  for (const event of events) {
    if (event.type === 'candidates' && event.by === 'draft') drafted = event;
    if (event.type === 'route' && event.to === 'target' && drafted) {
      const { chosen = 0 } = event;
      asked = textOf(drafted.tokens[chosen] ?? [], drafted.pieces?.[chosen], done?.stop);
    }
    if (event.type !== 'step' || event.by !== 'target' || asked === null) continue;
    const written = textOf(event.ids ?? [], event.pieces, done?.stop);
    escalated++;
    if (isUseless(asked, written, truth && (truth[event.step - 1] ?? ''))) useless++;
    asked = null;
  }
  return { escalated, useless };
};
