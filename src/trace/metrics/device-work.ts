// What reached the device: dispatches, submits, readbacks.
import { total } from '../fold.ts';

export const dispatches = total((e) => (e.type === 'kernels' ? e.dispatches : 0));
export const submits = total((e) => (e.type === 'kernels' ? e.submits : 0));
export const readbacks = total((e) => (e.type === 'kernels' ? e.readbacks : 0));
