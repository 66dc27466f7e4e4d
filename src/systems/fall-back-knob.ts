// The knob `fall-back`, by which the contract tests also know that a system speculates.
import type { ChoiceKnob } from '../decode/core/knobs.ts';

/** A knob of every speculative system. */
export const fallBackKnob = {
  kind: 'choice',
  label: 'Plain decoding where drafting loses time',
  options: ['on', 'off'],
  initial: 'on',
} as const satisfies ChoiceKnob;
