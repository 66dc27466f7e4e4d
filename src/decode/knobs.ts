// A system's settings: declared once as data, so the page builds sliders from them and a wrong one is named, not ignored.
import { OutriderError } from '../errors.ts';
import type { DecodingSystem } from './system.ts';

export const resolveKnobs = (
  { id, knobs }: Pick<DecodingSystem, 'id' | 'knobs'>,
  given: Readonly<Record<string, number>> = {},
): Record<string, number> => {
  for (const [name, value] of Object.entries(given)) {
    const knob = knobs[name];
    if (!knob) {
      const known = Object.keys(knobs).join(', ');
      throw new OutriderError(
        'bad-request',
        `${id} has no knob "${name}"`,
        known ? `Its knobs are: ${known}.` : 'It has none.',
      );
    }
    if (!(value >= knob.min && value <= knob.max))
      throw new OutriderError('bad-request', `${id}: ${name} must be from ${knob.min} to ${knob.max}, not ${value}`);
  }
  return Object.fromEntries(Object.entries(knobs).map(([name, { initial }]) => [name, given[name] ?? initial]));
};
