// SHA-256 of the bundled models' files, which are checked on load. Only the engine reads the table: a page whose engine
// is in a worker sends a model's name.
import type { Digests } from '../weights/files/checked.ts';
import digests from './bundled-digests.json' with { type: 'json' };

/** By model and file. A calibration may be written anew, so it is not among them. */
export const BUNDLED_DIGESTS: Readonly<Record<string, Digests>> = digests;

/** The source of a bundled model with the digests of its files; any other as it is. */
export const withDigests = <From extends object>(from: From): From =>
  'bundled' in from ? { ...from, digests: BUNDLED_DIGESTS[String(from.bundled)] ?? {} } : from;
