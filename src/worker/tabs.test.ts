// Several tabs on one engine: over real message channels, with toy models behind addresses. e2e/shared.spec.ts has two
// pages of a browser.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { LoadOptions, LoadProgress, ModelSources } from '../engine/sources.ts';
import { toyLoaded } from '../testing/contract/system-contract.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { committedTokens, type TraceEvent } from '../trace/index.ts';
import { type ClientOptions, clientOf } from './client.ts';
import { sharedClient } from './shared-client.ts';
import { serveTab } from './shared-service.ts';
import { Tabs } from './tabs.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const url = (name: string) => ({ kind: 'url', url: `https://example.org/${name}/` }) as const;

/** Tabs of one engine. Its models come from the toys by their addresses; everything else is the engine's own. */
const site = () => {
  const toys = {
    small: toyModel({ vocabulary: 16, sharpness: 6 }),
    large: toyModel({ vocabulary: 24, sharpness: 4 }),
  };
  const loads: string[] = [];
  let closed = 0;
  /** Of the endless load. */
  let tell: LoadOptions['onProgress'];
  const open = (): Engine => {
    const engine = createEngine();
    return {
      systems: () => engine.systems(),
      run: (request, signal) => engine.run(request, signal),
      calibrate: (options) => engine.calibrate(options),
      measure: (options) => engine.measure(options),
      preflight: (models, options) => engine.preflight(models, options),
      storedModels: () => engine.storedModels(),
      deleteStored: (name) => engine.deleteStored(name),
      close: () => {
        closed++;
        return engine.close();
      },
      load(models: ModelSources, options?: LoadOptions) {
        const name = new URL((models.target as ReturnType<typeof url>).url).pathname.replaceAll('/', '');
        loads.push(name);
        if (name === 'endless')
          return new Promise((_, reject) => {
            tell = options?.onProgress;
            options?.signal?.addEventListener('abort', () => reject(new OutriderError('aborted', 'by the caller')));
          });
        const toy = toys[name as keyof typeof toys];
        return engine.load(toy ? { target: toyLoaded(toy) } : { target: 'absent' }, options);
      },
    };
  };
  const tabs = new Tabs(open);
  const join = (options: ClientOptions = {}) => {
    const { port1, port2 } = new MessageChannel();
    serveTab(tabs, port1, async () => true);
    const client = clientOf(port2, options);
    ends.push(() => client.close().catch(() => {}));
    return { client, port: port2 };
  };
  return { tabs, join, toys, loads, closed: () => closed, tell: (progress: LoadProgress) => tell?.(progress) };
};

const request = { prompt: { tokens: [1, 2, 3] }, temperature: 1, seed: 5, maxTokens: 30 };
const collect = async (engine: Engine, more: object = {}, signal?: AbortSignal): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run({ ...request, ...more }, signal)) events.push(event);
  return events;
};

describe('tabs of one engine', () => {
  it('share models and a queue', async () => {
    const { join, loads } = site();
    const [a, b] = [join().client, join().client];
    await Promise.all([a.load({ target: url('small') }), b.load({ target: url('small') })]);
    const [first, second] = await Promise.all([collect(a, { maxTokens: 200 }), collect(b)]);
    expect(second[0]).toMatchObject({ type: 'queued', ahead: 1 });
    expect(committedTokens(first).slice(0, 30)).toEqual(committedTokens(second));
    expect(loads).toEqual(['small', 'small']); // runs load nothing
  });

  it('run with the models that each has loaded', async () => {
    const { join, loads } = site();
    const [a, b] = [join().client, join().client];
    await a.load({ target: url('small') });
    const alone = committedTokens(await collect(a));
    await b.load({ target: url('large') });
    const large = committedTokens(await collect(b));
    expect(large).not.toEqual(alone);
    const runs = await Promise.all([collect(a), collect(b), collect(a), collect(b)]);
    expect(runs.map(committedTokens)).toEqual([alone, large, alone, large]);
    const before = loads.length;
    for (const tab of [a, a, b, b]) await collect(tab);
    expect(loads.slice(before)).toEqual(loads.at(before - 1) === 'small' ? ['large'] : ['small', 'large']);
  });

  it('keep their own models when a load of another fails', async () => {
    const { join } = site();
    const [a, b] = [join().client, join().client];
    await a.load({ target: url('small') });
    const alone = committedTokens(await collect(a));
    await expect(b.load({ target: url('absent') })).rejects.toMatchObject({ code: 'bad-request' });
    await expect(collect(b)).rejects.toMatchObject({ message: 'no model is loaded in this tab' });
    expect(committedTokens(await collect(a))).toEqual(alone);
  });

  it('keep their models when a load is refused at once, or aborted before its turn', async () => {
    const { tabs, loads } = site();
    const [a, b] = [tabs.join(), tabs.join()];
    ends.push(
      () => a.close(),
      () => b.close(),
    );
    await b.load({ target: url('large') });
    const large = committedTokens(await collect(b));
    const refused = b.load({ target: url('small') }, { precision: 'q5' as 'q8' });
    await expect(refused).rejects.toMatchObject({ code: 'bad-request' });
    expect(committedTokens(await collect(b))).toEqual(large);
    await a.load({ target: url('small') });
    const stop = new AbortController();
    const long = a.run({ ...request, maxTokens: 4000 }, stop.signal)[Symbol.asyncIterator]();
    await long.next();
    const abort = new AbortController();
    const load = b.load({ target: url('small') }, { signal: abort.signal });
    await vi.waitFor(() => expect(loads).toEqual(['large', 'small', 'small'])); // in the engine's queue, after the run
    abort.abort();
    await expect(load).rejects.toMatchObject({ code: 'aborted' });
    stop.abort();
    await long.return?.();
    expect(committedTokens(await collect(b))).toEqual(large);
  });

  it('lose their models when a load fails, or is aborted in its turn', async () => {
    const { tabs, loads } = site();
    const tab = tabs.join();
    ends.push(() => tab.close());
    const none = { message: 'no model is loaded in this tab' };
    await tab.load({ target: url('small') });
    await expect(tab.load({ target: url('absent') })).rejects.toMatchObject({ code: 'bad-request' });
    await expect(collect(tab)).rejects.toMatchObject(none);
    await tab.load({ target: url('small') });
    const abort = new AbortController();
    const load = tab.load({ target: url('endless') }, { signal: abort.signal });
    await vi.waitFor(() => expect(loads.at(-1)).toBe('endless'));
    abort.abort();
    await expect(load).rejects.toMatchObject({ code: 'aborted' });
    await expect(collect(tab)).rejects.toMatchObject(none);
  });

  it('that are gone end their runs and do not hold up others', async () => {
    const { join, toys } = site();
    const [a, b] = [join({ patience: 50 }), join()]; // the first one is closed through a port that is gone
    await a.client.load({ target: url('small') });
    await b.client.load({ target: url('small') });
    const running = a.client.run({ ...request, maxTokens: 4000 })[Symbol.asyncIterator]();
    for (let i = 0; i < 3; i++) await running.next();
    const waiting = collect(b.client);
    a.port.close(); // as a page that is closed: nothing is said
    expect(committedTokens(await waiting)).toHaveLength(30);
    expect(toys.small.rows).toBeLessThan(4000);
  });

  it('stop at once while they wait for another tab', async () => {
    const { tabs } = site();
    const [a, b] = [tabs.join(), tabs.join()];
    ends.push(
      () => a.close(),
      () => b.close(),
    );
    await a.load({ target: url('small') });
    await b.load({ target: url('large') });
    const stop = new AbortController();
    const long = a.run({ ...request, maxTokens: 4000 }, stop.signal)[Symbol.asyncIterator]();
    await long.next();
    const load = b.load({ target: url('large') }); // waits for the run
    const abort = new AbortController();
    const run = collect(b, {}, abort.signal); // waits for the load
    abort.abort();
    expect((await run).at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
    stop.abort();
    await long.return?.();
    await load;
    expect(committedTokens(await collect(b))).toHaveLength(30);
  });

  it('say that they wait while another tab loads', async () => {
    const { tabs } = site();
    const [a, b] = [tabs.join(), tabs.join()];
    ends.push(
      () => a.close(),
      () => b.close(),
    );
    await b.load({ target: url('small') });
    const abort = new AbortController();
    const load = a
      .load({ target: url('endless') }, { signal: abort.signal })
      .catch((error: OutriderError) => error.code);
    const run = b.run(request)[Symbol.asyncIterator]();
    expect(await run.next()).toMatchObject({ value: { type: 'queued', ahead: 1 } });
    abort.abort();
    expect(await load).toBe('aborted');
    const types: string[] = [];
    for (let next = await run.next(); !next.done; next = await run.next()) types.push(next.value.type);
    expect(types[0]).toBe('run');
    expect(types.at(-1)).toBe('done');
  });

  it('hear of the progress of a load that is under way for another tab, if it is of the same models', async () => {
    const { tabs, tell } = site();
    const [a, b, c] = [tabs.join(), tabs.join(), tabs.join()];
    ends.push(...[a, b, c].map((tab) => () => tab.close()));
    const abort = new AbortController();
    const heard: string[] = [];
    const load = (tab: Engine, name: string, as: string): Promise<unknown> =>
      tab
        .load(
          { target: url(name) },
          { signal: abort.signal, onProgress: ({ loaded }) => heard.push(`${as} ${loaded}`) },
        )
        .catch((error: OutriderError) => error.code);
    const first = load(a, 'endless', 'a');
    await vi.waitFor(() => {
      tell({ role: 'target', phase: 'upload', loaded: 1, total: 9 } as LoadProgress);
      expect(heard.length).toBeGreaterThan(0);
    });
    heard.length = 0;
    const others = [load(b, 'endless', 'b'), load(c, 'large', 'c')];
    tell({ role: 'target', phase: 'upload', loaded: 5, total: 9 } as LoadProgress);
    expect(heard).toEqual(['a 5', 'b 5']);
    abort.abort();
    expect(await Promise.all([first, ...others])).toEqual(['aborted', 'aborted', 'aborted']);
  });

  it('hear of it also if no load had begun when they asked, and no longer once they have given up', async () => {
    const { tabs, loads, tell } = site();
    const [a, b, c] = [tabs.join(), tabs.join(), tabs.join()];
    ends.push(...[a, b, c].map((tab) => () => tab.close()));
    const heard: string[] = [];
    const progress = (loaded: number) => tell({ role: 'target', phase: 'upload', loaded, total: 9 } as LoadProgress);
    const load = (tab: Engine, as: string, { signal }: AbortController): Promise<unknown> =>
      tab
        .load({ target: url('endless') }, { signal, onProgress: ({ loaded }) => heard.push(`${as} ${loaded}`) })
        .catch((error: OutriderError) => error.code);
    const [first, second] = [new AbortController(), new AbortController()];
    const [under, waiting] = [load(a, 'a', first), load(b, 'b', second)];
    await vi.waitFor(() => expect(loads).toEqual(['endless']));
    const late = load(c, 'c', second);
    progress(1);
    second.abort();
    expect(await Promise.all([waiting, late])).toEqual(['aborted', 'aborted']);
    progress(2);
    expect(heard).toEqual(['a 1', 'b 1', 'c 1', 'a 2']);
    first.abort();
    expect(await under).toBe('aborted');
  });

  it('free the engine with the last one, and open another', async () => {
    const { tabs, closed } = site();
    const [a, b] = [tabs.join(), tabs.join()];
    await a.load({ target: url('small') });
    await a.close();
    expect(closed()).toBe(0);
    await b.close();
    await b.close();
    expect(closed()).toBe(1);
    await expect(b.load({ target: url('small') })).rejects.toMatchObject({ code: 'aborted' });
    const c = tabs.join();
    await c.load({ target: url('small') });
    expect(committedTokens(await collect(c))).toHaveLength(30);
    await c.close();
    expect(closed()).toBe(2);
  });
});

it('without shared workers a tab has a worker of its own, and says so', async () => {
  const { port1, port2 } = new MessageChannel();
  const { tabs } = site();
  serveTab(tabs, port1, async () => true);
  const client = sharedClient(
    () => {
      throw new Error('Node has none');
    },
    () => Object.assign(port2, { terminate: () => port2.close() }) as unknown as Worker,
  );
  expect(await client.shared).toBe(false);
  expect((await client.load({ target: url('small') })).notice).toContain('this tab loads models of its own');
  expect(committedTokens(await collect(client))).toHaveLength(30);
  await client.close();
});

describe('a shared worker', () => {
  const started = (hasGpu: () => Promise<boolean>) => {
    vi.stubGlobal('SharedWorker', class {});
    // Node 20 has no locks; each of these is waited for until its holder is done, or the worker that holds it has died.
    const held = new Map<string, Promise<void>>();
    let die = (): void => {};
    const dead = new Promise<void>((resolve) => {
      die = resolve;
    });
    const request = async (name: string, use: () => Promise<void> | void): Promise<void> => {
      await held.get(name);
      const mine = Promise.resolve(use());
      held.set(name, name.endsWith('-served') ? Promise.race([mine, dead]) : mine);
      await mine;
    };
    vi.stubGlobal('navigator', { locks: { request } });
    const { tabs } = site();
    const shared = new MessageChannel();
    const own = new MessageChannel();
    serveTab(tabs, shared.port1, hasGpu);
    serveTab(tabs, own.port1, async () => true);
    const client = sharedClient(
      () => Object.assign(new EventTarget(), { port: shared.port2 }) as unknown as SharedWorker,
      () => Object.assign(own.port2, { terminate: () => own.port2.close() }) as unknown as Worker,
    );
    ends.push(
      () => client.close().catch(() => {}),
      () => vi.unstubAllGlobals(),
      () => vi.useRealTimers(),
    );
    return { client, die };
  };

  it('whose GPU is busy for a minute is waited for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { client } = started(() => new Promise((resolve) => setTimeout(resolve, 60_000, true)));
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(2)); // the client's patience, and the GPU
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await client.shared).toBe(true);
  });

  it('without WebGPU is left for a worker of the tab', async () => {
    const hasGpu = vi.fn(async () => false);
    const { client } = started(hasGpu);
    expect(await client.shared).toBe(false);
    expect(hasGpu).toHaveBeenCalledOnce();
    expect((await client.load({ target: url('small') })).notice).toContain('this tab loads models of its own');
  });

  it('that dies fails the calls under way, and the next one begins a worker of the tab', async () => {
    const { client, die } = started(async () => true);
    await client.load({ target: url('small') });
    expect(await client.shared).toBe(true);
    const run = collect(client);
    die();
    await expect(run).rejects.toMatchObject({ code: 'device-lost', hint: 'Load the models again.' });
    expect((await client.load({ target: url('small') })).notice).toContain('this tab loads models of its own');
    expect(await client.shared).toBe(false);
    expect(committedTokens(await collect(client))).toHaveLength(30);
  });
});
