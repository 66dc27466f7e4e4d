// The taps of a target's last layer, compared with the authors' reading of them, and sliding layers of a block.
import { expect, test } from 'vitest';
import type { Tensor } from '../../gpu/kernel.ts';
import { rmsNormReference } from '../../kernels/norm/rms-norm.reference.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { goldenTensor, loadShared, relativeError } from '../../testing/goldens/golden.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { openCheckpoint } from '../../weights/open.ts';
import { rowsOf } from '../arena.ts';
import { readDrafter } from '../families/families.ts';
import { unpad } from '../forward/pass.ts';
import { loadDrafter } from '../load/load-drafter.ts';
import { blockRows } from './block-rows.ts';
import { DFlashDrafter } from './dflash-drafter.ts';

test.skipIf(noShared)('the last layer is tapped after the final norm', async () => {
  const gpu = await testGpu();
  using target = await loadShared(gpu, 'golden/qwen3-tiny-deep');
  using checkpoint = await openCheckpoint(await folderSource(shared('golden/dflash-tiny')));
  const { dflash_config: own, ...config } = checkpoint.config as { dflash_config: object };
  const last = { ...config, dflash_config: { ...own, target_layer_ids: [1, 7, 5] } };
  using drafter = await loadDrafter(gpu, { ...checkpoint, config: last }, target);
  if (!(drafter instanceof DFlashDrafter)) throw new Error(drafter.kind);
  const tokens = Array.from({ length: 5 }, (_, i) => 20 + i);
  using cursor = await target.open({ capacity: 32, tapLayers: drafter.tapLayers });
  using context = await drafter.open({ capacity: 32 });
  const taps: Float32Array[] = [];
  const pass = cursor.forward({ tokens, parents: tokens.map((_, i) => i - 1) });
  context.append(
    pass,
    tokens.map((_, i) => i),
  );
  for (const tap of pass.taps) taps.push(await tap.read());
  context.draft(0, 2); // fuses what waits
  const { scratch, architecture } = drafter.network;
  const { hidden } = architecture.sizes;
  const fused = gpu.submission.read(rowsOf(scratch.features?.fused as Tensor, tokens.length));
  const finalNorm = gpu.submission.read(target.lend().finalNorm);
  gpu.flush();
  const weight = [...new Float32Array(await finalNorm)].slice(0, hidden);

  const read = new Map<string, Float32Array>();
  const wanted = (name: string): boolean => ['fc.weight', 'hidden_norm.weight'].includes(name);
  for await (const block of checkpoint.stream({ wanted })) read.set(block.tensor.name, block.decode());
  const [fc, norm] = [read.get('fc.weight'), read.get('hidden_norm.weight')] as [Float32Array, Float32Array];
  const { epsilon } = architecture.norm;
  const expected = (normed: boolean): number[] =>
    tokens.flatMap((_, row) => {
      const joined = taps.flatMap((tap, i) => {
        const values = [...tap.subarray(row * hidden, (row + 1) * hidden)];
        return i === 1 && normed ? rmsNormReference(values, weight, target.architecture.norm.epsilon) : values;
      });
      const projected = Array.from({ length: hidden }, (_, i) =>
        joined.reduce((sum, x, j) => sum + x * (fc[i * joined.length + j] as number), 0),
      );
      return rmsNormReference(projected, [...norm], epsilon);
    });
  const ours = unpad(await fused, tokens.length, hidden);
  expect(relativeError(ours, Float32Array.from(expected(true)))).toBeLessThan(1e-3);
  expect(relativeError(ours, Float32Array.from(expected(false)))).toBeGreaterThan(0.1);
});

test.skipIf(noShared)('sliding layers of a block are causal, unless the config says otherwise', async () => {
  using checkpoint = await openCheckpoint(await folderSource(shared('golden/dspark-tiny')));
  expect(goldenTensor('dspark-tiny', 'taps.f32').length).toBeGreaterThan(0);
  const rows = (change: object) => {
    const sliding = {
      use_sliding_window: true,
      sliding_window: 4,
      layer_types: ['sliding_attention', 'full_attention'],
    };
    const { architecture } = readDrafter({ ...checkpoint.config, ...sliding, max_window_layers: 0, ...change });
    const block = { anchor: { token: 1, ringEntry: 0 }, maskToken: 2, rows: 3, length: 10 };
    const all = blockRows(architecture, block);
    return [4, null].map((window) => all(window, 0, 3).map(({ first, start, end }) => [first, start, end]));
  };
  const full = [0, 1, 2].map(() => [0, 10, 13]);
  const causal = [
    [7, 10, 11],
    [8, 10, 12],
    [9, 10, 13],
  ];
  const both = causal.map(([first, start], i) => [first, start, Math.min(13, 10 + i + 4)]);
  expect(rows({})).toEqual([causal, full]);
  expect(rows({ sliding_window_non_causal: true })).toEqual([both, full]);
});

test.skipIf(noShared)('a config whose rows cannot be told is refused, and so are kin that nothing tests', async () => {
  using checkpoint = await openCheckpoint(await folderSource(shared('golden/dspark-tiny-speculators')));
  const { config } = checkpoint;
  const proposing = (speculative_tokens: number) => ({
    ...config,
    sample_from_anchor: undefined,
    speculators_config: { proposal_methods: [{ speculative_tokens }] },
  });
  expect(readDrafter(proposing(7))).toMatchObject({ kind: 'dspark', firstRow: 0 });
  expect(readDrafter(proposing(6))).toMatchObject({ kind: 'dspark', firstRow: 1 });
  expect(() => readDrafter(proposing(5))).toThrow('which row of the block drafts first cannot be told');
  const { speculators_model_type: _, ...bare } = config;
  expect(() => readDrafter(bare)).toThrow('which rows of this DSparkDraftModel draft cannot be told');
  for (const name of ['Gemma4DSparkModel', 'Qwen35DSparkModel', 'DFlash2DraftModel'])
    expect(() => readDrafter({ ...bare, architectures: [name] })).toThrow(name);
});
