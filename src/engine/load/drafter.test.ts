// A drafter in its target's files, from a server: of the file only the header and its own tensors are asked for again.
import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { serveFiles } from '../../testing/servers/file-server.ts';
import { tinyMtp } from '../../testing/toys/tiny-mtp.ts';
import { loadDrafterSource } from './drafter.ts';
import { loadSource } from './language-model.ts';
import type { Progress } from './loaded-models.ts';

/** Larger than a gap that is read and thrown away; nothing needs it. */
const unused = { shape: [2 ** 20], values: new Float32Array(2 ** 20) };

test('a built-in drafter downloads its own tensors, and says how many bytes they have', async () => {
  const { source, tensors } = tinyMtp({
    edit(all) {
      const layer = [...all].filter(([name]) => name.startsWith('mtp.'));
      for (const [name] of layer) all.delete(name);
      all.set('model.layers.0.rotary_emb.inv_freq', unused);
      for (const [name, tensor] of layer) all.set(name, tensor);
    },
  });
  await using server = await serveFiles(
    Object.fromEntries([...source.files].map(([name, bytes]) => [`tiny/${name}`, bytes])),
  );
  const url = { kind: 'url', url: `${server.address}tiny/` } as const;
  const gpu = await testGpu();
  const target = await loadSource(gpu, url, {});
  const before = server.requests.length;
  const told: Progress[] = [];
  const { model } = await loadDrafterSource(gpu, url, target, { onProgress: (progress) => told.push(progress) });
  // What is between the header and the layer is not asked for.
  const from = server.requests.slice(before).map(({ range }) => Number(/^bytes=(\d+)/.exec(range ?? '')?.[1] ?? 0));
  expect(Math.max(...from)).toBeGreaterThan(unused.values.byteLength);
  const own = [...tensors].filter(([name]) => name.startsWith('mtp.')).map(([, { values }]) => values.byteLength);
  const downloads = told.filter(({ phase }) => phase === 'download');
  expect(downloads.at(-1)?.total).toBeLessThan(2 ** 18);
  expect(downloads.at(-1)?.loaded).toBeLessThan(2 ** 18);
  expect(downloads.at(-1)?.loaded).toBeGreaterThanOrEqual(own.reduce((sum, bytes) => sum + bytes, 0));
  model[Symbol.dispose]();
  target.model[Symbol.dispose]();
});
