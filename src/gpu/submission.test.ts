import { expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { defineKernel } from './kernel.ts';
import { Plan } from './plan.ts';

const scale = defineKernel({
  name: 'test-scale',
  wgsl: `
    @group(0) @binding(0) var<storage, read_write> values: array<f32>;
    struct Uniforms { count: u32, factor: f32 }
    @group(0) @binding(1) var<uniform> uniforms: Uniforms;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < uniforms.count) { values[id.x] *= uniforms.factor; }
    }`,
  bindings: { values: 'update' },
  uniforms: { count: 'u32', factor: 'f32' },
  tuning: {},
  grid: ({ count }) => [Math.ceil(count / 64)],
});

test('uploads, passes and readbacks of one submission happen in the order they were recorded', async () => {
  const gpu = await testGpu();
  const values = gpu.activation(1, 128, 'values');
  const plan = new Plan(gpu);
  scale(plan, { values }, { count: 100, factor: 3 });
  await plan.ready();
  const before = { ...gpu.counters };
  const { submission } = gpu;
  submission.upload(
    values,
    Float32Array.from({ length: 128 }, (_, i) => i),
  );
  submission.run(plan, { keys: 0 });
  const first = submission.read(values);
  submission.upload(values, new Float32Array(128).fill(1));
  submission.run(plan, { keys: 0 });
  const second = submission.read(values);
  submission.submit();
  const one = new Float32Array(await first);
  const two = new Float32Array(await second);
  expect([one[1], one[99], one[100]]).toEqual([3, 297, 100]);
  expect([two[0], two[99], two[100]]).toEqual([3, 3, 1]);
  expect(gpu.counters).toEqual({
    dispatches: before.dispatches + 2,
    submits: before.submits + 1,
    readbacks: before.readbacks + 2,
    readbackBytes: before.readbackBytes + 2 * values.bytes,
  });
});
