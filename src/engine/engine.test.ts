// The engine on a toy model of the bundled vocabulary with the bundled tokenizer: text, stop strings, queue, faults.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { Gpu } from '../gpu/device.ts';
import type { LanguageModel } from '../model/interface.ts';
import autoregressive from '../systems/autoregressive.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { ToyTokenRing } from '../testing/toys/toy-token-ring.ts';
import { loadTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { committedTokens, type EventOf, type TraceEvent } from '../trace/index.ts';
import { createEngine, type Engine } from './engine.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import type { PreflightOptions } from './preflight.ts';
import type { RunRequest } from './request.ts';

const json = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../public/models/target/${file}`, import.meta.url), 'utf8'));

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await loadTokenizer({
    tokenizer: json('tokenizer.json'),
    config: json('tokenizer_config.json'),
    generation: json('generation_config.json'),
  });
});

const loaded = (model: LanguageModel): LoadedModel => ({ name: 'toy', model, tokenizer, stopTokens: tokenizer.eos });

const toyEngine = async (model: LanguageModel = toyModel({ vocabulary: 512, sharpness: 8, context: 256 })) => {
  const engine = createEngine();
  await engine.load({ target: loaded(model) });
  return engine;
};

const collect = async (engine: Engine, request: RunRequest, signal?: AbortSignal): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run(request, signal)) events.push(event);
  return events;
};

const commits = (events: readonly TraceEvent[]) => events.filter((event) => event.type === 'commit');
const done = (events: readonly TraceEvent[]) => events.at(-1) as EventOf<'done'>;

const messages = [{ role: 'user', content: 'A cup costs 6 dollars.' }];
const sampled = { prompt: { messages }, temperature: 1, seed: 5, maxTokens: 60, ignoreEos: true };

describe('a run', () => {
  it('shares the times of its rounds with runs of the same settings, and takes a temperature below f32 for 0', async () => {
    const seen: { timings: unknown; temperature: number }[] = [];
    const watched: DecodingSystem = {
      ...autoregressive,
      knobs: { gamma: { kind: 'number', label: 'γ', min: 1, max: 9, step: 1, initial: 3 } },
      start(run) {
        seen.push({ timings: run.timings, temperature: run.sequence.sampling.temperature });
        return autoregressive.start(run as Parameters<typeof autoregressive.start>[0]);
      },
    };
    const engine = createEngine({ systems: [watched] });
    await engine.load({ target: loaded(toyModel({ vocabulary: 512, sharpness: 8, context: 256 })) });
    const asked = { ...sampled, temperature: 1e-50 };
    for (const gamma of [2, 3, 2]) await collect(engine, { ...asked, knobs: { gamma } });
    await collect(engine, asked);
    const [two, three, twoAgain, usual] = seen;
    expect(twoAgain?.timings).toBe(two?.timings);
    expect(usual?.timings).toBe(three?.timings);
    expect(three?.timings).not.toBe(two?.timings);
    expect(seen.map(({ temperature }) => temperature)).toEqual([0, 0, 0, 0]);
  });

  it('reads the whole prompt again where the request says so', async () => {
    const engine = await toyEngine();
    const reused = async (fresh: boolean) => {
      const events = await collect(engine, { ...sampled, fresh });
      return events.find((event) => event.type === 'prefill')?.reused;
    };
    expect(await reused(false)).toBe(0);
    expect(await reused(false)).toBeGreaterThan(5);
    expect(await reused(true)).toBe(0);
    expect(await reused(false)).toBeGreaterThan(5);
  });

  it('tells run, prefill, rounds and done in order, with times that never go back', async () => {
    const events = await collect(await toyEngine(), { prompt: { messages }, maxTokens: 3, ignoreEos: true });
    expect(events.map(({ type }) => type)).toEqual([
      'run',
      'prefill',
      'commit',
      'verify',
      'commit',
      'verify',
      'commit',
      'done',
    ]);
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b));
    const chat = tokenizer.encode(tokenizer.chat(messages));
    expect(events[0]).toMatchObject({ system: 'autoregressive', version: 1, seed: 0, prompt: chat });
    expect(commits(events).map(({ round }) => round)).toEqual([0, 1, 2]);
  });

  it('keeps the space with which an answer continues a text, where the tokenizer puts one in front of texts', async () => {
    const steps = [
      { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
      { type: 'ByteFallback' },
      { type: 'Fuse' },
      { type: 'Strip', content: ' ', start: 1, stop: 0 },
    ];
    const llama = await loadTokenizer({
      tokenizer: {
        model: { type: 'BPE', merges: [], vocab: { t: 0, '▁one': 1, ']': 2 } },
        added_tokens: [{ id: 3, content: '</s>', special: true }],
        decoder: { type: 'Sequence', decoders: steps },
        ...{ normalizer: null, pre_tokenizer: null, post_processor: null },
      },
      config: { chat_template: ']' },
    });
    const engine = createEngine();
    const model = toyModel({ vocabulary: 4, sharpness: 1, context: 32 });
    await engine.load({ target: { name: 'toy', model, tokenizer: llama, stopTokens: [] } });
    const answer = async (prompt: RunRequest['prompt']) => {
      const events = await collect(engine, { prompt, logitBias: { 1: 100 }, maxTokens: 2, logprobs: 0 });
      const texts = commits(events).flatMap(({ logprobs }) => (logprobs ?? []).map((each) => each.text));
      return [done(events).text, commits(events).flatMap(({ pieces }) => pieces), texts];
    };
    const continued = [' one one', [' one', ' one'], [' one', ' one']];
    const begun = ['one one', ['one', ' one'], [' one', ' one']];
    expect(await answer({ tokens: [0] })).toEqual(continued);
    expect(await answer({ tokens: [0, 3] })).toEqual(begun);
    expect(await answer({ messages: [{ role: 'user', content: 't' }] })).toEqual(begun);
    expect(await answer({ messages: [{ role: 'user', content: 't' }], begin: 't' })).toEqual(continued);
  });

  it('streams text that adds up to the answer, and the answer is the tokens decoded', async () => {
    const events = await collect(await toyEngine(), sampled);
    const text = tokenizer.decode(committedTokens(events));
    expect(done(events).text).toBe(text);
    expect(
      commits(events)
        .map((event) => event.text)
        .join(''),
    ).toBe(text);
  });

  it('never shows a stop string, whole or in part, and commits the tokens up to its end', async () => {
    const engine = await toyEngine();
    const whole = await collect(engine, sampled);
    const text = done(whole).text ?? '';
    for (const [from, length] of [
      [0, 1],
      [10, 2],
      [15, 7],
      [30, 20],
      [text.length - 3, 3],
    ] as const) {
      const stop = text.slice(from, from + length);
      const events = await collect(engine, { ...sampled, stop: ['never there', stop] });
      const shown = commits(events)
        .map((event) => event.text)
        .join('');
      expect(shown).toBe(text.slice(0, text.indexOf(stop)));
      expect(done(events)).toMatchObject({ finish_reason: 'stop', stop, text: shown });
      const tokens = committedTokens(events);
      expect(tokens).toEqual(committedTokens(whole).slice(0, tokens.length));
      expect(tokenizer.decode(tokens)).toContain(stop);
      expect(tokenizer.stream().push(tokens.slice(0, -1))).not.toContain(stop);
    }
  });

  it('gives back what was held for a stop string when the answer ends before it', async () => {
    const engine = await toyEngine();
    const text = done(await collect(engine, sampled)).text ?? '';
    const events = await collect(engine, { ...sampled, stop: [`${text.slice(-4)} and more`] });
    expect(
      commits(events)
        .map((event) => event.text)
        .join(''),
    ).toBe(text);
  });

  it('gives back what was held when it is aborted between two events', async () => {
    const engine = await toyEngine();
    const text = done(await collect(engine, sampled)).text ?? '';
    const abort = new AbortController();
    let ended: TraceEvent | undefined;
    let committed = 0;
    for await (const event of engine.run({ ...sampled, stop: [`${text.slice(0, 6)}\0`] }, abort.signal)) {
      if (event.type === 'commit') committed += event.tokens.length;
      if (committed === 4) abort.abort();
      await new Promise((resolve) => setTimeout(resolve));
      ended = event;
    }
    expect(ended).toMatchObject({ type: 'done', finish_reason: 'aborted' });
    const said = tokenizer.decode(committedTokens(await collect(engine, { ...sampled, maxTokens: 4 })));
    expect(said).not.toBe('');
    expect(ended).toMatchObject({ text: said });
  });

  it('that is aborted at any event ends with the round whole, and its text is that of the commits', async () => {
    const engine = await toyEngine();
    const request = { ...sampled, maxTokens: 6 };
    const whole = await collect(engine, request);
    for (let last = 0; last < whole.length - 1; last++) {
      const abort = new AbortController();
      const events: TraceEvent[] = [];
      for await (const event of engine.run(request, abort.signal)) {
        if (events.push(event) === last + 1) abort.abort(); // while the engine waits to be asked for the next one
      }
      const types = events.slice(0, -1).map(({ type }) => type);
      expect(types).toEqual(whole.slice(0, types.length).map(({ type }) => type));
      const text = tokenizer.decode(committedTokens(events));
      const finish_reason = commits(events).length < commits(whole).length ? 'aborted' : 'length';
      expect(done(events), `at event ${last}`).toMatchObject({ finish_reason, text });
    }
  });

  it('that is aborted between two events says what became of its constraint', async () => {
    const engine = await toyEngine();
    const abort = new AbortController();
    const events: TraceEvent[] = [];
    for await (const event of engine.run({ ...sampled, constraint: { regex: '[a-z ]+' } }, abort.signal)) {
      events.push(event);
      if (commits(events).length === 3) abort.abort();
    }
    expect(done(events)).toMatchObject({ finish_reason: 'aborted', constraint: { valid: true } });
  });

  it('scores its prompt with a cache of the precision that answers have', async () => {
    const model = toyModel({ vocabulary: 512, sharpness: 8, context: 256 });
    const caches: unknown[] = [];
    const open: typeof model.open = (options) => {
      caches.push(options?.cache);
      return model.open(options);
    };
    const engine = createEngine();
    await engine.load({ target: loaded({ ...model, open }) }, { cache: 'q8' });
    await collect(engine, { ...sampled, maxTokens: 2, promptLogprobs: 0 });
    expect(caches).toEqual(['q8', 'q8']);
  });

  it('serves token ids without a tokenizer, with no text', async () => {
    const engine = createEngine();
    const model = toyModel({ vocabulary: 20, sharpness: 4 });
    await engine.load({ target: { name: 'bare', model, tokenizer: null, stopTokens: [] } });
    const events = await collect(engine, { prompt: { tokens: [1, 2] }, maxTokens: 4 });
    expect(committedTokens(events)).toHaveLength(4);
    expect(done(events).text).toBeNull();
    await expect(collect(engine, { prompt: { text: 'x' } })).rejects.toMatchObject({ code: 'bad-request' });
    await expect(collect(engine, { prompt: { tokens: [1] }, stop: ['x'] })).rejects.toThrow('no tokenizer');
  });

  it('reports log-probabilities under the unmodified distribution, with alternatives', async () => {
    const model = toyModel({ vocabulary: 512, sharpness: 8 });
    const events = await collect(await toyEngine(model), { ...sampled, temperature: 0.5, logprobs: 3, maxTokens: 5 });
    const prompt = (events[0] as EventOf<'run'>).prompt;
    const tokens = committedTokens(events);
    for (const [i, { logprobs }] of commits(events).entries()) {
      using cursor = await model.open();
      const logits = await (await cursor.extend([...prompt, ...tokens.slice(0, i)])).logits.read();
      const sum = logits.reduce((a, x) => a + Math.exp(x), 0);
      const [entry] = logprobs ?? [];
      expect(entry?.token).toBe(tokens[i]);
      expect(entry?.text).toBe(tokenizer.decode([tokens[i] as number], { special: true }));
      expect(entry?.logprob).toBeCloseTo((logits[tokens[i] as number] as number) - Math.log(sum), 4);
      expect(entry?.top).toHaveLength(3);
      expect(entry?.top[0]?.logprob).toBeCloseTo(Math.max(...logits) - Math.log(sum), 4);
    }
    expect(commits(await collect(await toyEngine(), sampled))[0]?.logprobs).toBeNull();
  });
});

describe('several runs at once', () => {
  it('wait in line, see their place, and give what they give alone', async () => {
    const engine = await toyEngine();
    const requests = [1, 2, 3].map((seed) => ({ ...sampled, seed, maxTokens: 20 }));
    const alone: number[][] = [];
    for (const request of requests) alone.push(committedTokens(await collect(engine, request)));
    const together = await Promise.all(requests.map((request) => collect(engine, request)));
    expect(together.map(committedTokens)).toEqual(alone);
    const places = together.map((events) => events.flatMap((event) => (event.type === 'queued' ? [event.ahead] : [])));
    expect(places).toEqual([[], [1], [2, 1]]);
    const [first, second, third] = together.map((events) => events.filter(({ type }) => type !== 'queued'));
    expect([first, second, third].every((events) => events?.[0]?.type === 'run')).toBe(true);
  });

  it('an aborted one leaves the line without running; a consumer that leaves frees its place', async () => {
    const engine = await toyEngine();
    const abort = new AbortController();
    const first = engine.run(sampled)[Symbol.asyncIterator]();
    await first.next();
    const second = collect(engine, sampled, abort.signal);
    const third = collect(engine, sampled);
    abort.abort();
    expect((await second).map(({ type }) => type)).toEqual(['queued', 'done']);
    expect(done(await second).finish_reason).toBe('aborted');
    await first.return?.();
    expect(committedTokens(await third)).toHaveLength(60);
  });

  it('a load that is aborted before its turn leaves the models as they are', async () => {
    const engine = await toyEngine();
    const first = engine.run(sampled)[Symbol.asyncIterator]();
    await first.next();
    const abort = new AbortController();
    const load = engine.load({ target: 'draft' }, { signal: abort.signal });
    abort.abort();
    await expect(load).rejects.toMatchObject({ code: 'aborted' });
    await first.return?.();
    expect(committedTokens(await collect(engine, sampled))).toHaveLength(60);
  });

  it.each([
    [undefined, {}, 'the models must be an object, not undefined'],
    [{ targte: 'draft' }, {}, 'there is no role "targte"'],
    [{ 'also-0': 'draft' }, {}, 'there is no role "also-0"'],
    [{ dflash: 'built-in' }, {}, 'there is no bundled model "built-in"'],
    [{ mtp: 'built-in' }, {}, 'a built-in drafter is read from the files of its target, which are not named'],
    [{ target: 5 }, {}, 'target: a source must be an object or the name of a bundled model, not 5'],
    [{ target: 'draft' }, null, 'the options must be an object, not null'],
    [{ target: 'draft' }, { cache: 'f64' }, 'cache must be one of f32, f16, q8, not "f64"'],
    [{ target: 'draft' }, { precision: 'q1' }, 'precision must be one of f32, f16, q8, q4, not "q1"'],
    [{ target: 'draft' }, { precision: { target: 1 } }, 'precision.target must be one of f32, f16, q8, q4, not 1'],
  ])('a load of %j with %j is refused and leaves the models as they are', async (models, options, message) => {
    const engine = await toyEngine();
    const [sources, how] = [models, options] as unknown as Parameters<Engine['load']>;
    const refused = { code: 'bad-request', message };
    await expect(engine.load(sources, how)).rejects.toMatchObject(refused);
    await expect(engine.preflight(sources, how as PreflightOptions)).rejects.toMatchObject(refused);
    expect(committedTokens(await collect(engine, sampled))).toHaveLength(60);
  });

  it('two engines live side by side', async () => {
    const engines = await Promise.all([toyEngine(), toyEngine()]);
    const outputs = await Promise.all(engines.map((engine) => collect(engine, sampled)));
    expect(committedTokens(outputs[0] ?? [])).toEqual(committedTokens(outputs[1] ?? []));
    expect(outputs.flat().some(({ type }) => type === 'queued')).toBe(false);
  });
});

describe('what cannot run is refused before anything runs', () => {
  it.each([
    [{ maxTokens: 250 }, /prompt's \d+ tokens and 250 new ones exceed the context of 256/],
    [{ prompt: { tokens: Array<number>(256).fill(1) } }, /256 tokens and 1 new ones exceed the context of 256/],
    [{ prompt: { tokens: [] } }, /prompt is empty/],
    [{ prompt: { tokens: [512] } }, /token 512 is not in the vocabulary of 512/],
    [{ maxTokens: 0 }, /maxTokens must be a whole number from 1/],
    [{ temperature: -1 }, /temperature must be from 0/],
    [{ topP: 1.5 }, /topP must be from 0 to 1/],
    [{ seed: 1.5 }, /seed must be a whole number/],
    [{ logprobs: 21 }, /logprobs must be a whole number from 0 to 20/],
    [{ system: 'psychic' }, /there is no system "psychic"/],
    [{ knobs: { gamma: 4 } }, /autoregressive has no knob "gamma"/],
  ] satisfies [Partial<RunRequest>, RegExp][])('$1', async (wrong, message) => {
    const model = toyModel({ vocabulary: 512, sharpness: 8, context: 256 });
    const engine = await toyEngine(model);
    const error = await collect(engine, { prompt: { messages }, ...wrong }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(OutriderError);
    expect(error).toMatchObject({ code: 'bad-request', message: expect.stringMatching(message) });
    expect(model.rows).toBe(0);
  });

  it("a run beyond the context of an ensemble's smallest member", async () => {
    const engine = createEngine();
    const toy = { vocabulary: 512, sharpness: 8, tokenRing: new ToyTokenRing() };
    await engine.load({
      target: loaded(toyModel({ ...toy, context: 256 })),
      draft: loaded(toyModel({ ...toy, context: 64 })),
    });
    const request = { ...sampled, system: 'cos', prompt: { tokens: Array<number>(20).fill(1) } };
    await expect(collect(engine, request)).rejects.toMatchObject({
      message: expect.stringContaining("exceed the context of 64, which is that of the ensemble's smallest member"),
      overflow: { requested: 80, context: 64 },
    });
    expect(committedTokens(await collect(engine, { ...request, maxTokens: 44 }))).toHaveLength(44);
  });

  it('a run without a model', async () => {
    await expect(collect(createEngine(), sampled)).rejects.toMatchObject({
      code: 'bad-request',
      message: 'no model is loaded on this machine',
    });
    const engine = createEngine();
    await engine.load({ draft: loaded(toyModel({ vocabulary: 512, sharpness: 8, context: 256 })) });
    await expect(collect(engine, sampled)).rejects.toMatchObject({
      code: 'bad-request',
      message: 'no model is loaded as the target',
      hint: 'Load a target, or a draft for a remote target.',
    });
  });
});

describe('what fails in the middle', () => {
  const failing = (when: () => unknown): LanguageModel => {
    const model = toyModel({ vocabulary: 512, sharpness: 8 });
    return {
      ...model,
      open: async (options) => {
        const cursor = await model.open(options);
        const { forward } = cursor;
        cursor.forward = (tree) => {
          const error = when();
          if (error) throw error;
          return forward(tree);
        };
        return cursor;
      },
    };
  };

  it('reaches the caller as it is, and the next run starts afresh', async () => {
    const lost = new OutriderError('device-lost', 'the GPU device was lost', 'Load the model again.');
    let passes = 0;
    const engine = await toyEngine(failing(() => (++passes === 5 ? lost : null)));
    await expect(collect(engine, sampled)).rejects.toBe(lost);
    const events = await collect(engine, sampled);
    expect(events.find(({ type }) => type === 'prefill')).toMatchObject({ reused: 0 });
    expect(committedTokens(events)).toEqual(committedTokens(await collect(await toyEngine(), sampled)));
  });

  it('an abort inside a round ends the run with what was committed', async () => {
    const abort = new AbortController();
    let passes = 0;
    const engine = await toyEngine(
      failing(() => {
        if (++passes < 5) return null;
        abort.abort();
        return new OutriderError('aborted', 'aborted by the caller');
      }),
    );
    const events = await collect(engine, sampled, abort.signal);
    expect(done(events).finish_reason).toBe('aborted');
    expect(committedTokens(events)).toHaveLength(5);
    expect(done(events).text).toBe(tokenizer.decode(committedTokens(events)));
  });

  it.each([0, 1, 4])(
    'a run whose events are not read after %i gives the line free once its signal fires',
    async (read) => {
      const engine = await toyEngine();
      const abort = new AbortController();
      const left = engine.run(sampled, abort.signal)[Symbol.asyncIterator]();
      for (let i = 0; i < read; i++) await left.next();
      const next = collect(engine, sampled);
      abort.abort(); // and `left` is never asked again
      expect(committedTokens(await next)).toEqual(committedTokens(await collect(await toyEngine(), sampled)));
      await engine.close();
    },
  );

  it('one that is left at its place in the line gives it up once its signal fires', async () => {
    const engine = await toyEngine();
    const first = engine.run(sampled)[Symbol.asyncIterator]();
    await first.next();
    const abort = new AbortController();
    const left = engine.run(sampled, abort.signal)[Symbol.asyncIterator]();
    expect((await left.next()).value).toMatchObject({ type: 'queued' });
    abort.abort(); // and `left` is never asked again
    await first.return?.();
    expect(committedTokens(await collect(engine, sampled))).toHaveLength(60);
    await engine.close();
  });

  it('one whose signal fires inside a round, and that is left at the next event, gives the line free', async () => {
    const abort = new AbortController();
    let passes = 0;
    const model = failing(() => {
      if (++passes === 5) abort.abort();
      return null;
    });
    const engine = await toyEngine(model);
    const left = engine.run(sampled, abort.signal)[Symbol.asyncIterator]();
    while (!abort.signal.aborted) await left.next();
    expect(committedTokens(await collect(engine, sampled))).toHaveLength(60);
    expect((await left.next()).value).toMatchObject({ type: 'commit' });
    expect((await left.next()).value).toMatchObject({ type: 'done', finish_reason: 'aborted' });
  });

  it('one that is left at `done` gives the line free', async () => {
    const engine = await toyEngine();
    const left = engine.run({ ...sampled, maxTokens: 1 })[Symbol.asyncIterator]();
    while ((await left.next()).value?.type !== 'done');
    expect(committedTokens(await collect(engine, sampled))).toHaveLength(60);
  });

  it('an abort on receipt of `done` changes nothing', async () => {
    const engine = await toyEngine();
    const abort = new AbortController();
    const types: string[] = [];
    for await (const { type } of engine.run({ ...sampled, maxTokens: 1 }, abort.signal)) {
      types.push(type);
      if (type === 'done') abort.abort();
    }
    expect(types).toEqual(['run', 'prefill', 'commit', 'done']);
  });

  it('one that was stopped before it began gives the line free though its end is not read', async () => {
    const engine = await toyEngine();
    const left = engine.run(sampled, AbortSignal.abort())[Symbol.asyncIterator]();
    expect((await left.next()).value).toMatchObject({ type: 'done', finish_reason: 'aborted' });
    expect(committedTokens(await collect(engine, sampled))).toHaveLength(60);
    await expect(collect(engine, sampled, {} as AbortSignal)).rejects.toThrow('signal must be an AbortSignal, not {}');
  });

  it('close settles though a run is not read any more', async () => {
    const engine = await toyEngine();
    const left = engine.run(sampled)[Symbol.asyncIterator]();
    await left.next();
    await engine.close();
  });

  it('close frees a device that is still being opened, and none is opened afterwards', async () => {
    let [opened, destroyed] = [0, 0];
    const gpu: Gpu = Object.assign(Object.create(Gpu.prototype), {
      failure: null,
      destroy: () => destroyed++,
      device: { limits: {} },
    });
    const engine = createEngine({
      gpu: async () => {
        opened++;
        return gpu;
      },
    });
    const weighing = engine.preflight({});
    await engine.close();
    await weighing;
    await expect(engine.preflight({})).rejects.toMatchObject({ code: 'aborted', message: 'the engine is closed' });
    expect([opened, destroyed]).toEqual([1, 1]);
  });

  it('close aborts what runs and refuses nothing twice', async () => {
    const engine = await toyEngine();
    const running = collect(engine, { ...sampled, maxTokens: 200 });
    await engine.close();
    expect(done(await running).finish_reason).toBe('aborted');
    await engine.close();
  });
});
