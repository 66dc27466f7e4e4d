// A target and a draft of different vocabularies: step systems exchange texts, every other system has the target alone.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openNodeGpu } from '../gpu/node.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { loadTokenizer } from '../text/tokenizer.ts';
import type { EventOf, TraceEvent } from '../trace/index.ts';
import { createEngine, type Engine, type Loaded } from './engine.ts';
import type { LoadedModel } from './load/loaded-models.ts';

const folder = new URL('../../public/models/target/', import.meta.url);
const read = (file: string): Buffer => readFileSync(new URL(file, folder));
const json = (file: string) => JSON.parse(read(file).toString());
const MERGES = 100;

/** The bundled tokenizer with fewer merges: texts are the same, tokens are not. */
const shorter = async () => {
  const tokenizer = json('tokenizer.json');
  const { vocab, merges } = tokenizer.model;
  tokenizer.model.merges = merges.slice(0, -MERGES);
  const size = Object.keys(vocab).length - MERGES;
  tokenizer.model.vocab = Object.fromEntries(Object.entries(vocab).filter(([, id]) => Number(id) < size));
  return loadTokenizer({ tokenizer, config: json('tokenizer_config.json') });
};

const messages = [
  { role: 'user', content: 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?' },
] as const;

let engine: Engine;
let loaded: Loaded;
beforeAll(async () => {
  const tokenizer = await shorter();
  const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 4, context: 512 });
  const draft: LoadedModel = { name: 'toy', model, tokenizer, stopTokens: tokenizer.eos };
  const files = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
  engine = createEngine({ gpu: openNodeGpu });
  const target = { kind: 'bytes', files: new Map(files.map((file) => [file, new Uint8Array(read(file))])) } as const;
  loaded = await engine.load({ target, draft }, { vocabularies: 'own' });
});
afterAll(() => engine.close());

const run = async (system: string, knobs = {}, more = {}): Promise<readonly TraceEvent[]> => {
  const events: TraceEvent[] = [];
  const request = { system, knobs, prompt: { messages: [...messages] }, maxTokens: 90, temperature: 0, ...more };
  for await (const event of engine.run(request)) events.push(event);
  return events;
};
const textOf = (events: readonly TraceEvent[]): string | null => (events.at(-1) as EventOf<'done'>).text;
const stepsOf = (events: readonly TraceEvent[]) => events.filter((event) => event.type === 'step');

it.each([0, 0.8])(
  'writes what the target writes alone, where it writes every step, at temperature %s',
  async (temperature) => {
    const sampled = { temperature, seed: 3 };
    const alone = await run('autoregressive', {}, sampled);
    const routed = await run('random', { share: 1 }, sampled);
    expect(textOf(routed)).toBe(textOf(alone));
    expect(textOf(alone)).toContain('The answer is');
    expect((routed.at(-1) as EventOf<'done'>).finish_reason).toBe('stop');
    expect(new Set(stepsOf(routed).map(({ by }) => by))).toEqual(new Set(['target']));
    // Steps that begin again after another run read the kept rows.
    expect(textOf(await run('random', { share: 1 }, sampled))).toBe(textOf(alone));
  },
);

it('goes with step systems, and other systems have the target alone', async () => {
  const ids = loaded.systems.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['autoregressive', 'prompt-lookup', 'specguard', 'confidence', 'random']));
  for (const id of ['draft-model', 'ensemble', 'cos', 'oracle', 'majority']) expect(ids).not.toContain(id);
  await expect(run('draft-model')).rejects.toMatchObject({ code: 'vocabulary-mismatch' });
  await expect(run('ensemble')).rejects.toMatchObject({ code: 'vocabulary-mismatch' });
});

it('goes on after steps of the draft, in either vocabulary', async () => {
  const limits = { 'step-tokens': 12 };
  const routed = await run('random', { share: 0.5, ...limits }, { seed: 5 });
  const writers = stepsOf(routed).map(({ by }) => by);
  expect(new Set(writers)).toEqual(new Set(['draft', 'target']));
  const committed = routed.flatMap((event) => (event.type === 'commit' ? event.tokens : []));
  expect(committed.length).toBeLessThanOrEqual(90);
  expect(textOf(await run('random', { share: 0.5, ...limits }, { seed: 5 }))).toBe(textOf(routed));
  const none = await run('random', { share: 0, ...limits });
  expect(textOf(none)).toBe(textOf(await run('draft-only', limits)));
  const told = routed.flatMap((event) => (event.type === 'remote' ? [event.fault] : []));
  expect(told.length).toBe(writers.filter((by) => by === 'target').length);
  expect(told.every((fault) => fault === null)).toBe(true);
});

it('judges by the draft alone, candidates included', async () => {
  const routed = await run('specguard', { k: 2, tau: 0.9, selector: 'tokens', 'step-tokens': 12 }, { seed: 2 });
  expect(routed.some((event) => event.type === 'route' && event.to === 'target')).toBe(true);
  expect((routed.at(-1) as EventOf<'done'>).finish_reason).toMatch(/stop|length/);
});
