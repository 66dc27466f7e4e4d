// The two plans that need no choices. Each fills the form, so that the visitor sees what is measured.

export interface Preset {
  readonly prompts: number;
  readonly repeat: number;
  /** Above the longest answer to a bundled problem, so that none is cut off. */
  readonly tokens: number;
  readonly systems: readonly string[];
  /** Whether the device is measured first, which the share of its bandwidth needs. */
  readonly device: boolean;
}

const TOKENS = 160;

export const PRESETS = {
  quick: {
    ...{ prompts: 3, repeat: 1, tokens: TOKENS, device: false },
    systems: ['dflash', 'draft-model', 'prompt-lookup'],
  },
  full: {
    ...{ prompts: 4, repeat: 3, tokens: TOKENS, device: true },
    systems: [
      ...['dflash', 'blockpilot', 'eagle3', 'draft-model', 'prompt-lookup', 'suffix-decoding', 'combined'],
      ...['confidence', 'rsd', 'arbitrage', 'specguard'],
    ],
  },
} as const satisfies Readonly<Record<string, Preset>>;
