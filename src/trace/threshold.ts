// How a step router's scores escalate: which side of the threshold does, and which knob holds it. Recordings older than
// these two fields of the `run` event are read by the id of their system.

/** A step is escalated where its score is above the threshold, or where it is below it. */
export type Escalates = 'high' | 'low';

/** A step router's threshold: how its scores are compared with it, and the name of its knob. */
export interface ThresholdRule {
  readonly escalates: Escalates;
  readonly threshold: string;
}

/** The routers of the time before the `run` event said it. */
const OLD_TRACES: Readonly<Record<string, ThresholdRule>> = {
  rsd: { escalates: 'low', threshold: 'delta' },
  arbitrage: { escalates: 'high', threshold: 'tau' },
  specguard: { escalates: 'low', threshold: 'tau' },
  confidence: { escalates: 'low', threshold: 'tau' },
  random: { escalates: 'low', threshold: 'share' },
  oracle: { escalates: 'high', threshold: 'tau' },
};

/** The threshold rule of a run; null for systems without one. */
export const thresholdOf = (run: { readonly system: string } & Partial<ThresholdRule>): ThresholdRule | null => {
  const { system, escalates, threshold } = run;
  if (escalates && threshold) return { escalates, threshold };
  return Object.hasOwn(OLD_TRACES, system) ? (OLD_TRACES[system] ?? null) : null;
};
