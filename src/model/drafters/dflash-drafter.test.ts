// DFlash drafters against the authors' code.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { loadShared, openGolden, readGolden } from '../../testing/goldens/golden.ts';
import { checkDFlash } from '../../testing/goldens/golden-dflash.ts';
import { noShared } from '../../testing/goldens/shared.ts';
import { loadDrafter } from '../load/load-drafter.ts';

describe.skipIf(noShared).each(['all', 'baseline'] as const)('DFlash, %s features', (features) => {
  test.each(['dflash-tiny', 'dflash-tiny-good'])('%s', async (name) => {
    await checkDFlash(await testGpu(features), name);
  });
});

// Computed with torch: the authors' layers over `embed_tokens` of transformers' Gemma 3, which scales what it looks up.
// With bare rows the first is 2.892.
const LARGEST = [4.938, 5.059, 5.121, 5.019, 4.927, 4.994, 5.157];

test.skipIf(noShared)('a drafter for Gemma reads scaled embeddings, as its target does', async () => {
  const gpu = await testGpu('all');
  using target = await loadShared(gpu, 'golden/gemma3-tiny');
  using checkpoint = await openGolden('dflash-tiny');
  const config = {
    ...checkpoint.config,
    vocab_size: 417,
    num_target_layers: 6,
    dflash_config: { mask_token_id: 330, target_layer_ids: [0, 2, 4] },
  };
  using drafter = await loadDrafter(gpu, { ...checkpoint, config }, target);
  if (drafter.kind !== 'dflash') throw new Error(drafter.kind);
  using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
  using block = await drafter.open({ capacity: 64 });
  await cursor.extend(readGolden('gemma3-tiny').prompt, {
    onPass: (pass) => block.append(pass, [...Array(pass.rows).keys()]),
  });
  const scores = block.draft(5, 8);
  const logits = await scores.logits.read();
  const largest = LARGEST.map((_, i) => Math.max(...logits.subarray((i + 1) * 417, (i + 2) * 417)));
  for (const [i, value] of LARGEST.entries()) expect(largest[i]).toBeCloseTo(value, 2);
});
