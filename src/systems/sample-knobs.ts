// The knobs of systems that draw several answers.
export const sampleKnobs = {
  n: { kind: 'number', label: 'Answers', min: 1, max: 16, step: 1, initial: 8 },
  temperature: { kind: 'number', label: 'Temperature of the answers', min: 0, max: 2, step: 0.05, initial: 0.7 },
  'top-p': { kind: 'number', label: 'Top-p of the answers', min: 0, max: 1, step: 0.05, initial: 0.95 },
  by: { kind: 'choice', label: 'Who writes them', options: ['draft', 'target'], initial: 'draft' },
} as const;
