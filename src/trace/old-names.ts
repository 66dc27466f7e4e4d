// Traces that were stored under older names. `readTraceText` passes each event through `withNewNames`. An old name is
// read for one version: delete this file with 0.2.0.
import type { EventOf, TraceEvent } from './events.ts';
import type { ThresholdRule } from './threshold.ts';

/** Kernel names in the spans of `kernels` events: the old one, and today's. */
const KERNELS: Readonly<Record<string, string>> = {
  elect: 'chain-end',
  gauge: 'softmax-statistics',
  law: 'distribution',
  mix: 'combined-logits',
  'rollout-lanes': 'rollout-staged',
};

/** By system: what the `run` events of step routers did not say yet. */
const ROUTERS: Readonly<Record<string, ThresholdRule>> = {
  rsd: { escalates: 'low', threshold: 'delta' },
  arbitrage: { escalates: 'high', threshold: 'tau' },
  specguard: { escalates: 'low', threshold: 'tau' },
  confidence: { escalates: 'low', threshold: 'tau' },
  random: { escalates: 'low', threshold: 'share' },
  oracle: { escalates: 'high', threshold: 'tau' },
};

const look = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const run = (event: EventOf<'run'> & { readonly at: number }): TraceEvent =>
  event.escalates ? event : { ...event, ...look(ROUTERS, event.system) };

const kernels = (event: EventOf<'kernels'> & { readonly at: number }): TraceEvent => ({
  ...event,
  spans: event.spans.map(({ name, ...span }) => ({ name: look(KERNELS, name) ?? name, ...span })),
});

/** An event of a stored trace under today's names. An event of today comes back unchanged. */
export const withNewNames = (event: TraceEvent): TraceEvent => {
  if (event.type === 'run') return run(event);
  return event.type === 'kernels' ? kernels(event) : event;
};
