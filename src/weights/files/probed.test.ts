// Files are asked about, then opened: each is requested once, and what was not opened is closed.
import { expect, it } from 'vitest';
import { isOnnx } from '../../judge/onnx-judge.ts';
import { serveFiles } from '../../testing/servers/file-server.ts';
import { fileSet } from '../open.ts';
import { type ByteSource, type FileSet, readText } from './byte-source.ts';
import { probed } from './probed.ts';

it('a judge’s weights are requested once, whether they are safetensors or ONNX', async () => {
  for (const weights of ['model.safetensors', 'model.onnx']) {
    await using server = await serveFiles({ [`m/${weights}`]: new TextEncoder().encode('the weights') });
    using files = probed(fileSet({ kind: 'url', url: `${server.address}m/` }, {}));
    expect(await isOnnx(files, undefined)).toBe(weights === 'model.onnx');
    using file = (await files.open(weights, {})) as ByteSource;
    expect(await readText(file)).toBe('the weights');
    expect(await files.open('model.safetensors.index.json', { optional: true })).toBeNull();
    const asked = server.requests.map(({ path }) => path);
    expect(asked.filter((path) => path === `m/${weights}`)).toHaveLength(1);
    expect(new Set(asked).size).toBe(weights === 'model.onnx' ? 3 : 2);
  }
});

it('what was asked about and never opened is closed; a file is opened afresh on request', async () => {
  const events: string[] = [];
  const files: FileSet = {
    name: 'm',
    names: null,
    entry: null,
    open: async (name) => {
      events.push(`open ${name}`);
      return { name, size: 0, readInto: async () => {}, [Symbol.dispose]: () => void events.push(`close ${name}`) };
    },
  };
  {
    using asked = probed(files);
    expect([await asked.has('a'), await asked.has('a'), await asked.has('b')]).toEqual([true, true, true]);
    await asked.open('a', { afresh: true });
    await asked.open('a', {});
    expect(events).toEqual(['open a', 'open b', 'close a', 'open a', 'open a']);
  }
  expect(events.at(-1)).toBe('close b');
});
