// A lost device is an interruption: the answer goes on, on the next device, with the tokens that it would have had.
import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { openNodeGpu } from '../gpu/node.ts';
import { SYSTEMS as ALL } from '../systems/index.ts';
import { bundledDspark } from '../testing/contract/device-contract.ts';
import { random } from '../testing/fuzz/random.ts';
import { committedTokens, type TraceEvent } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createEngine, type Engine } from './engine.ts';
import { loadJudgeSource } from './load/judge.ts';
import { ModelRegistry } from './registry.ts';
import type { RunRequest } from './request.ts';
import type { ModelSources } from './sources.ts';

const FULL = process.env.OUTRIDER_FULL === '1';
/** Losses for each system, at random rounds. */
const LOSSES = FULL ? 5 : 1;
const TOKENS = 24;

const bundled = (name: string) => folderSource(resolve(import.meta.dirname, '../../public/models', name));

const CHOSEN: readonly Partial<RunRequest>[] = [
  { system: 'autoregressive', temperature: 1 },
  { system: 'prompt-lookup', temperature: 0.8 },
  { system: 'draft-model', temperature: 1 },
  { system: 'draft-model', temperature: 1, repetitionPenalty: 1.3, frequencyPenalty: 0.5, minTokens: 9 },
  { system: 'dflash' },
  { system: 'dflash', temperature: 1, knobs: { draft: 'sampled' } },
  { system: 'blockpilot', temperature: 1 },
  { system: 'eagle3', knobs: { shape: 'tree' } },
  { system: 'eagle3', temperature: 1, knobs: { shape: 'chain' } },
  { system: 'cos', temperature: 1 },
  { system: 'ensemble-speculative', knobs: { combine: 'contrastive' }, temperature: 1 },
  { system: 'rsd', knobs: { delta: 0.9 } },
  { system: 'arbitrage', knobs: { tau: 0.05 } },
  { system: 'specguard', temperature: 1, knobs: { k: 4, beta: 0.5, tau: 0.5 } },
  { system: 'majority', knobs: { n: 3 } },
];

/** In a full run every other system too, sampled. */
const OTHERS = FULL ? ALL.filter(({ id }) => !CHOSEN.some(({ system }) => system === id)) : [];
const SYSTEMS = [...CHOSEN, ...OTHERS.map(({ id }) => ({ system: id, temperature: 1 }))];

const FOLDERS = {
  target: 'target',
  draft: 'draft',
  dflash: 'dflash',
  eagle3: 'eagle3',
  policy: 'blockpilot',
  prm: 'prm',
  router: 'router',
};

const sourcesOf = async (folders: Readonly<Record<string, string>>): Promise<ModelSources> =>
  Object.fromEntries(
    await Promise.all(Object.entries(folders).map(async ([role, name]) => [role, await bundled(name)] as const)),
  );
const commitsOf = (events: readonly TraceEvent[]): number => events.filter(({ type }) => type === 'commit').length;

const opened: Gpu[] = [];
const open = async (): Promise<Gpu> => {
  const gpu = await openNodeGpu();
  opened.push(gpu);
  return gpu;
};
const lose = (): void => opened.at(-1)?.device.destroy();

const prompt = { messages: [{ role: 'user', content: 'Ida has 54 stones. Ida finds 30 more stones. How many?' }] };
const ask = async (
  engine: Engine,
  request: Partial<RunRequest> = {},
  onEvent: (event: TraceEvent) => void = () => {},
  signal?: AbortSignal,
): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run({ prompt, seed: 7, maxTokens: TOKENS, ignoreEos: true, ...request }, signal)) {
    events.push(event);
    onEvent(event);
  }
  return events;
};
/** Calls `then` after the commit of this index. */
const afterCommit = (index: number, then: () => void) => {
  let seen = 0;
  return ({ type }: TraceEvent): void => {
    if (type === 'commit' && seen++ === index) then();
  };
};

describe('an answer whose device is lost', () => {
  let engine: Engine;
  let sources: ModelSources;
  beforeAll(async () => {
    sources = { ...(await sourcesOf(FOLDERS)), dspark: bundledDspark() };
    engine = createEngine({ gpu: open });
  });
  afterAll(() => engine.close());

  /** Its own models, which are loaded again after a loss. One router has all: then DFlash writes its target's steps. */
  const modelsOf = ({ system }: Partial<RunRequest>): ModelSources => {
    const { needs = [] } = ALL.find(({ id }) => id === system) ?? {};
    if (FULL || system === 'rsd') return sources;
    return Object.fromEntries(needs.map((role) => [role, sources[role]])) as ModelSources;
  };

  const below = random(20_261_125);
  it.each(SYSTEMS.map((request) => ({ request, name: JSON.stringify(request) })))(
    'goes on with the same tokens: $name',
    async ({ request }) => {
      const models = modelsOf(request);
      await engine.load(models);
      const whole = await ask(engine, request);
      // Of the run before: what was written before, or the time, decides some systems' rounds.
      let rounds = commitsOf(whole);
      for (let loss = 0; loss < LOSSES; loss++) {
        const at = below(rounds);
        const events = await ask(engine, request, afterCommit(at, lose));
        rounds = commitsOf(events);
        expect(committedTokens(events), `lost after commit ${at} of ${rounds}`).toEqual(committedTokens(whole));
        expect(events.at(-1)).toMatchObject({ type: 'done', text: (whole.at(-1) as { text: string }).text });
        const told = events.flatMap(({ type }) => (type === 'device-lost' || type === 'recovered' ? [type] : []));
        expect(told).toEqual(at < rounds - 1 ? ['device-lost', 'recovered'] : []);
        await engine.load(models);
      }
    },
    600_000,
  );
});

describe('with the draft as the target', () => {
  let sources: ModelSources;
  /** Called where a device is opened. */
  let onOpen = (): void => {};
  let engine: Engine;
  let whole: readonly number[];
  beforeAll(async () => {
    sources = await sourcesOf({ target: 'draft' });
    engine = createEngine({
      gpu: async () => {
        onOpen();
        return open();
      },
    });
    await engine.load(sources);
    whole = committedTokens(await ask(engine));
  });
  beforeEach(() => engine.load(sources)); // losses before that do not count any more
  afterAll(async () => {
    await engine.close();
    expect(opened.filter(({ bytes, failure }) => bytes > 0 && !failure)).toEqual([]);
  });

  it('a queued run is served after the loss, and a second loss within a minute ends a run', async () => {
    const [first, second] = await Promise.all([ask(engine, {}, afterCommit(4, lose)), ask(engine)]);
    expect(committedTokens(first)).toEqual(whole);
    expect(committedTokens(second)).toEqual(whole);
    await expect(ask(engine, {}, afterCommit(2, lose))).rejects.toMatchObject({
      code: 'device-lost',
      message: expect.stringContaining('twice within a minute'),
    });
    await engine.load(sources);
    expect(committedTokens(await ask(engine))).toEqual(whole);
  });

  it('the answer goes on from the conversation that it began with, whatever the page adds to its own', async () => {
    const messages = [...prompt.messages];
    const add = (): void => void messages.push({ role: 'assistant', content: '84' }, { role: 'user', content: 'Why?' });
    const events = await ask(
      engine,
      { prompt: { messages } },
      afterCommit(4, () => {
        add();
        lose();
      }),
    );
    expect(events.map(({ type }) => type)).toContain('recovered');
    expect(committedTokens(events)).toEqual(whole);
  });

  it('memory that runs out where no allocation expected it interrupts a run in the same way', async () => {
    const sampled = committedTokens(await ask(engine, { temperature: 1 }));
    const exhaust = (): void => {
      const { device } = opened.at(-1) as Gpu;
      device.createBuffer({ size: device.limits.maxBufferSize, usage: GPUBufferUsage.STORAGE }); // really refused
    };
    const events = await ask(engine, { temperature: 1 }, afterCommit(4, exhaust));
    expect(committedTokens(events)).toEqual(sampled);
    expect(events.find(({ type }) => type === 'device-lost')).toMatchObject({ fault: { code: 'out-of-memory' } });
    expect(events.some(({ type }) => type === 'recovered')).toBe(true);
    expect(committedTokens(await ask(engine, { temperature: 1 }))).toEqual(sampled);
  });

  describe('whose models are not restored', () => {
    const failed = new OutriderError('no-webgpu', 'no adapter', 'Try again.');
    /** Calls this when the next device is opened. */
    const atNextDevice = (interrupt: () => void): void => {
      onOpen = () => {
        onOpen = () => {};
        interrupt();
      };
    };

    it.each([-1, 4])('an abort after commit %i ends the run, and the next one restores them', async (commit) => {
      const abort = new AbortController();
      atNextDevice(() => abort.abort());
      if (commit < 0) lose();
      const events = await ask(engine, {}, afterCommit(commit, lose), abort.signal);
      expect(committedTokens(events)).toEqual(whole.slice(0, commit + 1));
      expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
      expect(committedTokens(await ask(engine))).toEqual(whole);
    });

    it('a failure is thrown, and the next run restores them', async () => {
      atNextDevice(() => {
        throw failed;
      });
      lose();
      await expect(ask(engine)).rejects.toBe(failed);
      expect(committedTokens(await ask(engine))).toEqual(whole);
    });
  });

  it('a load whose device is lost between two models fails', async () => {
    const [first, second] = [await openNodeGpu(), await openNodeGpu()];
    let asked = 0;
    const registry = new ModelRegistry(async () => {
      if (++asked === 1) return first;
      first.device.destroy();
      await first.device.lost;
      return second;
    }, undefined);
    await expect(registry.load({ ...sources, draft: await bundled('draft') }, {})).rejects.toMatchObject({
      code: 'device-lost',
    });
    expect(registry.models).toEqual({});
    second.destroy();
  });

  it('a preflight that opens the next device meanwhile does not keep a run from going on', async () => {
    const events: TraceEvent[] = [];
    for await (const event of engine.run({ prompt, seed: 7, maxTokens: TOKENS, ignoreEos: true })) {
      events.push(event);
      if (commitsOf(events) !== 3 || event.type !== 'commit') continue;
      lose();
      await opened.at(-1)?.device.lost;
      await engine.preflight({});
    }
    expect(events.map(({ type }) => type)).toContain('recovered');
    expect(committedTokens(events)).toEqual(whole);
  });

  it('a judge that reads a long text when the device is lost fails once, and leaves nothing unhandled', async () => {
    const gpu = await openNodeGpu();
    const { model } = await loadJudgeSource(gpu, await bundled('prm'));
    const cursor = await model.open();
    const text = Array.from({ length: 60 }, (_, i) => 5 + i);
    const scored = cursor.score(text, [], [[9]]);
    gpu.device.destroy();
    await expect(scored).rejects.toMatchObject({ code: 'device-lost' });
    await new Promise((resolve) => setTimeout(resolve, 20)); // a rejection without a handler fails the test
  });

  it("a device of the caller's is the caller's to replace", async () => {
    const gpu = await openNodeGpu();
    const engine = createEngine({ gpu });
    await engine.load(sources);
    await expect(
      ask(
        engine,
        {},
        afterCommit(2, () => gpu.device.destroy()),
      ),
    ).rejects.toMatchObject({ code: 'device-lost' });
    await expect(engine.load(sources)).rejects.toMatchObject({ code: 'device-lost' });
    await engine.close();
  });

  it('every order of load, preflight, measure, run and loss ends in an engine that answers', async () => {
    const below = random(20_261_126);
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      load: () => engine.load(sources),
      preflight: () => engine.preflight(sources),
      measure: () => engine.measure({ repeats: 1 }),
      run: async () => expect(committedTokens(await ask(engine))).toEqual(whole),
      lose: async () => lose(),
    };
    const names = Object.keys(steps);
    for (let sequence = 0; sequence < (FULL ? 20 : 2); sequence++) {
      const order = Array.from({ length: 6 }, () => names[below(names.length)] as string);
      // Two at once, now and then: they must agree on one device.
      const calls: Promise<unknown>[] = [];
      for (const name of order) {
        const call = (steps[name] as () => Promise<unknown>)();
        calls.push(call);
        if (below(2) === 0) await call;
      }
      await Promise.all(calls).catch((error) => {
        // A loss in the middle of a load or of a measurement fails that call, and nothing after it.
        if (error.code !== 'device-lost') throw new Error(order.join(' '), { cause: error });
      });
      await Promise.allSettled(calls);
      await engine.load(sources);
      expect(committedTokens(await ask(engine)), order.join(' ')).toEqual(whole);
    }
  }, 600_000);

  it('a run that is not read any further ends with its signal, and the next one is served', async () => {
    const engine = createEngine({ gpu: open });
    await engine.load(sources);
    const abort = new AbortController();
    const events = engine.run({ prompt, seed: 7, maxTokens: TOKENS }, abort.signal)[Symbol.asyncIterator]();
    for (let commits = 0; commits < 3; ) if ((await events.next()).value?.type === 'commit') commits++;
    abort.abort(); // the next event is not asked for
    expect(committedTokens(await ask(engine))).toEqual(whole);
    expect(await events.next()).toMatchObject({ value: { type: 'kernels' } }); // of the round that was committed
    expect(await events.next()).toMatchObject({ value: { type: 'done', finish_reason: 'aborted' } });
    const second = engine.run({ prompt })[Symbol.asyncIterator]();
    await second.next();
    await second.next();
    await engine.close();
  });
});
