import type { ChoiceKnob } from '../decode/core/knobs.ts';

/** Every speculative system has it. */
export const fallBackKnob = {
  kind: 'choice',
  label: 'Plain decoding where drafting loses time',
  options: ['on', 'off'],
  initial: 'on',
} as const satisfies ChoiceKnob;
