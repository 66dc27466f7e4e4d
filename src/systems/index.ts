// Every decoding system, in the order that people meet them. A new one is its file and a line here; the contract test
// picks it up by itself.
import type { DecodingSystem } from '../decode/core/system.ts';
import arbitrage from './arbitrage.ts';
import autoregressive from './autoregressive.ts';
import bestOfN from './best-of-n.ts';
import blockpilot from './blockpilot.ts';
import confidence from './confidence.ts';
import cos from './cos.ts';
import cosNaive from './cos-naive.ts';
import dflash from './dflash.ts';
import draftModel from './draft-model.ts';
import draftOnly from './draft-only.ts';
import eagle3 from './eagle3.ts';
import ensemble from './ensemble.ts';
import ensembleParallel from './ensemble-parallel.ts';
import ensembleSpeculative from './ensemble-speculative.ts';
import majority from './majority.ts';
import oracle from './oracle.ts';
import promptLookup from './prompt-lookup.ts';
import random from './random.ts';
import rsd from './rsd.ts';
import specguard from './specguard.ts';
import targetOnly from './target-only.ts';

/** All decoding systems, in the order that people meet them. */
export const SYSTEMS: readonly DecodingSystem[] = [
  autoregressive,
  draftModel,
  promptLookup,
  dflash,
  blockpilot,
  eagle3,
  ensemble,
  ensembleParallel,
  ensembleSpeculative,
  cosNaive,
  cos,
  rsd,
  arbitrage,
  specguard,
  confidence,
  random,
  oracle,
  draftOnly,
  targetOnly,
  majority,
  bestOfN,
];
