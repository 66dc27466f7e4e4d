// Which member of the matmul family a device runs.
import type { Gpu } from '../gpu/device.ts';
import type { Matrix, MatmulChoice, MatmulTuning } from './matmul.ts';

/** Measured on lavapipe with 2 cores; docs/log.md has the table. */
const SOFTWARE: MatmulChoice = {
  slices: 1,
  workgroup: 16,
  input: 'constant',
  perLane: { 1: 4, 2: 4, 4: 4, 8: 4, 16: 2 },
};

export const chooseTuning = async (
  _gpu: Gpu,
  _shapes: readonly Pick<Matrix, 'format' | 'rows' | 'columns'>[],
): Promise<MatmulTuning> => ({ fallback: SOFTWARE, shapes: {} });
