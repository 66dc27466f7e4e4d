// Against a real llama.cpp: the bundled target as GGUF, which must write what it writes here, and SmolLM2, whose
// vocabulary is another than that of the draft on this machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OutriderError } from '../base/errors.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import { loadSource } from '../engine/load/language-model.ts';
import type { LoadedModel } from '../engine/load/loaded-models.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ModelSources } from '../engine/sources.ts';
import { SYSTEMS } from '../systems/index.ts';
import random from '../systems/random.ts';
import { problems } from '../testing/contract/device-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { exportGguf, type LlamaServer, noLlama, serveLlama } from '../testing/servers/llama-server.ts';
import { committedTokens, type TraceEvent } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';
import { openRemoteJudge } from './remote-judge.ts';
import { type RemoteSource, remote, remoteJudge } from './server.ts';

const KEY = 'sk-llama';
/** Every step goes to the target. */
const routed = { system: 'random', knobs: { share: 1 } };
const systems = [...SYSTEMS.filter(({ id }) => id !== random.id), random];

const draft = () => folderSource(resolve(import.meta.dirname, '../../public/models/draft'));
const engineWith = async (models: ModelSources): Promise<Engine> => {
  const engine = createEngine({ gpu: await testGpu(), systems });
  await engine.load(models);
  return engine;
};
const run = async (
  engine: Engine,
  request: RunRequest,
  onEvent?: (event: TraceEvent) => void,
  signal?: AbortSignal,
) => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run(request, signal)) {
    events.push(event);
    onEvent?.(event);
  }
  return events;
};

describe.skipIf(noLlama)('the bundled target on llama.cpp', { timeout: 600_000 }, () => {
  let folder: string;
  let server: LlamaServer;
  let far: Engine;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'outrider-gguf-'));
    exportGguf('target', join(folder, 'target.gguf'));
    server = await serveLlama(join(folder, 'target.gguf'), KEY);
    far = await engineWith({ draft: await draft(), remote: remote(server.address, 'llama', KEY) });
  }, 240_000);
  afterAll(async () => {
    await far?.close();
    await server?.[Symbol.asyncDispose]();
    if (folder) rmSync(folder, { recursive: true });
  });

  it('writes, step by step, the tokens that it writes here, from its own files and from the GGUF', async () => {
    const targets = [resolve(import.meta.dirname, '../../public/models/target'), join(folder, 'target.gguf')];
    const prompts = problems(2);
    const answers = [];
    for (const path of targets) {
      const here = await engineWith({ target: await folderSource(path) });
      for (const prompt of prompts) answers.push(committedTokens(await run(here, { prompt })));
      await here.close();
    }
    for (const prompt of prompts) answers.push(committedTokens(await run(far, { ...routed, prompt })));
    expect(answers.slice(2, 4)).toEqual(answers.slice(0, 2));
    expect(answers.slice(4)).toEqual(answers.slice(0, 2));
    expect(answers.flat().length).toBeGreaterThan(3 * 2 * 20);
  });

  it('samples the same with the same seed', async () => {
    const [prompt] = problems(1) as [RunRequest['prompt']];
    const sampled = async (seed: number) =>
      committedTokens(await run(far, { ...routed, prompt, temperature: 3, topK: 50, seed, maxTokens: 40 }));
    const first = await sampled(1);
    expect(await sampled(1)).toEqual(first);
    expect(await sampled(2)).not.toEqual(first);
  });

  it('is there for the next run after an aborted one', async () => {
    const [prompt] = problems(1) as [RunRequest['prompt']];
    const abort = new AbortController();
    const stop = ({ type }: TraceEvent) => type === 'commit' && abort.abort();
    const aborted = await run(far, { ...routed, prompt }, stop, abort.signal);
    expect(aborted.at(-1)).toMatchObject({ finish_reason: 'aborted' });
    expect((await run(far, { ...routed, prompt })).at(-1)).toMatchObject({ finish_reason: 'stop' });
  });

  it.each([
    ['a wrong key', () => remote(server.address, 'llama', 'sk-wrong'), 'bad-request', /401: Invalid API key$/],
    ['another path', () => remote(`${server.address}/nothing`, 'llama', KEY), 'bad-request', /404: Not Found$/],
  ])('refuses %s', async (_, source: () => RemoteSource, code, message) => {
    const [prompt] = problems(1) as [RunRequest['prompt']];
    const engine = await engineWith({ draft: await draft(), remote: source() });
    const error = (await run(engine, { ...routed, prompt }).catch((thrown) => thrown)) as OutriderError;
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    await engine.close();
  });
});

describe.skipIf(noLlama || noShared)('SmolLM2 on llama.cpp', { timeout: 600_000 }, () => {
  let server: LlamaServer;
  beforeAll(async () => {
    const file = shared('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf');
    server = await serveLlama(file, KEY, { logits_all: 'true' });
  }, 240_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  it('writes its own text, which is read in the vocabulary of the draft', async () => {
    const text = 'The three primary colours are';
    const whole = await fetch(`${server.address}/v1/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model: 'llama', prompt: text, max_tokens: 16, temperature: 0, top_p: 1 }),
    });
    const { choices } = (await whole.json()) as { choices: { text: string }[] };
    const engine = await engineWith({ draft: await draft(), remote: remote(server.address, 'llama', KEY) });
    const request = { ...routed, prompt: { text }, maxTokens: 16, knobs: { share: 1, 'step-tokens': 16 } };
    const answer = (await run(engine, request)).at(-1);
    const written = answer?.type === 'done' ? (answer.text ?? '') : '';
    expect(written.length).toBeGreaterThan(10);
    expect(choices[0]?.text.slice(0, written.length)).toBe(written);
    await engine.close();
  });

  it('is asked which of two words comes next, as a judge of texts', async () => {
    const words = { by: 'words', words: ['no', 'yes'], question: 'Answer:', stepEnd: '' } as const;
    const { tokenizer, ...loaded } = (await loadSource(await testGpu(), await draft())) as LoadedModel;
    const judge = openRemoteJudge(remoteJudge(server.address, 'llama', words, KEY), { ...loaded, tokenizer }, 'reward');
    const score = async (text: string): Promise<number> =>
      (await (await judge.open()).score(tokenizer?.encode(text) ?? [], [], [[]]))[0] as number;
    const asked = (...answers: readonly string[]) =>
      [...answers.map((answer, i) => `Is it ${i}?\nAnswer: ${answer}`), 'Is it 9?'].join('\n');
    const says = await score(asked('no', 'yes', 'yes', 'yes', 'yes', 'yes', 'yes'));
    const denies = await score(asked('yes', 'no', 'no', 'no', 'no', 'no', 'no'));
    expect(says).toBeGreaterThan(denies);
    expect(denies).toBeGreaterThanOrEqual(0);
    loaded.model[Symbol.dispose]();
  });
});
