// Several elements on one engine, which records what it is asked for.
import { describe, expect, it, vi } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';
import { EnginePool, type Preparation } from './shared-engine.ts';

const LOADED: Loaded = { adapter: null, systems: [], models: {}, notice: null };
const done: TraceEvent = { at: 1, type: 'done', finish_reason: 'stop', stop: null, text: 'yes' };

const gate = () => {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
};

/** `starts`: what asking each newly opened engine for its systems waits for. */
const setUp = (...starts: readonly Promise<unknown>[]) => {
  const log: string[] = [];
  const faults: OutriderError[] = [];
  let opened = 0;
  let closed = 0;
  const open = (): Engine => {
    log.push('open');
    const start = starts[opened++];
    return {
      systems: async () => {
        await start;
        return [];
      },
      load: async (sources: ModelSources) => {
        log.push(
          `load ${Object.entries(sources).map(([role, source]) => `${role}=${(source as { url: string }).url}`)}`,
        );
        return LOADED;
      },
      async *run() {
        const fault = faults.shift();
        if (fault) throw fault;
        log.push('run');
        try {
          yield done;
        } finally {
          closed++;
        }
      },
      close: async () => void log.push('close'),
    } as unknown as Engine; // the rest of the interface is never asked for
  };
  return { log, faults, pool: new EnginePool(open), closed: () => closed };
};

const wants = (models: Readonly<Record<string, string>>): Preparation => ({
  wanted: async () => ({
    sources: Object.fromEntries(Object.entries(models).map(([role, url]) => [role, { kind: 'url', url }])),
    precision: undefined,
  }),
  signal: new AbortController().signal,
  onProgress: () => {},
  onLoaded: () => {},
});

const ask = async (pool: EnginePool, user: object, preparation: Preparation): Promise<void> => {
  pool.join(user);
  for await (const event of pool.run(user, preparation, { prompt: { text: '?' } })) expect(event).toBe(done);
};

describe('elements of one page', () => {
  const [a, b] = [{ name: 'a' }, { name: 'b' }];

  it('share an engine and what it holds, until the last has gone', async () => {
    const { log, pool } = setUp();
    await ask(pool, a, wants({ target: 't', dflash: 'd' }));
    await ask(pool, b, wants({ target: 't' }));
    await ask(pool, b, wants({ target: 't', draft: 's' }));
    await ask(pool, a, wants({ target: 't', dflash: 'd' }));
    pool.leave(a);
    expect(log).toEqual([
      'open',
      'load target=t,dflash=d',
      'run',
      'run',
      'load target=t,draft=s,dflash=d',
      'run',
      'run',
    ]);
    pool.leave(b);
    expect(log.at(-1)).toBe('close');
    await ask(pool, a, wants({ target: 't' }));
    expect(log.slice(-3)).toEqual(['open', 'load target=t', 'run']);
  });

  it('each load their own when their targets differ', async () => {
    const { log, pool } = setUp();
    await Promise.all([ask(pool, a, wants({ target: 't' })), ask(pool, b, wants({ target: 'u' }))]);
    expect(log).toEqual(['open', 'load target=t', 'run', 'load target=u', 'run']);
  });

  it('load again after the device was lost, and start anew after a crash', async () => {
    const { log, faults, pool } = setUp();
    faults.push(new OutriderError('device-lost', 'gone'), new OutriderError('bug', 'the worker has stopped'));
    await expect(ask(pool, a, wants({ target: 't' }))).rejects.toThrow('gone');
    await expect(ask(pool, a, wants({ target: 't' }))).rejects.toThrow('stopped');
    await ask(pool, a, wants({ target: 't' }));
    expect(log).toEqual(['open', 'load target=t', 'load target=t', 'close', 'open', 'load target=t', 'run']);
  });

  it('keep no engine open that they left while it started', async () => {
    const started = gate();
    const { log, pool } = setUp(started.passed);
    const abort = new AbortController();
    pool.join(a);
    const preparing = pool.prepare(a, { ...wants({ target: 't' }), signal: abort.signal });
    await vi.waitFor(() => expect(log).toEqual(['open']));
    abort.abort();
    pool.leave(a);
    started.open();
    await expect(preparing).rejects.toThrow(/aborted/);
    await ask(pool, b, wants({ target: 't' }));
    pool.leave(b);
    expect(log).toEqual(['open', 'close', 'open', 'load target=t', 'run', 'close']);
  });

  it('close a run that they do not read to its end', async () => {
    const { pool, closed } = setUp();
    pool.join(a);
    for await (const _ of pool.run(a, wants({ target: 't' }), { prompt: { text: '?' } })) break;
    expect(closed()).toBe(1);
  });

  it('are aborted before and while they wait for others, who go on', async () => {
    const started = gate();
    const { log, pool } = setUp(started.passed);
    const first = ask(pool, a, wants({ target: 't' }));
    const abort = new AbortController();
    const second = pool.prepare(b, { ...wants({ target: 'u' }), signal: abort.signal });
    const third = ask(pool, b, wants({ target: 't' }));
    abort.abort();
    await expect(second).rejects.toThrow(/aborted/);
    await expect(ask(pool, b, { ...wants({ target: 'u' }), signal: abort.signal })).rejects.toThrow(/aborted/);
    expect(log).toEqual(['open']);
    started.open();
    await Promise.all([first, third]);
    expect(log).toEqual(['open', 'load target=t', 'run', 'run']);
  });

  it('start anew after an engine that did not start', async () => {
    const { log, pool } = setUp(Promise.reject(new OutriderError('bug', 'its script could not be loaded')));
    await expect(pool.prepare(a, wants({ target: 't' }))).rejects.toThrow('script');
    await pool.prepare(a, wants({ target: 't' }));
    expect(log).toEqual(['open', 'close', 'open', 'load target=t']);
  });
});
