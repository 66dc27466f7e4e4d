import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { loadSource } from './language-model.ts';

test.skipIf(noShared)('generation_config.json says what ends an answer, also where there is no tokenizer', async () => {
  const files = new Map(
    ['config.json', 'model.safetensors'].map((name) => [
      name,
      Uint8Array.from(readFileSync(shared('golden/llama-tiny', name))),
    ]),
  );
  files.set('generation_config.json', new TextEncoder().encode('{"eos_token_id": [199, 5]}'));
  const { model, tokenizer, stopTokens } = await loadSource(await testGpu(), { kind: 'bytes', files });
  using _ = model;
  expect(tokenizer).toBe(null);
  expect(stopTokens).toEqual(expect.arrayContaining([199, 5]));
});
