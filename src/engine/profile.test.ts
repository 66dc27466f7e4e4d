// A request for a profile, on a device that has no timestamps.
import { expect, it } from 'vitest';
import { openNodeGpu } from '../gpu/node.ts';
import { tinyFamily } from '../testing/toys/tiny-family.ts';
import type { TraceEvent } from '../trace/index.ts';
import { createEngine } from './engine.ts';
import type { RunRequest } from './request.ts';

it('is refused before anything runs, and the prefix cache stays', async () => {
  const gpu = await openNodeGpu({ features: 'baseline' });
  const engine = createEngine({ gpu });
  await engine.load({ target: tinyFamily().target });
  const tokens = [1, 2, 3, 4, 5];
  let events: TraceEvent[] = [];
  const run = async (request: Partial<RunRequest> = {}) => {
    events = [];
    for await (const event of engine.run({ prompt: { tokens }, maxTokens: 2, ...request })) events.push(event);
  };
  await run();
  await expect(run({ profile: true })).rejects.toMatchObject({ code: 'bad-request' });
  expect(events).toEqual([]);
  await run();
  expect(events.find(({ type }) => type === 'prefill')).toMatchObject({ reused: tokens.length - 1 });
  await engine.close();
  gpu.destroy();
});
