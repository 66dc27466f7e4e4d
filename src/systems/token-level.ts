// The systems that decode one target token by token, without changing its answer. Those with `writesSteps` also write
// the escalated steps of step systems. A new one is its file and a line here; index.ts lists all systems.
import type { DecodingSystem } from '../decode/core/system.ts';
import autoregressive from './autoregressive.ts';
import blockpilot from './blockpilot.ts';
import combined from './combined.ts';
import dflash from './dflash.ts';
import draftModel from './draft-model.ts';
import dspark from './dspark.ts';
import eagle3 from './eagle3.ts';
import mtp from './mtp.ts';
import promptLookup from './prompt-lookup.ts';
import suffixDecoding from './suffix-decoding.ts';

export const TOKEN_LEVEL: readonly DecodingSystem[] = [
  autoregressive,
  draftModel,
  promptLookup,
  suffixDecoding,
  dflash,
  dspark,
  blockpilot,
  eagle3,
  mtp,
  combined,
];
