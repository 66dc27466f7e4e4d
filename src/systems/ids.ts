// The names of all decoding systems, for editors to complete. facts.test.ts compares them with the systems themselves.
export const SYSTEM_IDS = [
  'autoregressive',
  'draft-model',
  'prompt-lookup',
  'suffix-decoding',
  'dflash',
  'dspark',
  'blockpilot',
  'eagle3',
  'mtp',
  'combined',
  'ensemble',
  'ensemble-parallel',
  'ensemble-speculative',
  'cos-naive',
  'cos',
  'rsd',
  'arbitrage',
  'specguard',
  'confidence',
  'random',
  'oracle',
  'draft-only',
  'target-only',
  'majority',
  'best-of-n',
] as const;

/** A decoding system's id. Any text is accepted, because an engine may have systems of its own. */
export type SystemId = (typeof SYSTEM_IDS)[number] | (string & Record<never, never>);
