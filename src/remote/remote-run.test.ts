// A remote target in whole runs, on a toy draft: what may run with it, what a run tells, and that the key stays inside,
// across a worker's border too.
import { readFileSync } from 'node:fs';
import { expose } from 'comlink';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { toFault } from '../base/errors.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { LoadedModel } from '../engine/load/loaded-models.ts';
import { SYSTEMS } from '../systems/index.ts';
import { type CompletionsTestServer, script, serveCompletions } from '../testing/servers/completions-server.ts';
import { pooled, serveJudge } from '../testing/servers/judge-server.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { loadTokenizer } from '../text/tokenizer.ts';
import type { EventOf, TraceEvent } from '../trace/index.ts';
import { clientOf } from '../worker/client.ts';
import { connect } from '../worker/connect.ts';
import { serve } from '../worker/service.ts';
import { remote, remoteJudge } from './server.ts';

const KEY = 'sk-very-secret';
const json = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../public/models/target/${file}`, import.meta.url), 'utf8'));

/** Every step is the remote target's; where it cannot be had, an answer of one token ends the run. */
const allRemote: DecodingSystem = {
  id: 'all-remote',
  title: 'Every step remote',
  summary: '',
  group: 'comparison',
  paper: '',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  remote: true,
  knobs: {},
  start: async ({ models, stopTokens }) => ({
    first: null,
    round: async ({ sequence, emit, signal }) => {
      const { tokens, promptLength, sampling, budget: maxTokens } = sequence;
      const limits = { promptLength, delimiter: '\n\n', maxTokens };
      const step = await models.remote?.writeStep(tokens, { ...limits, sampling, signal, emit });
      const written = step?.tokens ?? [...stopTokens].slice(0, 1);
      return { tokens: written, source: written.map(() => 'routed' as const), scores: null };
    },
  }),
};

let server: CompletionsTestServer;
let draft: LoadedModel;
let prompt: string;
const messages = [{ role: 'user', content: 'A cup costs 6 dollars.' }];
const STEPS = ['One', ' cup', '\n', '\n', 'Two', '\n\n', 'The answer is 6.'];
beforeAll(async () => {
  server = await serveCompletions();
  const tokenizer = await loadTokenizer({ tokenizer: json('tokenizer.json'), config: json('tokenizer_config.json') });
  const model = toyModel({ vocabulary: 512, sharpness: 8, context: 256 });
  draft = { name: 'toy', model, tokenizer, stopTokens: tokenizer.eos };
  prompt = tokenizer.chat(messages);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.asked.length = 0;
  server.behave({ says: script(prompt, STEPS), key: KEY });
});

const systems = [...SYSTEMS, allRemote];
const far = (key = KEY, fallBack: 'draft' | 'fail' = 'fail') => remote(server.address, 'big', key, { fallBack });
const collect = async (engine: Engine, system = 'all-remote', signal?: AbortSignal): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run({ system, prompt: { messages }, maxTokens: 60 }, signal)) events.push(event);
  return events;
};

it('writes an answer, step by step, with only a draft on this machine', async () => {
  const engine = createEngine({ systems });
  const loaded = await engine.load({ draft, remote: far() });
  const ids = loaded.systems.map(({ id }) => id);
  expect(ids).toContain('all-remote');
  expect(ids.filter((id) => !systems.find((system) => system.id === id)?.remote)).toEqual([]);
  expect(Object.keys(loaded.models)).toEqual(['draft']);
  const events = await collect(engine);
  expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'stop', text: STEPS.join('') });
  expect(events.filter(({ type }) => type === 'remote')).toHaveLength(3);
  expect(server.asked).toHaveLength(3);
});

it('takes the place of a target that is there, which serves the other systems', async () => {
  const engine = createEngine({ systems });
  const loaded = await engine.load({ target: draft, draft, remote: far() });
  expect(loaded.systems.map(({ id }) => id)).toEqual(expect.arrayContaining(['autoregressive', 'all-remote']));
  expect((await collect(engine)).at(-1)).toMatchObject({ text: STEPS.join('') });
  await engine.load({ target: draft, draft });
  expect((await collect(engine)).at(-1)).toMatchObject({ text: '' });
});

it('does not stand in for a target where a system needs one here, nor without a draft or a tokenizer', async () => {
  const engine = createEngine({ systems });
  await engine.load({ draft, remote: far() });
  await expect(collect(engine, 'autoregressive')).rejects.toThrow('autoregressive needs a model for: target');
  await engine.load({ remote: far() });
  await expect(collect(engine)).rejects.toMatchObject({ code: 'bad-request', hint: expect.stringContaining('draft') });
  await engine.load({ draft: { ...draft, tokenizer: null }, remote: far() });
  const tokens = engine.run({ system: 'all-remote', prompt: { tokens: [7] } });
  await expect(tokens[Symbol.asyncIterator]().next()).rejects.toThrow('a remote target needs one');
});

it('an abort ends the run and the request', async () => {
  server.behave({ silent: true });
  const engine = createEngine({ systems });
  await engine.load({ draft, remote: far() });
  const abort = new AbortController();
  const run = collect(engine, 'all-remote', abort.signal);
  await expect.poll(() => server.asked.length).toBe(1);
  abort.abort();
  expect((await run).at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
  await expect.poll(() => server.asked[0]?.cancelled).toBe(true);
});

it('a judge on another machine decides, for an engine in a worker too', async () => {
  await using judge = await serveJudge();
  judge.answer = ({ body }) => pooled([String(body.input).includes('One cup') ? 0.9 : 0.1]);
  const engine = createEngine({ systems });
  const { port1, port2 } = new MessageChannel();
  const load = engine.load.bind(engine);
  engine.load = (models, how) => load({ ...models, draft }, how);
  expose(serve(engine), port1);
  const client = clientOf(port2);
  const prm = remoteJudge(judge.address, 'prm', { by: 'pooling' }, 'sk-judge');
  await client.load({ remote: far(), prm });
  const events = await collect(client, 'rsd');
  const routes = events.filter((event): event is EventOf<'route'> => event.type === 'route');
  expect(routes.length).toBeGreaterThan(1);
  expect(routes[0]).toMatchObject({ by: 'prm', to: 'target', score: 0.1 });
  expect(routes.slice(1).every(({ to, score }) => to === 'draft' && score === 0.9)).toBe(true);
  expect(judge.asked.every(({ authorization }) => authorization === 'Bearer sk-judge')).toBe(true);
  expect(JSON.stringify(events)).not.toContain('sk-judge');
  judge.answer = () => 401;
  const error = await collect(client, 'rsd').catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'bad-request', message: expect.stringContaining('/pooling') });
  await client.close();
});

it.each(['rsd', 'arbitrage'])('%s goes on with the target where the judge fails and it was told to', async (system) => {
  await using judge = await serveJudge();
  const engine = createEngine({ systems });
  const bad = system === 'rsd' ? 0.1 : 0.9;
  const run = async (fallBack: 'target' | 'fail', signal?: AbortSignal) => {
    const source = remoteJudge(judge.address, 'judge', { by: 'pooling' }, 'sk-judge', { fallBack });
    await engine.load({ draft, remote: far(), ...(system === 'rsd' ? { prm: source } : { router: source }) });
    judge.asked.length = 0;
    return collect(engine, system, signal);
  };
  // The first step is judged, and the second is refused.
  judge.answer = () => (judge.asked.length === 1 ? pooled([bad]) : 401);
  const events = await run('target');
  const routes = events.filter((event): event is EventOf<'route'> => event.type === 'route');
  expect(routes.map(({ to, score }) => [to, score])).toEqual([
    ['target', bad],
    ['target', null],
    ['target', null],
  ]);
  expect(routes.map(({ fault }) => fault?.code)).toEqual([undefined, 'bad-request', undefined]);
  expect(routes[1]).toMatchObject({
    reason: 'the judge could not be asked',
    fault: { message: expect.stringContaining('401') },
  });
  expect(routes[2]?.reason).toContain('failed earlier');
  expect(judge.asked).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'stop', text: STEPS.join('') });
  expect(JSON.stringify(events)).not.toContain('sk-judge');

  judge.answer = () => 401;
  await expect(run('fail')).rejects.toMatchObject({ code: 'bad-request' });
  // The next run asks again; an abort is none of the judge's failures.
  judge.answer = () => null;
  const abort = new AbortController();
  const aborted = run('target', abort.signal);
  await expect.poll(() => judge.asked.length).toBe(1);
  abort.abort();
  const last = await aborted;
  expect(last.at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
  expect(last.some(({ type }) => type === 'route')).toBe(false);
});

it('the key crosses to a worker, and is in no event, fault, description or log', async () => {
  const logs = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) => vi.spyOn(console, level));
  const engine = createEngine({ systems });
  const { port1, port2 } = new MessageChannel();
  // A toy cannot cross: the worker has it already.
  const load = engine.load.bind(engine);
  engine.load = (models, how) => load({ ...models, draft }, how);
  expose(serve(engine), port1);
  const client = connect({ worker: port2, base: 'https://example.org/' });
  const seen: string[] = [];
  const tell = async (work: Promise<unknown>): Promise<void> => {
    const told = await work.catch((error) => [toFault(error), String(error.stack), String(error.cause)]);
    seen.push(JSON.stringify(told));
  };
  await tell(client.load({ remote: far() }));
  await tell(collect(client));
  expect(seen.at(-1)).toContain('The answer is 6.');
  expect(server.asked[0]?.authorization).toBe(`Bearer ${KEY}`);
  server.behave({ key: 'another' }); // and says which key it was given
  for (const fallBack of ['draft', 'fail'] as const) {
    await tell(client.load({ remote: far(KEY, fallBack) }));
    await tell(collect(client));
    expect(seen.at(-1)).toContain('Incorrect API key: [key]');
  }
  await tell(client.load({ remote: far(`${KEY}\n`) }));
  expect(seen.at(-1)).toContain('bad-request');
  expect(seen.join()).not.toContain(KEY);
  for (const log of logs) expect(JSON.stringify(log.mock.calls)).not.toContain(KEY);
  vi.restoreAllMocks();
  await client.close();
});

it('a run goes on with the draft where it was told to, and says so', async () => {
  server.behave({ refusals: [{ status: 404, body: 'no such model' }] });
  const engine = createEngine({ systems });
  await engine.load({ draft, remote: far(KEY, 'draft') });
  const events = await collect(engine);
  const [event] = events.filter((each): each is EventOf<'remote'> => each.type === 'remote');
  expect(event?.fault).toMatchObject({ code: 'bad-request', message: expect.stringContaining('no such model') });
  expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'stop' });
});
