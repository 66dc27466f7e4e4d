// Every decoding system, in the order that people meet them. A new one is its file and a line here; the contract test
// picks it up by itself.
import type { DecodingSystem } from '../decode/system.ts';
import autoregressive from './autoregressive.ts';

export const SYSTEMS: readonly DecodingSystem[] = [autoregressive];
