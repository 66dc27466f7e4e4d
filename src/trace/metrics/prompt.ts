// The prompt: its length, how much of it was cached, and how long reading the rest took.
import type { EventOf, TraceEvent } from '../events.ts';
import { type Metric, total } from '../fold.ts';

/** False for the prefill of an escalated step, which is a part of decoding. */
export const readsPrompt = (event: TraceEvent): event is EventOf<'prefill'> =>
  event.type === 'prefill' && event.step === undefined;

export const promptTokens = total((e) => (e.type === 'run' ? e.prompt.length : 0));

/** In the target's cache, or in the draft's when the target reads the prompt only on demand. */
export const reusedTokens: Metric<{ target: number | null; draft: number }, number> = {
  start: { target: null, draft: 0 },
  add: (state, event) =>
    readsPrompt(event) && (event.by === 'target' || event.by === 'draft')
      ? { ...state, [event.by]: event.reused }
      : state,
  value: ({ target, draft }) => target ?? draft,
};

export const prefillMs = total((e) => (readsPrompt(e) ? e.ms : 0));
