// What a cache keeps of each row at its slot apart from keys and values: every pass fills it (`keepRows`), it moves
// with them (`moveRows`), and steps read its means (`meanRows`).
import keep from '../../../shaders/cache/keep-rows.wgsl?raw';
import mean from '../../../shaders/cache/mean-rows.wgsl?raw';
import move from '../../../shaders/cache/move-rows.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct } from '../../gpu/struct.ts';

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

/** Two runs of slots: a fork's shared past, and its own rows. */
export const ROW_SPAN = defineStruct('RowSpan', { first: 'u32', count: 'u32', further: 'u32', more: 'u32' });

/** `spans`: as ROW_SPAN packs them. */
export const meanRows = defineKernel({
  name: 'mean-rows',
  wgsl: mean,
  bindings: { kept: 'read', spans: 'read', means: 'write' },
  uniforms: { spans: 'u32', stride: 'u32' },
  tuning: {},
  grid: ({ spans, stride }) => [Math.ceil(stride / 256), spans],
});
