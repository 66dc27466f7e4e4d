// The Prompt API's shape over a toy model that writes bundled tokens; the last test prompts a real model.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { REASONING_TEMPLATE } from '../testing/toys/chat-templates.ts';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import { folderSource } from '../weights/files/folder.ts';
import { type DownloadMonitor, type LanguageModelCreateOptions, promptApi, QuotaExceededError } from './prompt-api.ts';

afterAll(async () => (await testGpu()).destroy());

const toy = async (context = 4096, template?: string) => {
  const tokenizer = await bundledTokenizer(template);
  const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 8, context });
  return { name: 'toy', model, tokenizer, stopTokens: [] };
};

/** Sessions of a toy model whose answers have 12 tokens. */
const sessions = async (context?: number) => {
  const engine = createEngine();
  const LanguageModel = promptApi(engine, { models: { target: await toy(context) }, maxTokens: 12, seed: 3 });
  const create = (options: LanguageModelCreateOptions = {}) => LanguageModel.create(options);
  return { engine, LanguageModel, create };
};

/** What the engine itself says to a conversation. */
const plain = async (engine: Engine, ...contents: readonly string[]): Promise<string> => {
  const messages = contents.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content }));
  const request = { prompt: { messages }, temperature: 0.7, topP: 0.95, maxTokens: 12, seed: 3 };
  for await (const event of engine.run(request)) if (event.type === 'done') return event.text ?? '';
  return '';
};

describe('availability', () => {
  it('goes from downloadable to available, and tells how far the download is', async () => {
    const engine = createEngine({ gpu: await testGpu() });
    const source = await folderSource(resolve(import.meta.dirname, '../../public/models/draft'));
    const LanguageModel = promptApi(engine, { models: { target: source } });
    expect(await LanguageModel.availability()).toBe('downloadable');
    const seen: number[] = [];
    const see = (event: Event) => seen.push((event as Event & { loaded: number }).loaded);
    const monitor = (target: EventTarget): void => target.addEventListener('downloadprogress', see);
    const creating = LanguageModel.create({ monitor, samplingMode: 'most-predictable' });
    expect(await LanguageModel.availability()).toBe('downloading');
    const session = await creating;
    expect(await LanguageModel.availability()).toBe('available');
    expect([seen[0], seen.at(-1)]).toEqual([0, 1]);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b)); // each once
    const again: number[] = [];
    const handler = (target: DownloadMonitor): void => {
      target.ondownloadprogress = (event) => again.push((event as Event & { loaded: number }).loaded);
    };
    await LanguageModel.create({ monitor: handler });
    expect(again).toEqual([0, 1]); // a page that shows a bar waits for its end
    const question = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
    let text = '';
    for await (const chunk of session.promptStreaming(question)) text += chunk;
    expect(text).toContain('The answer is 84.');
    await engine.close();
  });

  it('tells a download as it comes, of each model its part, and its end after the last request', async () => {
    const folder = resolve(import.meta.dirname, '../../public');
    const names = ['draft', 'target'].flatMap((name) =>
      ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map(
        (file) => `models/${name}/${file}`,
      ),
    );
    await using server = await serveFiles(
      Object.fromEntries(names.map((name) => [name, readFileSync(resolve(folder, name))])),
    );
    for (const models of [
      { target: { kind: 'url', url: `${server.address}models/target/` } },
      { draft: { kind: 'url', url: `${server.address}models/draft/` }, target: 'target' },
    ] as const) {
      const engine = createEngine({ gpu: await testGpu(), base: server.address });
      const LanguageModel = promptApi(engine, { models });
      const seen: { readonly loaded: number; readonly requests: number }[] = [];
      const monitor = (target: EventTarget): void =>
        target.addEventListener('downloadprogress', (event) => {
          seen.push({ loaded: (event as ProgressEvent).loaded, requests: server.requests.length });
        });
      await LanguageModel.create({ monitor });
      const parts = seen.map(({ loaded }) => loaded);
      expect([parts[0], parts.at(-1)]).toEqual([0, 1]);
      expect(parts).toEqual([...new Set(parts)].toSorted((a, b) => a - b));
      expect(seen.find(({ loaded }) => loaded === 1)?.requests).toBe(server.requests.length);
      // All of it is heard of: no step is longer than a quarter.
      expect(Math.max(...parts.map((part, i) => part - (parts[i - 1] ?? 0)))).toBeLessThan(0.25);
      await engine.close();
    }
  });

  it('is downloadable again once the models are gone, and the next session loads them', async () => {
    const { engine, LanguageModel, create } = await sessions();
    const session = await create();
    await engine.load({});
    await expect(session.prompt('Hello')).rejects.toThrow('no model is loaded');
    expect(await LanguageModel.availability()).toBe('downloadable');
    await create();
    expect(await LanguageModel.availability()).toBe('available');
    expect(await session.prompt('Hello')).not.toBe('');
  });

  it('is unavailable for what is not text, and create says so', async () => {
    const { LanguageModel, create } = await sessions();
    const image = { expectedInputs: [{ type: 'image' }] };
    expect(await LanguageModel.availability(image)).toBe('unavailable');
    await expect(create(image)).rejects.toMatchObject({ name: 'NotSupportedError' });
    expect(await LanguageModel.availability({ expectedInputs: [{ type: 'text', languages: ['en'] }] })).toBe(
      'downloadable',
    );
  });

  it('is downloadable again after a load that failed', async () => {
    const LanguageModel = promptApi(createEngine(), { models: { target: 'psychic' } });
    await expect(LanguageModel.create()).rejects.toMatchObject({ code: 'bad-request' });
    expect(await LanguageModel.availability()).toBe('downloadable');
  });
});

describe('a session', () => {
  it('remembers what was said, and counts it', async () => {
    const { engine, create } = await sessions();
    const session = await create();
    expect(session.contextUsage).toBe(0);
    const first = await session.prompt('One');
    expect(first).toBe(await plain(engine, 'One'));
    const used = session.contextUsage;
    expect(used).toBeGreaterThan(12);
    const second = await session.prompt([{ role: 'user', content: [{ type: 'text', value: 'Two' }] }]);
    expect(second).toBe(await plain(engine, 'One', first, 'Two'));
    expect(session.contextUsage).toBeGreaterThan(used + 12);
    expect([session.contextWindow, session.inputQuota, session.inputUsage]).toEqual([4096, 4096, session.contextUsage]);
  });

  it('begins with what it is given; append adds to it without an answer', async () => {
    const { engine, create } = await sessions();
    const told = await create({ initialPrompts: [{ role: 'user', content: 'One' }] });
    expect(told.contextUsage).toBeGreaterThan(0);
    expect(await told.append([{ role: 'assistant', content: 'Uno' }])).toBeUndefined();
    const before = told.contextUsage;
    await told.append('Two');
    expect(told.contextUsage).toBeGreaterThan(before);
    await told.append('Three');
    expect(await told.prompt('Four')).toBe(await plain(engine, 'One', 'Uno', 'Two\n\nThree\n\nFour'));
    const brief = await create({ initialPrompts: [{ role: 'system', content: 'Be brief.' }] });
    expect(brief.contextUsage).toBeGreaterThan(0);
    expect(await brief.measureContextUsage('One')).toBeGreaterThan(0);
    expect(await brief.prompt('One')).not.toBe(await plain(engine, 'One'));
  });

  it('measures what a prompt would add, and changes nothing by it', async () => {
    const { create } = await sessions();
    const session = await create({ initialPrompts: [{ role: 'user', content: 'One' }] });
    const [usage, input] = [session.contextUsage, 'How many cups does Eva have now?'];
    const measured = await session.measureContextUsage(input);
    expect(measured).toBe(await session.measureInputUsage(input));
    expect(session.contextUsage).toBe(usage);
    await session.append(input);
    expect(session.contextUsage).toBe(usage + measured);
  });

  it('counts no reasoning: the next prompt is without it', async () => {
    const target = await toy(4096, REASONING_TEMPLATE);
    const session = await promptApi(createEngine(), { models: { target }, maxTokens: 60, seed: 3 }).create();
    expect(await session.prompt('One')).toBe(''); // it thinks to the end
    const used = session.contextUsage;
    const measured = await session.measureContextUsage('Two');
    expect(measured).toBeGreaterThan(0);
    await session.append('Two');
    expect(session.contextUsage).toBe(used + measured);
  });

  it('is copied by clone, and the copies go their own ways', async () => {
    const { engine, create } = await sessions();
    const session = await create();
    const first = await session.prompt('One');
    const copy = await session.clone();
    expect(copy.contextUsage).toBe(session.contextUsage);
    const [a, b] = await Promise.all([session.prompt('Two'), copy.prompt('Three')]);
    expect([a, b]).toEqual([await plain(engine, 'One', first, 'Two'), await plain(engine, 'One', first, 'Three')]);
  });

  it('forgets the oldest turns where the context ends, and never its beginning', async () => {
    const { engine, create } = await sessions(100);
    const session = await create({ initialPrompts: [{ role: 'system', content: 'Be brief.' }] });
    let overflows = 0;
    session.oncontextoverflow = () => overflows++;
    let first = 0; // by the names that Chrome shipped first
    session.onquotaoverflow = () => first++;
    session.addEventListener('quotaoverflow', () => first++);
    const words = 'How many cups does Eva have now?';
    for (let i = 0; i < 6; i++) await session.prompt(words);
    expect(overflows).toBeGreaterThan(0);
    expect(first).toBe(2 * overflows);
    expect(session.contextUsage).toBeLessThanOrEqual(100);
    const usage = session.contextUsage;
    const error = await session.prompt(words.repeat(20)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(QuotaExceededError);
    expect(error).toMatchObject({ name: 'QuotaExceededError', quota: 100 });
    expect((error as QuotaExceededError).requested).toBeGreaterThan(100);
    expect(session.contextUsage).toBe(usage);
    expect(await session.measureContextUsage(words.repeat(20))).toBeGreaterThan(100);
    await engine.close();
  });

  it('forgets an answer that was appended with its question, where a template wants a question first', async () => {
    const first = "{% if messages[0].role != 'user' %}{{ raise_exception('roles must alternate') }}{% endif %}";
    const each = '{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>';
    const target = await toy(120, first + each);
    const session = await promptApi(createEngine(), { models: { target }, maxTokens: 12, seed: 3 }).create();
    let overflows = 0;
    session.oncontextoverflow = () => overflows++;
    await session.append([{ role: 'user', content: 'Ida has 54 stones. '.repeat(4) }]);
    await session.append([{ role: 'assistant', content: 'Ida finds 30 more stones.' }]);
    for (let i = 0; i < 4; i++) expect(await session.prompt('How many stones does Ida have now?')).not.toBe('');
    expect(overflows).toBeGreaterThan(0);
  });

  it('leaves a quarter of the context to an answer of no stated length', async () => {
    const engine = createEngine();
    const session = await promptApi(engine, { models: { target: await toy(256) } }).create();
    const words = 'How many cups does Eva have now? '.repeat(5);
    while (session.contextUsage < 192) await session.append(words);
    let before = session.contextUsage;
    session.oncontextoverflow = () => {
      before = 0;
    };
    await session.prompt('Two');
    expect([before, session.contextUsage]).toEqual([0, 256]);
  });

  it('answers prompts in their order, and takes an aborted one back', async () => {
    const { engine, create } = await sessions();
    const session = await create();
    const [later, running] = [new AbortController(), new AbortController()];
    const first = session.prompt('One');
    const dropped = session.prompt('Two', { signal: later.signal });
    const third = session.prompt('Three');
    later.abort();
    await expect(dropped).rejects.toMatchObject({ name: 'AbortError' });
    expect(await third).toBe(await plain(engine, 'One', await first, 'Three'));
    const usage = session.contextUsage;
    const stream = session.promptStreaming('Four', { signal: running.signal });
    await expect(
      (async () => {
        for await (const _ of stream) running.abort(new Error('enough'));
      })(),
    ).rejects.toThrow('enough');
    expect(session.contextUsage).toBe(usage);
    for await (const _ of session.promptStreaming('Five')) break;
    expect(session.contextUsage).toBe(usage);
    expect(await session.prompt('Six')).toBe(await plain(engine, 'One', await first, 'Three', await third, 'Six'));
  });

  it('reads a prompt at the call, whatever the page does with its list afterwards', async () => {
    const { engine, create } = await sessions();
    const session = await create();
    const messages = [{ role: 'user' as const, content: 'One' }];
    const first = session.prompt(messages);
    messages.splice(0, 1, { role: 'user', content: 'Two' });
    const second = session.prompt(messages);
    messages.push({ role: 'user', content: 'Three' });
    const late = expect(session.append([{ role: 'system', content: 'Late.' }])).rejects.toThrow('the first message');
    expect(await first).toBe(await plain(engine, 'One'));
    expect(await second).toBe(await plain(engine, 'One', await first, 'Two'));
    await late;
  });

  it('writes a streamed answer that is not read, and then answers the next prompt', async () => {
    const { engine, create } = await sessions();
    const session = await create();
    const stream = session.promptStreaming('One');
    const second = await session.prompt('Two');
    let first = '';
    for await (const chunk of stream) first += chunk;
    expect(first).not.toBe('');
    expect(second).toBe(await plain(engine, 'One', first, 'Two'));
  });

  it('ends with destroy, and with the signal that it was created with', async () => {
    const { create } = await sessions();
    const session = await create();
    const answer = session.prompt('One');
    session.destroy();
    await expect(answer).rejects.toMatchObject({ name: 'InvalidStateError' });
    await expect(session.prompt('Two')).rejects.toMatchObject({ name: 'InvalidStateError' });
    await expect(session.clone()).rejects.toMatchObject({ name: 'InvalidStateError' });
    const abort = new AbortController();
    const other = await create({ signal: abort.signal });
    abort.abort(new Error('closed'));
    await expect(other.prompt('One')).rejects.toThrow('closed');
    await expect(create({ signal: abort.signal })).rejects.toThrow('closed');
  });

  it('fails where the engine is closed under it, and keeps the conversation as it was', async () => {
    const { engine, create } = await sessions();
    const session = await create();
    const reading = (async () => {
      for await (const _ of session.promptStreaming('One')) void engine.close();
    })();
    const closed = { code: 'aborted', message: 'the engine was closed' };
    await expect(reading).rejects.toMatchObject(closed);
    await expect(session.prompt('Two')).rejects.toMatchObject(closed);
    expect(session.contextUsage).toBe(0);
  });

  it('samples by mode or by numbers', async () => {
    const { create, LanguageModel } = await sessions();
    expect((await create()).samplingMode).toBe('balanced');
    expect((await create({ samplingMode: 'most-predictable' })).temperature).toBe(0);
    const { maxTopK, maxTemperature } = await LanguageModel.params();
    const hot = await create({ temperature: Number.POSITIVE_INFINITY, topK: 1e9 });
    expect([hot.temperature, hot.topK, hot.samplingMode]).toEqual([maxTemperature, maxTopK, null]);
    await expect(create({ temperature: -1 })).rejects.toBeInstanceOf(RangeError);
    await expect(create({ topK: 0 })).rejects.toBeInstanceOf(RangeError);
    await expect(create({ topK: 3, samplingMode: 'creative' })).rejects.toBeInstanceOf(TypeError);
    const wrong: [object, string][] = [
      [{ temperature: '1' }, 'temperature must be a number, not "1"'],
      [{ samplingMode: Symbol('hot') }, 'samplingMode must be one of'],
      [{ initialPrompts: 'You are brief.' }, 'initialPrompts must be a list'],
      [{ initialPrompts: [null] }, 'initialPrompts[0] must be an object'],
      [{ expectedInputs: [null] }, 'expectedInputs[0] must be an object'],
      [{ tools: {} }, 'tools must be a list'],
      [{ signal: {} }, 'signal must be an AbortSignal'],
      [{ monitor: {} }, 'monitor must be a function'],
    ];
    for (const [options, message] of wrong) {
      const error = await create(options).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as TypeError).message).toContain(message);
    }
  });

  it("refuses with the specification's errors", async () => {
    const { create } = await sessions();
    const session = await create();
    await session.append('One');
    const user = (content: unknown) => [{ role: 'user' as const, content: content as string }];
    const cases: [() => Promise<unknown>, string][] = [
      [() => session.prompt([{ role: 'system', content: 'Late.' }]), 'TypeError'],
      [() => session.prompt([{ role: 'tool' as 'user', content: 'x' }]), 'TypeError'],
      [() => session.prompt(user([{ type: 'image', value: new Uint8Array(4) }])), 'NotSupportedError'],
      [() => session.prompt(user([{ type: 'text', value: 3 }])), 'TypeError'],
      [() => session.prompt([{ role: 'user', content: 'Well', prefix: true }]), 'SyntaxError'],
      [() => session.prompt([null as never]), 'TypeError'],
      [() => session.prompt(user(null)), 'TypeError'],
      [() => session.prompt(user([null])), 'TypeError'],
      [() => session.prompt('One', { signal: {} as AbortSignal }), 'TypeError'],
      [() => session.prompt('One', { responseConstraint: { not: {} } }), 'NotSupportedError'],
      [() => session.prompt('One', { responseConstraint: /a/i }), 'NotSupportedError'],
    ];
    for (const [ask, name] of cases) await expect(ask()).rejects.toMatchObject({ name });
  });

  it('keeps to a responseConstraint, and goes on from a prefix', async () => {
    const { create } = await sessions();
    const session = await create();
    expect(['yes', 'no']).toContain(
      await session.prompt('One', { responseConstraint: { enum: ['yes', 'no'] } }).then(JSON.parse),
    );
    expect(await session.prompt('Two', { responseConstraint: /[ab]{3}/ })).toMatch(/^[ab]{3}$/);
    const used = session.contextUsage;
    const added = await session.measureContextUsage('Three');
    await session.prompt(
      [
        { role: 'user', content: 'Three' },
        { role: 'assistant', content: 'Well then', prefix: true },
      ],
      { responseConstraint: /Well then[ab]{3}/ },
    );
    expect(session.contextUsage).toBeGreaterThan(used + added);
  });

  /** A session with a tool. The toy writes nonsense, so its first answer is made a call: the engine is asked for one. */
  const calling = async (execute: (input: unknown) => Promise<string>) => {
    const engine = createEngine();
    const inputSchema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    const asked: RunRequest[] = [];
    const own: Engine = Object.create(engine);
    own.load = (...options) => engine.load(...options);
    own.run = (request, signal) => {
      asked.push(request);
      const { tools } = request;
      const must =
        asked.length > 1 || !tools ? null : { tools: { ...tools, choice: 'required' as const, parallel: false } };
      return engine.run({ ...request, ...must }, signal);
    };
    const session = await promptApi(own, { models: { target: await toy() }, maxTokens: 60, seed: 3 }).create({
      tools: [{ name: 'add', description: 'Adds.', inputSchema, execute }],
    });
    return { session, asked };
  };

  it('calls tools, tells the model what they gave, and goes on until it answers', async () => {
    const seen: unknown[] = [];
    const { session, asked } = await calling(async (input) => {
      seen.push(input);
      return 'seven';
    });
    const answer = await session.prompt('One');
    expect(answer).not.toBe('');
    expect(seen).toEqual([{ a: expect.any(Number) }]);
    const [, second] = asked as [RunRequest, RunRequest];
    const { messages } = second.prompt as { messages: readonly ChatMessage[] };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(messages[2]).toMatchObject({ content: 'seven', name: 'add' });
  });

  it('ends with the signal while a tool still works, and answers the next prompt', async () => {
    const abort = new AbortController();
    const { session } = await calling(() => {
      queueMicrotask(() => abort.abort(new Error('enough')));
      return new Promise(() => {});
    });
    await expect(session.prompt('One', { signal: abort.signal })).rejects.toThrow('enough');
    expect(await session.prompt('Two')).not.toBe('');
  });

  it('with tools keeps to a schema, goes on from a prefix that is laid out freely, and takes no RegExp', async () => {
    const { create } = await sessions();
    const inputSchema = { type: 'object', properties: {} };
    const tools = [{ name: 'now', description: 'Tells the time.', inputSchema, execute: () => 'noon' }];
    const session = await create({ tools });
    const input = [
      { role: 'user' as const, content: 'One' },
      { role: 'assistant' as const, content: '{\n  "a":', prefix: true },
    ];
    const responseConstraint = { type: 'object', properties: { a: { enum: [1, 2] } }, required: ['a'] };
    expect(await session.prompt(input, { responseConstraint })).toMatch(/^\s*[12]/);
    await expect(session.prompt('Two', { responseConstraint: /a/ })).rejects.toMatchObject({
      name: 'NotSupportedError',
    });
  });
});
