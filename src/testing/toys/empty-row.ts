// A living row of a pass that sees nothing: a test of a kernel changes what the kernel reads.
import type { Row } from '../../kernels/cache/rows.ts';

export const EMPTY_ROW: Row = {
  token: 0,
  position: 0,
  slot: 0,
  prefix: 0,
  first: 0,
  start: 0,
  end: 0,
  base: 0,
  maskLow: 0,
  maskHigh: 0,
  alive: 1,
  ringEntry: 0,
  chunkBoundary: 0,
};
