// The bundled block-size policy in WebAssembly, and files that are no policy.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutriderError } from '../base/errors.ts';
import { memoryFiles } from '../weights/files/byte-source.ts';
import { openBlockPolicy } from './block-policy.ts';

const folder = join(import.meta.dirname, '../../public/models/blockpilot');
const network = new Uint8Array(readFileSync(join(folder, 'policy.onnx')));
const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Record<string, unknown>;

const files = (json: unknown, onnx: Uint8Array | null = network) =>
  memoryFiles(
    new Map([
      ['config.json', new TextEncoder().encode(JSON.stringify(json))],
      ...(onnx ? ([['policy.onnx', onnx]] as const) : []),
    ]),
  );

/** Logits with a clear favourite, as a target's are. */
const logits = Float32Array.from({ length: 512 }, (_, i) => (i === 30 ? 18 : -4 + Math.sin(i)));

const problem = async (json: unknown, onnx?: Uint8Array | null): Promise<string> => {
  try {
    (await openBlockPolicy(files(json, onnx)))[Symbol.dispose]();
  } catch (error) {
    const { code, message, hint } = error as OutriderError;
    expect(code).toBe('bad-checkpoint');
    return `${message}: ${hint}`;
  }
  return 'nothing';
};

describe('the bundled policy', () => {
  it('predicts a length for every block size, more for larger ones', async () => {
    using policy = await openBlockPolicy(files(config));
    const tau = await policy.predict(logits);
    expect(tau).toHaveLength(policy.blockSizes.length);
    expect(tau[0]).toBeGreaterThan(0.5);
    expect(tau.at(-1)).toBeGreaterThan(2 * (tau[0] as number));
    expect(await policy.predict(logits)).toEqual(tau);
  });

  it('reads the logits as the config says', async () => {
    const shifted = logits.map((logit) => 2 * logit + 3);
    for (const [input, same] of [
      ['raw', false],
      ['normalised', true],
    ] as const) {
      using policy = await openBlockPolicy(files({ ...config, input }));
      const [a, b] = [await policy.predict(logits), await policy.predict(shifted)];
      const apart = Math.max(...a.map((value, i) => Math.abs(value - (b[i] as number))));
      if (same) expect(apart).toBeLessThan(1e-3);
      else expect(apart).toBeGreaterThan(1e-3);
    }
  });
});

describe('what is no policy is refused by name', () => {
  it.each([
    [{ ...config, architectures: ['Qwen3ForCausalLM'] }, network, 'Qwen3ForCausalLM'],
    [{ ...config, block_sizes: [4, 2] }, network, 'block_sizes is [4,2]'],
    [{ ...config, block_sizes: [1, 2] }, network, 'expected 2'],
    [{ ...config, vocab_size: 500 }, network, 'does not take 500 features'],
    [{ ...config, input: 'cooked' }, network, 'input is "cooked"'],
    [config, network.slice(0, 1000), 'not a network that onnxruntime can run'],
    [config, null, 'policy.onnx is missing: A policy is config.json and policy.onnx.'],
  ])('%#', async (json, onnx, message) => {
    expect(await problem(json, onnx)).toContain(message);
  });
});
