// The provider under the real `ai` package: what its users call, not what the specification lists.
import {
  createProviderRegistry,
  generateObject,
  generateText,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { draftEngine, toyTextEngine } from '../testing/toys/text-engine.ts';
import type { EventOf, TraceEvent } from '../trace/index.ts';
import { createOutrider } from './ai-sdk.ts';

let engine: Engine;
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false; // they are looked at here, not printed
  engine = await toyTextEngine(4096);
});
afterAll(async () => (await testGpu()).destroy());

const prompt = 'A cup costs 6 dollars.';
const request = { prompt, seed: 5, temperature: 1, maxOutputTokens: 24 };

const plain = async (): Promise<string> => {
  const messages = [{ role: 'user', content: prompt }];
  const events: TraceEvent[] = [];
  for await (const event of engine.run({ prompt: { messages }, temperature: 1, seed: 5, maxTokens: 24 }))
    events.push(event);
  return (events.at(-1) as EventOf<'done'>).text ?? '';
};

describe('generateText', () => {
  it('answers as the engine does, with usage and figures', async () => {
    const { text, usage, finishReason, providerMetadata, response, warnings } = await generateText({
      model: createOutrider(engine)('toy'),
      ...request,
    });
    expect(text).toBe(await plain());
    expect(finishReason).toBe('length');
    expect(usage).toMatchObject({ outputTokens: 24, totalTokens: (usage.inputTokens ?? 0) + 24 });
    expect(providerMetadata?.outrider).toMatchObject({ system: 'autoregressive', seed: 5, metrics: { tokens: 24 } });
    expect(response.modelId).toBe('toy');
    expect(warnings).toEqual([]);
  });

  it('takes conversations, stop sequences and a system by call, by model and by provider', async () => {
    const outrider = createOutrider(engine, { system: 'prompt-lookup' });
    const whole = await generateText({ model: outrider(), ...request });
    expect(whole.providerMetadata?.outrider?.system).toBe('prompt-lookup');
    const undecided = await generateText({ model: outrider('toy', { system: undefined }), ...request });
    expect(undecided.providerMetadata?.outrider?.system).toBe('prompt-lookup');
    const own = outrider('toy', { system: 'autoregressive' });
    const cut = await generateText({ model: own, ...request, stopSequences: [whole.text.slice(8, 11)] });
    expect([cut.text, cut.finishReason]).toEqual([whole.text.slice(0, 8), 'stop']);
    expect(cut.providerMetadata?.outrider?.system).toBe('autoregressive');
    const providerOptions = { outrider: { system: 'prompt-lookup', knobs: { 'fall-back': 'off' } } };
    const again = await generateText({ model: own, ...request, providerOptions });
    expect(again.text).toBe(whole.text);
    expect(again.providerMetadata?.outrider).toMatchObject({ knobs: { 'fall-back': 'off' } });
    const { usage } = await generateText({
      model: own,
      instructions: 'Be brief.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'One' }] },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
      maxOutputTokens: 1,
    });
    expect(usage.inputTokens).toBeGreaterThan(whole.usage.inputTokens ?? 0);
  });

  it('names a wrong setting or value where a caller of the model itself gives one', async () => {
    const outrider = createOutrider(engine);
    expect(() => outrider('toy', { sistem: 'cos' } as object)).toThrow('a model has no setting "sistem"');
    const user = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
    const wrong: [object, string][] = [
      [{ prompt: 'Hello' }, 'prompt must be a list, not "Hello"'],
      [{ prompt: [null] }, 'prompt[0] must be an object, not null'],
      [{ prompt: [{ role: 'user', content: null }] }, 'content must be a list, not null'],
      [{ prompt: [{ role: 'user', content: [{ type: 'text' }] }] }, 'the text of a text part must be text'],
      [{ tools: {} }, 'tools must be a list, not {}'],
      [{ abortSignal: {} }, 'abortSignal must be an AbortSignal, not {}'],
      [{ providerOptions: { outrider: { onEvent: 'log' } } }, 'onEvent must be a function, not "log"'],
      [{ stopSequences: [''] }, 'stop must be a list of texts that are not empty'],
    ];
    for (const [options, message] of wrong)
      await expect(outrider().doGenerate({ prompt: user, ...options })).rejects.toThrow(message);
  });

  it('names what it ignores, and refuses what it cannot read', async () => {
    const model = createOutrider(engine)();
    const providerOptions = { outrider: { sistem: 'cos' } };
    const asked = { model, ...request, presencePenalty: 1, frequencyPenalty: 1, providerOptions };
    const { warnings } = await generateText(asked);
    const features = warnings?.map((warning) => 'feature' in warning && warning.feature);
    expect(features).toEqual(['providerOptions.outrider.sistem']);
    expect(await streamText(asked).warnings).toEqual(warnings);
    const file = { type: 'file' as const, data: new Uint8Array([1]), mediaType: 'application/pdf' };
    const sent = generateText({ model, messages: [{ role: 'user', content: [file] }] });
    await expect(sent).rejects.toThrow('the model reads text, not a file part of a user message');
    await expect(generateText({ model: createOutrider(engine, { system: 'psychic' })(), prompt })).rejects.toThrow(
      'there is no system "psychic"',
    );
  });

  it('answers without reasoning where the model knows none, and warns of it; a budget is refused', async () => {
    const model = createOutrider(engine)();
    const warned = [{ type: 'unsupported', feature: 'reasoning', details: expect.stringContaining('no tags') }];
    const { text, warnings } = await generateText({ model, ...request, reasoning: 'high' });
    expect(text).toBe(await plain());
    expect(warnings).toEqual(warned);
    const streamed = streamText({ model, ...request, reasoning: 'high' });
    expect(await streamed.text).toBe(text);
    expect(await streamed.warnings).toEqual(warned);
    expect((await generateText({ model, ...request, reasoning: 'none' })).warnings).toEqual([]);
    const providerOptions = { outrider: { reasoningBudget: 5 } };
    const budget = generateText({ model, ...request, reasoning: 'high', providerOptions });
    await expect(budget).rejects.toThrow('the chat template of this model has no tags');
  });

  it('knows a refusal of reasoning by its reason, not by its words', async () => {
    const refusing = (reason: object): Engine => ({
      ...engine,
      async *run(request, signal) {
        if (request.reasoning?.enabled) throw new OutriderError('bad-request', 'in other words', '', reason);
        yield* engine.run(request, signal);
      },
    });
    const model = createOutrider(refusing({ unsupported: 'reasoning' }))();
    const { text, warnings } = await generateText({ model, ...request, reasoning: 'high' });
    expect(text).toBe(await plain());
    expect(warnings).toEqual([{ type: 'unsupported', feature: 'reasoning', details: 'in other words' }]);
    const other = generateText({ model: createOutrider(refusing({}))(), ...request, reasoning: 'high' });
    await expect(other).rejects.toThrow('in other words');
  });

  it('takes any whole number for a seed', async () => {
    const model = createOutrider(engine)();
    const { text } = await generateText({ model, ...request, seed: 5 - 2 ** 32 });
    expect(text).toBe(await plain());
  });

  it('fails where the engine is closed under it, whole and streamed', async () => {
    for (const isStreamed of [false, true]) {
      const own = await toyTextEngine(4096);
      const onEvent = ({ type }: TraceEvent) => type === 'commit' && void own.close();
      const model = createOutrider(own, { onEvent })();
      const errors: unknown[] = [];
      const onError = ({ error }: { readonly error: unknown }) => void errors.push(error);
      const asked = { model, prompt, maxOutputTokens: 3000 };
      if (isStreamed) await streamText({ ...asked, onError }).consumeStream();
      else await generateText(asked).catch((error: unknown) => onError({ error }));
      expect(errors).toMatchObject([{ code: 'aborted', message: 'the engine was closed' }]);
    }
  });

  it('stops when it is aborted', async () => {
    const abort = new AbortController();
    const model = createOutrider(engine, { onEvent: ({ type }) => type === 'commit' && abort.abort() })();
    const answer = generateText({ model, prompt, maxOutputTokens: 3000, abortSignal: abort.signal });
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(await plain()).not.toBe('');
  });
});

describe('streamText', () => {
  it('streams the same text, and usage at the end', async () => {
    const { textStream, usage, finishReason } = streamText({ model: createOutrider(engine)(), ...request });
    const deltas: string[] = [];
    for await (const delta of textStream) deltas.push(delta);
    expect(deltas.join('')).toBe(await plain());
    expect(deltas.length).toBeGreaterThan(10);
    expect(await usage).toMatchObject({ outputTokens: 24 });
    expect(await finishReason).toBe('length');
  });

  it('stops when it is aborted, and the engine is free again', async () => {
    const abort = new AbortController();
    const model = createOutrider(engine)();
    const { stream } = streamText({ model, prompt, maxOutputTokens: 3000, abortSignal: abort.signal });
    const parts: string[] = [];
    for await (const { type } of stream) if (parts.push(type) === 8) abort.abort();
    expect(parts).toContain('abort');
    expect(parts.length).toBeLessThan(3000);
    expect(await plain()).not.toBe('');
  });

  it('gives errors to onError', async () => {
    const errors: unknown[] = [];
    const model = createOutrider(engine, { system: 'psychic' })();
    await streamText({ model, prompt, onError: ({ error }) => void errors.push(error) }).consumeStream();
    expect(errors).toMatchObject([{ code: 'bad-request', message: 'there is no system "psychic"' }]);
  });
});

it('is a provider among others', async () => {
  const registry = createProviderRegistry({ outrider: createOutrider(engine) });
  const { text } = await generateText({ model: registry.languageModel('outrider:toy'), ...request });
  expect(text).toBe(await plain());
  expect(() => registry.embeddingModel('outrider:toy')).toThrow('this engine has no embedding models');
});

it('streams an answer of a real model', async () => {
  const real = await draftEngine(await testGpu());
  const { text } = streamText({
    model: createOutrider(real)(),
    prompt: 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?',
  });
  expect(await text).toContain('The answer is 84.');
  await real.close();
});

describe('objects and tools', () => {
  const schema = jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string', enum: ['Rome', 'Oslo'] } },
    required: ['city'],
    additionalProperties: false,
  });

  it('writes objects, whole and streamed', async () => {
    const model = createOutrider(engine)();
    const asked = { model, prompt, seed: 5, maxOutputTokens: 60, output: Output.object({ schema }) };
    const { output } = await generateText(asked);
    expect(['Rome', 'Oslo']).toContain(output.city);
    const streamed = streamText(asked);
    const parts: unknown[] = [];
    for await (const part of streamed.partialOutputStream) parts.push(part);
    expect(parts.at(-1)).toEqual(output);
  });

  it('generateObject and streamObject give the same object, lists and choices too', async () => {
    const model = createOutrider(engine)();
    const asked = { model, prompt, seed: 5, maxOutputTokens: 60 };
    const { object, finishReason } = await generateObject({ ...asked, schema });
    expect(['Rome', 'Oslo']).toContain(object.city);
    expect(finishReason).toBe('stop');
    const streamed = streamObject({ ...asked, schema });
    let last: unknown;
    for await (const partial of streamed.partialObjectStream) last = partial;
    expect(last).toEqual(object);
    expect(await streamed.object).toEqual(object);
    const chosen = await generateObject({ ...asked, output: 'enum', enum: ['sunny', 'rainy'] });
    expect(['sunny', 'rainy']).toContain(chosen.object);
  });

  it('an object that the budget cuts is the SDK’s own error, with its text and reason', async () => {
    const model = createOutrider(engine)();
    const cut = generateObject({ model, prompt, seed: 5, maxOutputTokens: 3, schema });
    const error = await cut.catch((reason: unknown) => reason);
    expect(NoObjectGeneratedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ finishReason: 'length', text: expect.stringMatching(/^\{/) });
    const wrong = generateObject({ model, prompt, schema: jsonSchema({ type: 'object', not: {} }) });
    await expect(wrong).rejects.toThrow('not is not supported');
  });

  it('calls a tool and gives its result back', async () => {
    const cities: string[] = [];
    const weather = tool({
      description: 'The weather',
      inputSchema: schema,
      execute: async ({ city }) => {
        cities.push(city);
        return { sky: 'clear' };
      },
    });
    const stops = Array.from({ length: 200 }, (_, i) => 300 + i); // the toy ends an answer where it may
    const asked = {
      model: createOutrider(await toyTextEngine(4096, stops))(),
      prompt,
      seed: 5,
      maxOutputTokens: 400,
      tools: { weather },
      toolChoice: { type: 'tool' as const, toolName: 'weather' as const },
    };
    const { toolCalls, toolResults, finishReason } = await generateText({ ...asked, stopWhen: stepCountIs(1) });
    expect(finishReason).toBe('tool-calls');
    expect(toolCalls.length).toBeGreaterThan(0);
    expect(toolResults[0]).toMatchObject({ toolName: 'weather', output: { sky: 'clear' } });
    const { steps } = await generateText({ ...asked, stopWhen: stepCountIs(2) });
    expect(steps).toHaveLength(2);
    const types: string[] = [];
    for await (const part of streamText({ ...asked, stopWhen: stepCountIs(1) }).stream) types.push(part.type);
    for (const type of ['tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call', 'tool-result'])
      expect(types).toContain(type);
    expect(cities.every((city) => ['Rome', 'Oslo'].includes(city))).toBe(true);
  });
});
