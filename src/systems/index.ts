// Every decoding system, in the order that people meet them. A new one is its file and a line here; the contract test
// picks it up by itself.
import type { DecodingSystem } from '../decode/system.ts';
import autoregressive from './autoregressive.ts';
import blockpilot from './blockpilot.ts';
import dflash from './dflash.ts';
import draftModel from './draft-model.ts';
import eagle3 from './eagle3.ts';
import promptLookup from './prompt-lookup.ts';

export const SYSTEMS: readonly DecodingSystem[] = [
  autoregressive,
  draftModel,
  promptLookup,
  dflash,
  blockpilot,
  eagle3,
];
