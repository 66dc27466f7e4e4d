// Traces: the events of a run, the figures that are folded from them, and the reader of stored ones. Exports only.
export { committedTokens } from './committed-tokens.ts';
export type {
  Emit,
  EventOf,
  Role,
  Source,
  TokenLogprob,
  TokenText,
  TokenVote,
  TraceEvent,
  TraceEventType,
} from './events.ts';
export { fold, type Metric } from './fold.ts';
export { METRICS, type Metrics, measure } from './metrics/metrics.ts';
export { passesByRole } from './metrics/passes.ts';
export { acceptanceLength } from './metrics/rounds.ts';
export { usage } from './metrics/usage.ts';
export { withNewNames } from './old-names.ts';
export { readTraceText, type TraceProblem, type TraceText } from './read-trace.ts';
export { type Escalates, type ThresholdRule, thresholdOf } from './threshold.ts';
