// Forward passes after the prompt. An escalated step begins with a prefill of its own, which is a part of decoding.
import type { Passes, TraceEvent } from '../events.ts';
import { total } from '../fold.ts';

/** The forward passes that an event tells of, by whose model; those over the prompt do not count. */
export const passesByRole = (event: TraceEvent): Passes => {
  switch (event.type) {
    case 'prefill':
      return event.step === undefined ? {} : { [event.by]: event.passes ?? 0 };
    case 'draft':
    case 'candidates':
      return { [event.by]: event.passes };
    case 'verify':
      return event.passes ?? { [event.by]: 1 };
    default:
      return {};
  }
};

const sum = (passes: Passes): number => Object.values(passes).reduce<number>((all, count = 0) => all + count, 0);

export const targetPasses = total((e) => passesByRole(e).target ?? 0);
/** Of every drafter, a look-up included; of an ensemble, of all members except the target. */
export const draftPasses = total((e) => (e.type === 'verify' ? 0 : sum({ ...passesByRole(e), target: 0 })));
export const passes = total((e) => sum(passesByRole(e)));
