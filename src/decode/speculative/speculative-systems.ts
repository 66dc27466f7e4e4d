// The chunk that a page loads when a speculative system runs for the first time.

export { prefill, readPrompt } from '../core/prefill.ts';
export { chooseSize } from './choose-block-size.ts';
export { blockDrafter, refusedFirst } from './drafter-block.ts';
export { lookupDrafter } from './drafter-lookup.ts';
export { modelDrafter } from './drafter-model.ts';
export { treeDrafter } from './drafter-tree.ts';
export { speculate } from './speculate.ts';
export { following, prefillBlocks, prefillTapped } from './taps.ts';
export { roundTimes } from './time-block-sizes.ts';
