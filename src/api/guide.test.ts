// The examples of docs/guide/tools.md run as they stand there, on the bundled draft.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as ai from 'ai';
import OpenAI from 'openai';
import { expect, it, vi } from 'vitest';
import { createEngine, type Engine } from '../engine/engine.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { AnswerReader } from '../text/answer-format.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createOutrider } from './ai-sdk.ts';
import { openai, openaiFetch } from './openai.ts';
import { promptApi } from './prompt-api.ts';
import { type PolyfillBackendClass, promptApiBackend } from './prompt-api-polyfill.ts';

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

/** A file that exports a backend is used as the polyfill uses it. */
const ask = async (Backend: PolyfillBackendClass): Promise<string> => {
  const backend = new Backend();
  await backend.createSession({}, {});
  return (await backend.generateContent([{ role: 'user', parts: [{ text: 'Ida has 54 stones.' }] }])).text;
};

it('has examples', () => expect(examples).toHaveLength(6));

it.each(examples)('%s', { timeout: 120_000 }, async (code) => {
  const facades = { AnswerReader, openai, openaiFetch, createOutrider, promptApi, promptApiBackend, ask };
  const values = { connect: draftAt(await testGpu()), ...facades, OpenAI, ...ai };
  const body = code.replaceAll(/^import .*$/gm, '').replace(/^export default (.*);$/m, 'console.log(await ask($1));');
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await new AsyncFunction(...Object.keys(values), body)(...Object.values(values));
    expect(log).toHaveBeenCalled();
    expect(log.mock.calls.at(-1)?.every((value) => value !== undefined && value !== '')).toBe(true);
  } finally {
    log.mockRestore();
  }
});
