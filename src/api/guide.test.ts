// The examples of docs/guide/tools.md run as they stand there, on the bundled draft.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as ai from 'ai';
import OpenAI from 'openai';
import { expect, it, vi } from 'vitest';
import { createEngine, type Engine } from '../engine/engine.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createOutrider } from './ai-sdk.ts';
import { openai, openaiFetch } from './openai.ts';
import { promptApi } from './prompt-api.ts';

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/tools.md'), 'utf8');
const examples = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
const AsyncFunction = (async () => {}).constructor as new (
  ...code: readonly string[]
) => (...values: unknown[]) => Promise<void>;

/** The bundled draft from its folder: a page would load it from an address. */
const draftAt = (gpu: Awaited<ReturnType<typeof testGpu>>) => (): Engine => {
  const engine = createEngine({ gpu });
  const load = engine.load.bind(engine);
  engine.load = async (_, options) =>
    load({ target: await folderSource(resolve(import.meta.dirname, '../../public/models/draft')) }, options);
  engine.close = async () => {}; // the device is shared
  return engine;
};

it('has examples', () => expect(examples).toHaveLength(4));

it.each(examples)('%s', { timeout: 120_000 }, async (code) => {
  const values = { connect: draftAt(await testGpu()), openai, openaiFetch, createOutrider, promptApi, OpenAI, ...ai };
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await new AsyncFunction(...Object.keys(values), code.replaceAll(/^import .*$/gm, ''))(...Object.values(values));
    expect(log).toHaveBeenCalled();
    expect(log.mock.calls.at(-1)?.every((value) => value !== undefined && value !== '')).toBe(true);
  } finally {
    log.mockRestore();
  }
});
