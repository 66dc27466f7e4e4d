import { expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { defineKernel } from './kernel.ts';
import { openNodeGpu } from './node.ts';
import { Plan } from './plan.ts';
import { Profile } from './profile.ts';

const spin = (name: string) =>
  defineKernel({
    name,
    wgsl: `
      @group(0) @binding(0) var<storage, read_write> values: array<f32>;
      struct Uniforms { repeats: u32 }
      @group(0) @binding(1) var<uniform> uniforms: Uniforms;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        var x = values[id.x];
        for (var i = 0u; i < uniforms.repeats; i++) { x = fma(x, 0.5, 1.0); }
        values[id.x] = x;
      }`,
    bindings: { values: 'update' },
    uniforms: { repeats: 'u32' },
    tuning: {},
    grid: () => [4],
  });

test('a profile times each kernel by name, changes no result, and ends without a trace', async () => {
  const gpu = await testGpu();
  const values = gpu.activation(1, 256, 'values');
  const plan = new Plan(gpu);
  spin('short')(plan, { values }, { repeats: 1 });
  spin('long')(plan, { values }, { repeats: 100_000 });
  spin('short')(plan, { values }, { repeats: 1 });
  await plan.ready();
  const submission = async () => {
    gpu.submission.upload(values, new Float32Array(256));
    gpu.submission.run(plan, { keys: 0 });
    const read = gpu.submission.read(values);
    gpu.submission.submit();
    return new Float32Array(await read);
  };
  const plain = await submission();
  const bytes = gpu.bytes;
  const profile = await Profile.start(gpu);
  const profiled = [await submission(), await submission()];
  const spans = await profile.take();
  expect(profiled).toEqual([plain, plain]);
  // By name: on a busy machine a short dispatch may well take longer than a long one.
  expect(Object.fromEntries(spans.map(({ name, dispatches }) => [name, dispatches]))).toEqual({ long: 2, short: 4 });
  expect(spans.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThan(0);
  expect(await profile.take()).toEqual([]);
  profile.stop();
  expect(gpu.bytes).toBe(bytes);
  const { readbacks } = gpu.counters;
  await submission();
  expect(gpu.counters.readbacks).toBe(readbacks + 1);
});

test('what was recorded before the end, and not submitted yet, keeps its timestamps', async () => {
  const gpu = await testGpu();
  const values = gpu.activation(1, 256, 'values');
  const plan = new Plan(gpu);
  spin('short')(plan, { values }, { repeats: 1 });
  await plan.ready();
  gpu.device.pushErrorScope('validation');
  const profile = await Profile.start(gpu);
  gpu.submission.run(plan, { keys: 0 });
  profile.stop();
  gpu.flush();
  expect((await gpu.device.popErrorScope())?.message).toBeUndefined();
});

test('a device without timestamps says so', async () => {
  const gpu = await openNodeGpu({ features: 'baseline' });
  await expect(Profile.start(gpu)).rejects.toMatchObject({ code: 'bad-request' });
  gpu.destroy();
});
