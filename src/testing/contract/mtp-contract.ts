// What the contract tests of MTP share: a small Qwen3.5 that drafts for itself.
import type { Engine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { CachePrecision } from '../../model/interface.ts';
import combined from '../../systems/combined.ts';
import mtp from '../../systems/mtp.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { tinyMtp } from '../toys/tiny-mtp.ts';
import { loadEngine } from './device-contract.ts';
import { type SystemVariant, variantsOf } from './exact-systems.ts';

/** Every way in which its layer drafts. */
export const MTP_VARIANTS: readonly SystemVariant[] = [
  ...variantsOf(mtp),
  { system: combined, knobs: { drafter: 'mtp', sources: 'drafter' }, drawn: false, name: 'combined, drafted by MTP' },
];

/** The first is as long as several passes; the second begins like it, and differs in its last rows. */
export const MTP_PROMPTS: readonly RunRequest['prompt'][] = [
  { tokens: Array.from({ length: 37 }, (_, i) => (i * i + 3) % 50) },
  { tokens: [...Array.from({ length: 30 }, (_, i) => (i * i + 3) % 50), 7, 8, 9] },
  { tokens: [4] },
];

export const mtpEngine = (gpu: Gpu, precision: Precision, cache: CachePrecision): Promise<Engine> =>
  loadEngine(gpu, { target: tinyMtp().source, mtp: 'built-in' }, precision, cache);
