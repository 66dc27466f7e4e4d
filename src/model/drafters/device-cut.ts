// Where a drafter leaves how many nodes of its block are verified, for the target's verdict on the same device.
import type { Tensor } from '../../gpu/kernel.ts';
import type { DeviceCut } from '../interface.ts';

export const deviceCut = (limit: Tensor): DeviceCut => ({ cut: limit });

export const cutTensor = ({ cut }: DeviceCut): Tensor => cut as Tensor;
