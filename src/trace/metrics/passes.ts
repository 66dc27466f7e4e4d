// Forward passes after the prefill.
import type { EventOf, Role, TraceEvent } from '../events.ts';
import { total } from '../fold.ts';

const writesDrafts = (event: TraceEvent): event is EventOf<'draft'> | EventOf<'candidates'> =>
  event.type === 'draft' || event.type === 'candidates';

/** Of one role; without a role, of all models. */
const passesIn = (event: TraceEvent, role?: Role): number => {
  if (writesDrafts(event)) return role === undefined || event.by === role ? event.passes : 0;
  if (event.type !== 'verify') return 0;
  const passes = event.passes ?? { [event.by]: 1 };
  return role === undefined
    ? Object.values(passes).reduce<number>((sum, count = 0) => sum + count, 0)
    : (passes[role] ?? 0);
};

export const targetPasses = total((e) => passesIn(e, 'target'));
/** Of every drafter, a look-up included; of an ensemble, of all members except the target. */
export const draftPasses = total((e) => (writesDrafts(e) && e.by !== 'target' ? e.passes : 0));
export const passes = total((e) => passesIn(e));
