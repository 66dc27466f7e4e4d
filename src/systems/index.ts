// All decoding systems, in the order of lists. A new one is its file and a line here (or in token-level.ts). Contract
// tests, command line and pages take everything else from what the file declares.
import type { DecodingSystem } from '../decode/core/system.ts';
import arbitrage from './arbitrage.ts';
import bestOfN from './best-of-n.ts';
import confidence from './confidence.ts';
import cos from './cos.ts';
import cosNaive from './cos-naive.ts';
import draftOnly from './draft-only.ts';
import ensemble from './ensemble.ts';
import ensembleParallel from './ensemble-parallel.ts';
import ensembleSpeculative from './ensemble-speculative.ts';
import majority from './majority.ts';
import oracle from './oracle.ts';
import random from './random.ts';
import rsd from './rsd.ts';
import specguard from './specguard.ts';
import targetOnly from './target-only.ts';
import { TOKEN_LEVEL } from './token-level.ts';

/** All decoding systems, in the order of lists. */
export const SYSTEMS: readonly DecodingSystem[] = [
  ...TOKEN_LEVEL,
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
