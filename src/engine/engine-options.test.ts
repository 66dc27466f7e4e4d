// What JavaScript may hand over to createEngine: what is wrong is said at once, and never by a TypeError of WebGPU's.
import { expect, it } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { createEngine } from './engine.ts';
import type { EngineOptions } from './engine-options.ts';

const device = { queue: {}, limits: {} };
const adapter = { limits: {}, features: new Set(), requestDevice: async () => device };
const A_DEVICE = 'gpu must be a device, or a function that opens one, not ';

it.each([
  [null, 'the options must be an object, not null'],
  [[], 'the options must be an object, not []'],
  [{ gpuu: device }, 'there is no option "gpuu"'],
  [{ gpu: 5 }, `${A_DEVICE}5`],
  [{ gpu: null }, `${A_DEVICE}null`],
  [{ gpu: adapter }, `${A_DEVICE}{`],
  [{ gpu: Promise.resolve(device) }, `${A_DEVICE}{}`],
  [{ base: 5 }, 'base must be an address, not 5'],
  [{ systems: 'autoregressive' }, 'systems must be a list of decoding systems, not "autoregressive"'],
  [{ systems: [{ id: 'mine' }] }, 'systems must be a list of decoding systems'],
  [{ whenIdle: 1 }, 'whenIdle must be true or false, not 1'],
])('%j is refused', (options, message) => {
  expect(() => createEngine(options as EngineOptions)).toThrow(
    expect.objectContaining({ code: 'bad-request', message: expect.stringContaining(message) }),
  );
});

it('a function may open a bare device; what it gives otherwise is refused by the load', async () => {
  const open = async () => (await testGpu()).device;
  const engine = createEngine({ gpu: open });
  expect(await engine.preflight({})).toMatchObject({ fits: true });
  const wrong = createEngine({ gpu: (async () => adapter) as unknown as typeof open });
  await expect(wrong.preflight({})).rejects.toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining(A_DEVICE),
    hint: expect.stringContaining('requestDevice()'),
  });
});

it('models on a disk are refused before anything is asked for', async () => {
  const engine = createEngine({ gpu: await testGpu(), base: 'file:///models/' });
  const refused = {
    code: 'bad-request',
    message: expect.stringMatching(/^file:.* is on a disk/),
    hint: expect.stringContaining("{ kind: 'files', files }"),
  };
  await expect(engine.load({ target: 'draft' })).rejects.toMatchObject(refused);
  await expect(engine.load({ target: { kind: 'url', url: 'file:///tmp/model.gguf' } })).rejects.toMatchObject(refused);
});
