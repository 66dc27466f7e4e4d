// A number of a request, checked; the error names its field.
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';

export const inRange = (name: string, value: unknown, least: number, most: number, whole = false): number => {
  if (typeof value !== 'number' || !(value >= least && value <= most) || (whole && !Number.isInteger(value)))
    throw refuse(`${name} must be ${whole ? 'a whole number ' : ''}from ${least} to ${most}, not ${shown(value)}`);
  return value;
};
