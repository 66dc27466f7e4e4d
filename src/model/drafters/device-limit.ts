// Where a drafter leaves how many nodes of its block are verified, for the target's verdict on the same device.
import type { Tensor } from '../../gpu/kernel.ts';
import type { DeviceLimit } from '../interface.ts';

export const deviceLimit = (limit: Tensor): DeviceLimit => ({ limit });

export const limitTensor = ({ limit }: DeviceLimit): Tensor => limit as Tensor;
