// What is kept of each row at its slot beside keys and values: moved with them, filled by every pass, averaged over runs.
import keep from '../../../shaders/cache/keep-rows.wgsl?raw';
import mean from '../../../shaders/cache/mean-rows.wgsl?raw';
import move from '../../../shaders/cache/move-rows.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** `width`: words a slot. The list of moves is that of compact.ts. */
export const moveRows = defineKernel({
  name: 'move-rows',
  wgsl: move,
  bindings: { store: 'update', moves: 'read' },
  uniforms: { count: 'u32', width: 'u32' },
  tuning: {},
  grid: ({ width }) => [Math.ceil(width / 64)],
});

/** `stride`: elements a row, a multiple of four, in the pass and at its slot. */
export const keepRows = defineKernel({
  name: 'keep-rows',
  wgsl: keep,
  bindings: { input: 'read', rows: 'read', kept: 'write' },
  uniforms: { rows: 'u32', stride: 'u32' },
  tuning: {},
  grid: ({ rows, stride }) => [Math.ceil(stride / 256), rows],
});

/** A span is four words: first slot and count of one run, then of another. */
export const meanRows = defineKernel({
  name: 'mean-rows',
  wgsl: mean,
  bindings: { kept: 'read', spans: 'read', means: 'write' },
  uniforms: { spans: 'u32', stride: 'u32' },
  tuning: {},
  grid: ({ spans, stride }) => [Math.ceil(stride / 256), spans],
});
