// Steps of step routers: how many there were, how many the target wrote, and what judging cost.
import { both, ratio, total } from '../fold.ts';
import { tokens } from './rounds.ts';

export const steps = total((e) => (e.type === 'step' ? 1 : 0));
export const escalated = total((e) => (e.type === 'route' && e.to === 'target' ? 1 : 0));

/** The target's share of all steps. */
export const escalationRate = both(
  total((e) => (e.type === 'step' && e.by === 'target' ? 1 : 0)),
  steps,
  ratio,
);

/** Tokens that the target wrote, kept or not; all tokens of a system without steps. */
export const targetTokens = both(
  total((e) => (e.type === 'step' ? (e.written ?? (e.by === 'target' ? e.tokens : 0)) : 0)),
  both(steps, tokens, (count, all) => (count > 0 ? 0 : all)),
  (inSteps, others) => inSteps + others,
);

export const judgeMs = total((e) => (e.type === 'route' ? (e.judge_ms ?? 0) : 0));
