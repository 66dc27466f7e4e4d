// The page's side against the worker's side, over a real message channel in one process; e2e/ has them in a browser.
import { getEventListeners } from 'node:events';
import { expose } from 'comlink';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { bundledSource } from '../engine/bundled.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { LanguageModel } from '../model/interface.ts';
import { toyLoaded } from '../testing/contract/system-contract.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { committedTokens, type TraceEvent } from '../trace/index.ts';
import { clientOf } from './client.ts';
import { connect } from './connect.ts';
import { answer, ask } from './rpc.ts';
import { serve } from './service.ts';

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  for (const end of close.splice(0)) await end();
});

/** A client of an engine that holds this model, and the engine itself. */
const connected = async (model: LanguageModel = toyModel({ vocabulary: 16, sharpness: 6 })) => {
  const engine = createEngine();
  await engine.load({ target: toyLoaded(model) });
  const { port1, port2 } = new MessageChannel();
  expose(serve(engine), port1);
  const client = connect({ worker: port2, base: 'https://example.org/demo/' });
  close.push(() => client.close());
  return { engine, client };
};

const collect = async (engine: Engine, request: Parameters<Engine['run']>[0], signal?: AbortSignal) => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run(request, signal)) events.push(event);
  return events;
};

const request = { prompt: { tokens: [1, 2, 3] }, temperature: 1, seed: 5, maxTokens: 30 };

/** A worker that refuses every load, and what it was asked to load. */
const watched = () => {
  const seen: unknown[] = [];
  const { port1, port2: worker } = new MessageChannel();
  const load = async (models: unknown, _: unknown, port: MessagePort) => {
    seen.push(models);
    port.postMessage({ fault: { code: 'aborted', message: 'seen enough', hint: '' } });
  };
  expose({ ...serve(createEngine()), load }, port1);
  return { seen, worker };
};

describe('an engine in a worker', () => {
  it('streams the same events as in the page', async () => {
    const { engine, client } = await connected();
    const untimed = (events: TraceEvent[]) => events.map((event) => ({ ...event, at: 0, ms: 0, reused: 0, rows: 0 }));
    expect(untimed(await collect(client, request))).toEqual(untimed(await collect(engine, request)));
  });

  it('lists the decoding systems', async () => {
    const { engine, client } = await connected();
    expect(await client.systems()).toEqual(await engine.systems());
  });

  it('carries faults with code, message and hint', async () => {
    const { client } = await connected();
    const error = await collect(client, { ...request, system: 'psychic' }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(OutriderError);
    expect(error).toMatchObject({ code: 'bad-request', message: 'there is no system "psychic"' });
    expect((error as OutriderError).hint).toContain('autoregressive');
  });

  it('refuses what cannot be sent, and a signal that could not stop it, before anything runs', async () => {
    const { client } = await connected();
    const wrong: [object, AbortSignal | undefined, string][] = [
      [{ knobs: { gamma: () => 4 } }, undefined, 'cannot be sent to the worker'],
      [{}, {} as AbortSignal, 'signal must be an AbortSignal, not {}'],
    ];
    for (const [fields, signal, message] of wrong) {
      const error = await collect(client, { ...request, ...fields }, signal).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'bad-request', message: expect.stringContaining(message) });
    }
    // A file by itself, and a misspelt onProgress.
    await expect(client.load({ target: new File([], 'model.gguf') as never })).rejects.toMatchObject({
      message: expect.stringMatching(/^target: a source of the kind undefined/),
      hint: expect.stringContaining('Kinds: url, files'),
    });
    await expect(client.load({ target: 'draft' }, { onprogress() {} } as never)).rejects.toMatchObject({
      hint: expect.stringContaining('onProgress'),
    });
    await expect(client.load({ target: 5 as never })).rejects.toMatchObject({ code: 'bad-request' });
    for (const models of [undefined, null, 5, { target: null }])
      await expect(client.load(models as never)).rejects.toMatchObject({ code: 'bad-request' });
    expect(committedTokens(await collect(client, request))).toHaveLength(30);
  });

  it('carries an abort, which ends the stream with done', async () => {
    const { client } = await connected();
    const abort = new AbortController();
    const events: TraceEvent[] = [];
    for await (const event of client.run({ ...request, maxTokens: 4000 }, abort.signal)) {
      events.push(event);
      if (event.type === 'commit') abort.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
    expect(committedTokens(events).length).toBeLessThan(4000);
    const before = await collect(client, request, AbortSignal.abort());
    expect(before.at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
  });

  it('keeps its models where a load is aborted before it is asked for', async () => {
    const { client } = await connected();
    const load = client.load({ target: 'draft' }, { signal: AbortSignal.abort() });
    await expect(load).rejects.toMatchObject({ code: 'aborted' });
    expect(committedTokens(await collect(client, request))).toHaveLength(30);
  });

  it('ends a run whose events are not read any more', async () => {
    const model = toyModel({ vocabulary: 16, sharpness: 6 });
    const { client } = await connected(model);
    for await (const event of client.run({ ...request, maxTokens: 4000 })) if (event.type === 'commit') break;
    expect(committedTokens(await collect(client, request))).toHaveLength(30);
    expect(model.rows).toBeLessThan(4000);
  });

  it('keeps several calls apart, in line on one engine', async () => {
    const { client } = await connected();
    const runs = await Promise.all([1, 2, 3].map((seed) => collect(client, { ...request, seed })));
    const alone = await collect(client, { ...request, seed: 2 });
    expect(committedTokens(runs[1] ?? [])).toEqual(committedTokens(alone));
    expect(runs[2]?.[0]).toMatchObject({ type: 'queued', ahead: 2 });
  });

  it('refuses to send a model that is loaded on this side', async () => {
    const { client } = await connected();
    const target = toyLoaded(toyModel({ vocabulary: 16, sharpness: 6 }));
    await expect(client.load({ target })).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('resolves bundled names on the page, whose address the worker does not know', async () => {
    const { seen, worker } = watched();
    const client = connect({ worker, base: 'https://example.org/demo/index.html' });
    close.push(() => client.close());
    await expect(client.load({ target: 'target', draft: 'draft' })).rejects.toMatchObject({ message: 'seen enough' });
    expect(bundledSource('draft', 'https://example.org/demo/')).toMatchObject({
      url: 'https://example.org/demo/models/draft/',
    });
    expect(seen).toEqual([
      {
        target: bundledSource('target', 'https://example.org/demo/'),
        draft: bundledSource('draft', 'https://example.org/demo/'),
      },
    ]);
    await expect(client.load({ target: 'huge' })).rejects.toThrow('no bundled model "huge"');
  });

  it('takes relative addresses as the page means them, and refuses what is none', async () => {
    const { seen, worker } = watched();
    vi.stubGlobal('location', { href: 'https://example.org/app/page.html' });
    const client = connect({ worker, base: '/static/' });
    close.push(() => client.close());
    const models = { target: { kind: 'url', url: 'mine/' }, draft: 'draft' } as const;
    await expect(client.load(models)).rejects.toMatchObject({ message: 'seen enough' });
    expect(seen).toMatchObject([
      {
        target: { url: 'https://example.org/app/mine/' },
        draft: { url: 'https://example.org/static/models/draft/' },
      },
    ]);
    await expect(client.load({ target: { kind: 'url', url: 'https://' } })).rejects.toMatchObject({
      message: 'url must be an address, not "https://"',
    });
    const odd = connect({ worker, base: 7 as never });
    await expect(odd.load({ target: 'draft' })).rejects.toMatchObject({ message: 'base must be an address, not 7' });
  });

  it('refuses options that are none, by name, and takes null as absent', async () => {
    const { client } = await connected();
    const models = { target: 'draft' } as const;
    const cases: [() => Promise<unknown>, string][] = [
      [async () => connect(null as never), 'the options must be an object, not null'],
      [async () => connect({ bse: '/' } as never), 'there is no option "bse"'],
      [() => client.load(models, 'q4' as never), 'the options must be an object, not "q4"'],
      [() => client.load(models, { onProgress: 'log' as never }), 'onProgress must be a function, not "log"'],
      [() => client.preflight(models, 7 as never), 'the options must be an object, not 7'],
      [() => client.measure({ onProgress: 5 as never }), 'onProgress must be a function, not 5'],
      [() => client.calibrate(undefined as never), 'prompts must be a list of prompts, not undefined'],
    ];
    for (const [call, message] of cases) await expect(call()).rejects.toMatchObject({ code: 'bad-request', message });
    await expect(client.load({ target: 'huge' }, null as never)).rejects.toThrow('no bundled model "huge"');
    const none = 'target: a source of the kind url needs url, an address, not undefined';
    await expect(client.load({ target: { kind: 'url' } } as never)).rejects.toMatchObject({ message: none });
  });

  it('says what to do where no worker can be started', () => {
    const refused = (message: string) =>
      expect.objectContaining({
        code: 'bad-request',
        message: expect.stringContaining(`no worker can be started here: ${message}`),
        hint: expect.stringContaining('createEngine({ gpu })'),
      });
    expect(() => connect()).toThrow(refused('Worker is not defined')); // in Node
    vi.stubGlobal('Worker', function OfAnotherOrigin() {
      throw new DOMException('the script is of another origin', 'SecurityError');
    });
    expect(() => connect()).toThrow(refused('the script is of another origin'));
  });

  it('closes once', async () => {
    const { client } = await connected();
    await client.close();
    await client.close();
  });

  it('aborts a load whose progress the page cannot take', async () => {
    const { port1, port2 } = new MessageChannel();
    let stopped: AbortSignal | undefined;
    const slow = {
      ...serve(createEngine()),
      load: (_: unknown, __: unknown, port: MessagePort) =>
        answer<object, void>(port, async (tell, signal) => {
          stopped = signal;
          tell({ role: 'target', phase: 'upload', loaded: 1, total: 2 });
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        }),
    };
    expose(slow, port1);
    const client = connect({ worker: port2, base: 'https://example.org/demo/' });
    close.push(() => client.close());
    const onProgress = () => {
      throw new Error('the bar is gone');
    };
    await expect(client.load({ target: 'draft' }, { onProgress })).rejects.toThrow('the bar is gone');
    await vi.waitFor(() => expect(stopped?.aborted).toBe(true));
  });

  it('says so when the worker dies, to calls under way and to later ones', async () => {
    const { port1, port2 } = new MessageChannel();
    const client = connect({ worker: port2 }); // port1 does not answer
    const running = collect(client, request);
    port2.dispatchEvent(Object.assign(new Event('error'), { message: 'out of memory' }));
    await expect(running).rejects.toMatchObject({ code: 'bug', message: expect.stringContaining('has stopped') });
    await expect(collect(client, request)).rejects.toMatchObject({ code: 'bug' });
    await expect(client.close()).rejects.toMatchObject({ code: 'bug' });
    port1.close();
  });

  it('names the usual mistakes of a set-up where its script could not be loaded', async () => {
    const { port1, port2 } = new MessageChannel();
    const client = connect({ worker: port2 });
    const running = collect(client, request);
    port2.dispatchEvent(new Event('error'));
    const hint = expect.stringContaining("optimizeDeps: { exclude: ['outrider'] }");
    await expect(running).rejects.toMatchObject({ message: expect.stringContaining('script could not be'), hint });
    await client.close().catch(() => {});
    port1.close();
  });

  it('ends a worker that does not answer a stop, and starts another one for the next call', async () => {
    const started: MessagePort[] = [];
    /** A worker that takes every call and never answers, and after it one that works. */
    const start = (): Worker => {
      const { port1, port2 } = new MessageChannel();
      if (started.push(port1) > 1) expose(serve(createEngine()), port1);
      return Object.assign(port2, { terminate: () => port2.close() }) as unknown as Worker;
    };
    const client = clientOf(start, { patience: 30 });
    close.push(() => client.close());
    const abort = new AbortController();
    const running = collect(client, request, abort.signal);
    abort.abort();
    await expect(running).rejects.toMatchObject({ code: 'device-lost', message: expect.stringContaining('0.03 s') });
    await expect(collect(client, request)).rejects.toMatchObject({ message: expect.stringContaining('no model') });
    expect(started).toHaveLength(2);
    for (const port of started) port.close();
  });

  it('stays closed where its worker was ended, or is not answering a stop', async () => {
    const started: MessagePort[] = [];
    /** A worker that takes every call and never answers. */
    const start = (): Worker => {
      const { port1, port2 } = new MessageChannel();
      started.push(port1);
      return Object.assign(port2, { terminate: () => port2.close() }) as unknown as Worker;
    };
    const closed = { code: 'aborted', message: 'the engine was closed' };
    for (const isEnded of [true, false]) {
      const client = clientOf(start, { patience: 30, base: 'https://example.org/demo/' });
      const abort = new AbortController();
      const running = collect(client, request, abort.signal).catch((error: unknown) => error);
      abort.abort();
      if (isEnded) expect(await running).toMatchObject({ code: 'device-lost' });
      await client.close();
      if (!isEnded) expect(await running).toMatchObject(closed);
      await new Promise((resolve) => setTimeout(resolve, 60)); // the patience that the stop had
      await expect(collect(client, request)).rejects.toMatchObject(closed);
      await expect(client.load({ target: 'draft' })).rejects.toMatchObject(closed);
      await expect(client.systems()).rejects.toMatchObject(closed);
      await client.close();
    }
    expect(started).toHaveLength(2);
    for (const port of started) port.close();
  });

  it('leaves a worker alone that answers while its call goes on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { port1, port2 } = new MessageChannel();
    const slow = { ...serve(createEngine()), run: () => new Promise<void>(() => {}) };
    expose(slow, port1);
    const client = clientOf(port2, { patience: 30 });
    const abort = new AbortController();
    const running = collect(client, request, abort.signal).catch((error: OutriderError) => error.code);
    abort.abort();
    // Answers come in order: after these two the check has its answer, however slow the machine is.
    await client.systems();
    await client.systems();
    await vi.advanceTimersByTimeAsync(150);
    expect(await Promise.race([running, Promise.resolve('goes on')])).toBe('goes on');
    vi.useRealTimers();
    await client.close();
    expect(await running).toBe('aborted');
    port1.close();
  });

  it('leaves nothing behind of a call that has ended', async () => {
    const { signal: lost } = new AbortController();
    const call = ask<never, number>(
      (port) => answer(port, async () => 7),
      lost,
      undefined,
      () => {},
    );
    expect(await call.next()).toEqual({ done: true, value: 7 });
    await vi.waitFor(() => expect(getEventListeners(lost, 'abort')).toEqual([]));
  });

  it('settles a close that is not answered', async () => {
    const { port1, port2 } = new MessageChannel();
    await clientOf(port2, { patience: 30 }).close();
    port1.close();
  });
});
