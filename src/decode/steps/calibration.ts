// The usual range of a draft's signals: their 5th and 95th percentile over steps of the draft alone. SpecGuard places
// every step's signals within it. Stored as calibration.json in the folder of the draft's weights.

import { bad } from '../../base/refuse.ts';
import { quantile } from '../../base/statistics.ts';
import type { Rollout } from '../../model/interface.ts';

export type Range = readonly [low: number, high: number];

/** The usual ranges of a draft's signals. */
export interface Calibration {
  readonly version: 1;
  /** The number of steps that were measured. */
  readonly steps: number;
  /** Of the least log-probability of a step's tokens. */
  readonly logprob: Range;
  /** Of their least grounding, by `rolloutKey`, because the range depends on how attention is rolled out. */
  readonly grounding: Readonly<Record<string, Range>>;
}

export const CALIBRATION_FILE = 'calibration.json';

/** Used without a calibration: a token of probability 1/20 is at the lower end, and grounding is the share itself. */
const ASSUMED = { logprob: [Math.log(0.05), 0], grounding: [0, 1] } as const;

/** `layers`: how many the model has. */
export const rolloutKey = ({ layers: last, variant, skip = 0 }: Rollout, layers: number): string => {
  const rolled = last === 'all' ? layers : Math.min(last, layers);
  return `${rolled} layers, ${variant}${skip > 0 ? ', without the sink' : ''}`;
};

const isRange = (value: unknown): value is Range =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isFinite) && value[0] < value[1];

/** `json`: the file's content, or null where there is no file. */
export const readCalibration = (json: unknown): Calibration | null => {
  if (json === null || json === undefined) return null;
  const { version, steps, logprob, grounding } = json as Partial<Record<string, unknown>>;
  const known = typeof grounding === 'object' && grounding !== null && Object.values(grounding).every(isRange);
  if (version !== 1 || !isRange(logprob) || !known)
    throw bad(`${CALIBRATION_FILE} is not a calibration of version 1`, 'Make it anew with `outrider calibrate`.');
  return { version, steps: Number(steps), logprob, grounding: grounding as Calibration['grounding'] };
};

export interface Ranges {
  readonly calibrated: boolean;
  readonly logprob: Range;
  /** Null where grounding is not used. */
  readonly grounding: Range | null;
}

/** `key`: the rollout's; null where grounding is not used. */
export const rangesOf = (calibration: Calibration | null, key: string | null): Ranges => {
  const grounding = key === null ? null : calibration?.grounding[key];
  return {
    calibrated: calibration !== null && grounding !== undefined,
    logprob: calibration?.logprob ?? ASSUMED.logprob,
    grounding: grounding === undefined ? ASSUMED.grounding : grounding,
  };
};

/** The value's place within the range, from 0 to 1. */
export const normalized = (value: number, [low, high]: Range): number =>
  Math.min(1, Math.max(0, (value - low) / (high - low)));

/** The range of the signals of many steps; null for fewer than 20 steps, or where they are all equal. */
export const usualRange = (values: readonly number[]): Range | null => {
  const sorted = Float64Array.from(values).sort();
  const [low, high] = [quantile(sorted, 0.05), quantile(sorted, 0.95)];
  return sorted.length >= 20 && low < high ? [low, high] : null;
};
