// What an arena gives: rows as large as one binding of the device, and a refusal by name beyond that.
import { afterEach, expect, test } from 'vitest';
import { UNIFORM_BYTES } from '../gpu/device.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { Arena } from './arena.ts';

const gpu = await testGpu('baseline');
const arena = new Arena(gpu);
afterEach(() => arena.free());

// Four models of 262 144 tokens in an ensemble keep 128 rows of logits: 128 MiB, WebGPU's default limit of a binding.
const ROWS = 128;
const WIDTH = gpu.device.limits.maxStorageBufferBindingSize / 4 / ROWS;

test('an activation may fill a whole binding: what goes on past its rows is bound by itself', async () => {
  const tensor = await gpu.allocating('rows', () => arena.activation(ROWS, WIDTH, 'kept rows'));
  expect(tensor.bytes).toBe(gpu.device.limits.maxStorageBufferBindingSize);
  expect(tensor.buffer.size).toBe(tensor.bytes + UNIFORM_BYTES);
});

test('one row more is refused by its name', () => {
  expect(() => arena.activation(ROWS + 1, WIDTH, 'kept rows')).toThrow(/^kept rows takes 129 MiB; .* at most 128 MiB/);
});
