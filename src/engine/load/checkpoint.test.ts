// What a load tells of its download: how much of all that it will fetch has arrived.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { serveFiles } from '../../testing/servers/file-server.ts';
import { loadJudgeSource } from './judge.ts';
import { loadSource } from './language-model.ts';
import type { Progress } from './loaded-models.ts';
import { loadPolicySource } from './networks.ts';

const MODELS = resolve(import.meta.dirname, '../../../public/models');

const LOADERS = { draft: loadSource, prm: loadJudgeSource } as const;

test.each(['draft', 'prm', 'blockpilot'] as const)('the download of %s rises from little to all', async (name) => {
  const files = readdirSync(`${MODELS}/${name}`).map((file) => [file, readFileSync(`${MODELS}/${name}/${file}`)]);
  await using server = await serveFiles(Object.fromEntries(files));
  const parts: number[] = [];
  const onProgress = ({ phase, loaded, total }: Progress) => phase === 'download' && parts.push(loaded / total);
  const source = { kind: 'url', url: server.address } as const;
  const { model } =
    name === 'blockpilot'
      ? await loadPolicySource(source, { onProgress })
      : await LOADERS[name](await testGpu(), source, { onProgress });
  model[Symbol.dispose]();
  expect(parts[0]).toBeLessThan(0.5);
  expect(parts).toEqual(parts.toSorted((a, b) => a - b));
  expect(parts.at(-1)).toBe(1);
  expect(parts.filter((part) => part === 1)).toHaveLength(1);
});
