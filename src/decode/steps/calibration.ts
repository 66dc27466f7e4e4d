// What is usual for a draft: the 5th and 95th percentile of a step's signals in runs of the draft alone. SpecGuard places
// every step between them. Kept as calibration.json beside the draft's weights.
import { bad } from '../../base/refuse.ts';
import type { Rollout } from '../../model/interface.ts';

export type Range = readonly [low: number, high: number];

/** What is usual for a draft's steps. */
export interface Calibration {
  readonly version: 1;
  /** Steps that it was made from. */
  readonly steps: number;
  /** Of the least log-probability of a step's tokens. */
  readonly logprob: Range;
  /** Of their least grounding, by `rolloutKey`: how attention is rolled out changes what is usual. */
  readonly grounding: Readonly<Record<string, Range>>;
}

export const CALIBRATION_FILE = 'calibration.json';

/** Without a calibration: a token of probability 1/20 is as bad as it gets, and grounding is a share as it stands. */
const ASSUMED = { logprob: [Math.log(0.05), 0], grounding: [0, 1] } as const;

/** `layers`: of the model. */
export const rolloutKey = ({ layers: last, variant, skip = 0 }: Rollout, layers: number): string => {
  const rolled = last === 'all' ? layers : Math.min(last, layers);
  return `${rolled} layers, ${variant}${skip > 0 ? ', without the sink' : ''}`;
};

const isRange = (value: unknown): value is Range =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isFinite) && value[0] < value[1];

/** `json`: the file, or null where there is none. */
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
  /** Null where grounding is not asked for. */
  readonly grounding: Range | null;
}

/** `key`: of the rollout; null without one. */
export const rangesOf = (calibration: Calibration | null, key: string | null): Ranges => {
  const grounding = key === null ? null : calibration?.grounding[key];
  return {
    calibrated: calibration !== null && grounding !== undefined,
    logprob: calibration?.logprob ?? ASSUMED.logprob,
    grounding: grounding === undefined ? ASSUMED.grounding : grounding,
  };
};

/** Where a value lies between them, from 0 to 1. */
export const within = (value: number, [low, high]: Range): number =>
  Math.min(1, Math.max(0, (value - low) / (high - low)));

/** Linear between neighbours, as NumPy has it. */
const quantile = (sorted: readonly number[], share: number): number => {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  return below + (at % 1) * ((sorted[Math.ceil(at)] as number) - below);
};

/** Of the signals of many steps; null where they do not differ, or there are too few to speak of. */
export const usualRange = (values: readonly number[]): Range | null => {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [quantile(sorted, 0.05), quantile(sorted, 0.95)];
  return sorted.length >= 20 && low < high ? [low, high] : null;
};
