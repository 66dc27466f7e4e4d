// The device card, measured on a real device through the client, with a model whose passes cost nothing.
import { expose } from 'comlink';
import { expect, it } from 'vitest';
import { toyLoaded } from '../testing/contract/system-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { connect } from '../worker/connect.ts';
import { serve } from '../worker/service.ts';
import { createEngine } from './engine.ts';

it('says what a device can do, and what passes cost the target where there is one', async () => {
  const gpu = await testGpu('baseline');
  const engine = createEngine({ gpu });
  const { port1, port2 } = new MessageChannel();
  expose(serve(engine), port1);
  const client = connect({ worker: port2 });

  const told: string[] = [];
  const bare = await client.measure({ onProgress: (what) => told.push(what) });
  expect(told).toEqual(['device']);
  expect(bare.passes).toBeNull();
  expect(bare.bandwidth_gb_per_second).toBeGreaterThan(0.01);
  expect(bare.multiply_add_gflops).toBeGreaterThan(0.01);
  expect(bare.limits.maxBufferSize).toBe(gpu.device.limits.maxBufferSize);

  await engine.load({ target: toyLoaded(toyModel({ vocabulary: 16, sharpness: 2, context: 64 })) });
  const { passes } = await client.measure({ repeats: 1 });
  expect(Object.keys(passes?.relative ?? {})).toEqual(['1', '2', '4', '8', '12', '16']);
  expect(passes?.relative['1']).toBe(1);

  await expect(client.measure({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
  await client.close();
});
