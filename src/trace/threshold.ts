// How the scores of a step router decide: which knob holds the threshold, and on which side of it a step is escalated.

/** A step is escalated when its score is above the threshold ('high'), or when it is below ('low'). */
export type Escalates = 'high' | 'low';

/** A step router's threshold: how its scores are compared with it, and the name of its knob. */
export interface ThresholdRule {
  readonly escalates: Escalates;
  readonly threshold: string;
}

/** The threshold rule of a `run` event; null for systems without one. Old traces get theirs in `withNewNames`. */
export const thresholdOf = ({ escalates, threshold }: Partial<ThresholdRule>): ThresholdRule | null =>
  escalates && threshold ? { escalates, threshold } : null;
