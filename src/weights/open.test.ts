import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../testing/goldens/shared.ts';
import type { Checkpoint } from './checkpoint.ts';
import { folderSource } from './files/folder.ts';
import { openCheckpoint } from './open.ts';

const openShared = async (...path: string[]): Promise<Checkpoint> =>
  openCheckpoint(await folderSource(shared(...path)));

/** Every tensor decoded, whole. */
const decoded = async (checkpoint: Checkpoint): Promise<Map<string, Float32Array>> => {
  const tensors = new Map<string, number[]>();
  for await (const block of checkpoint.stream()) {
    const values = tensors.get(block.tensor.name) ?? [];
    for (const value of block.decode()) values.push(value);
    tensors.set(block.tensor.name, values);
  }
  return new Map([...tensors].map(([name, values]) => [name, Float32Array.from(values)]));
};

const largestDifference = (a: Float32Array, b: Float32Array): number =>
  a.reduce(
    (most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))),
    a.length === b.length ? 0 : Infinity,
  );

describe.skipIf(noShared)('checkpoints of every kind', () => {
  it('shards hold what the single file holds, in any order of names', async () => {
    using whole = await openShared('golden/qwen3-tiny');
    using sharded = await openShared('golden/qwen3-tiny-sharded');
    expect(whole.format).toBe('safetensors');
    expect(sharded.bytes).toBe(whole.bytes);
    expect(sharded.config).toEqual(whole.config);
    const [a, b] = [await decoded(whole), await decoded(sharded)];
    expect(new Set(b.keys())).toEqual(new Set(a.keys()));
    for (const [name, values] of a) expect(largestDifference(values, b.get(name) as Float32Array), name).toBe(0);
  });

  it('bf16 is f32 with the low half cut off', async () => {
    using exact = await openShared('golden/qwen3-tiny');
    using rounded = await openShared('golden/qwen3-tiny-bf16');
    const [a, b] = [await decoded(exact), await decoded(rounded)];
    for (const [name, values] of a) {
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      expect(largestDifference(values, b.get(name) as Float32Array), name).toBeLessThanOrEqual(largest * 2 ** -8);
    }
  });

  it.each([
    ['llama', 'F16', 2 ** -11],
    ['llama', 'Q8_0', 0.006],
    ['qwen3', 'F16', 2 ** -11],
    ['qwen3', 'Q8_0', 0.006],
  ])('GGUF %s %s has the names, shapes and rows of its safetensors source', async (family, type, tolerance) => {
    using source = await openShared(`golden/${family}-tiny`);
    using gguf = await openShared(`golden/gguf-${family}-tiny/${family}-tiny.${type}.gguf`);
    expect(gguf.format).toBe('gguf');
    const [a, b] = [await decoded(source), await decoded(gguf)];
    if (family === 'llama') {
      const factors = new Uint8Array(readFileSync(shared('golden/gguf-llama-tiny/rope_freqs.f32')));
      expect(b.get('rope_freqs.weight')).toEqual(new Float32Array(factors.buffer));
      b.delete('rope_freqs.weight');
    }
    expect(new Set(b.keys())).toEqual(new Set(a.keys()));
    for (const [name, values] of a) {
      expect(gguf.tensors.get(name)?.shape, name).toEqual(source.tensors.get(name)?.shape);
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      expect(largestDifference(values, b.get(name) as Float32Array), name).toBeLessThanOrEqual(largest * tolerance);
    }
    const published = JSON.parse(readFileSync(shared(`golden/${family}-tiny/config.v4.json`), 'utf8'));
    for (const key of Object.keys(gguf.config).filter(
      (key) => key in published && !/_token_id$|rope_scaling/.test(key),
    ))
      expect(gguf.config[key], key).toEqual(published[key]);
  });

  it('SmolLM2: the configuration that was published', async () => {
    using gguf = await openShared('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf');
    const published = JSON.parse(readFileSync(shared('models/smollm2-135m-instruct/config.json'), 'utf8'));
    const common = Object.keys(gguf.config).filter((key) => key in published);
    expect(common.length).toBeGreaterThan(15);
    for (const key of common) expect(gguf.config[key], key).toEqual(published[key]);
    expect(gguf.tensors.get('model.embed_tokens.weight')).toEqual({
      name: 'model.embed_tokens.weight',
      type: 'Q8_0',
      shape: [49152, 576],
      bytes: 30081024,
    });
    expect(gguf.tensors.size).toBe(272);
  });

  it('opens every golden model', async () => {
    const models = readdirSync(shared('golden')).filter((name) => existsSync(shared('golden', name, 'config.json')));
    expect(models.length).toBeGreaterThan(8);
    for (const name of models) {
      using checkpoint = await openShared('golden', name);
      let bytes = 0;
      for await (const block of checkpoint.stream()) bytes += block.raw.length;
      expect(bytes, name).toBe(checkpoint.bytes);
    }
  });

  it('reads integers: the draft vocabulary of EAGLE-3', async () => {
    using checkpoint = await openShared('golden/eagle3-tiny');
    expect(checkpoint.tensors.get('d2t')?.type).toBe('I64');
    const map = (await decoded(checkpoint)).get('d2t') as Float32Array;
    expect(map).toHaveLength(128);
    expect([...map].every((offset, i) => Number.isInteger(offset) && i + offset < 331)).toBe(true);
  });
});
