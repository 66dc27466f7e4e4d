// Drafted tokens: how many there were, and how many were kept.
import { both, total } from '../fold.ts';

/** Drafts inside an escalated step do not count: all tokens of such a step are the target's. */
export const drafted = total((e) => {
  if (e.type === 'candidates') return e.by === 'draft' ? e.written : 0;
  return e.type === 'draft' && e.step === undefined && e.by !== 'constraint'
    ? e.tokens.length - 1 - (e.forced ?? 0)
    : 0;
});

export const accepted = total((e) =>
  e.type === 'commit' ? e.source.filter((source) => source === 'drafted').length : 0,
);

export const wasted = both(drafted, accepted, (all, kept) => all - kept);
