// The backend as prompt-api-polyfill 1.20.4 calls it, over a toy model that writes bundled tokens. The polyfill itself is
// not here: it has no published package that can be pinned.
import { describe, expect, it } from 'vitest';
import { createEngine } from '../engine/engine.ts';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { type LanguageModelCreateOptions, promptApi } from './prompt-api.ts';
import { type PolyfillContent, type PolyfillSessionParams, promptApiBackend } from './prompt-api-polyfill.ts';
import { QuotaExceededError } from './prompt-session.ts';

/** Backends and the Prompt API over one toy model whose answers have 12 tokens. */
const toys = async (context = 4096) => {
  const engine = createEngine();
  const tokenizer = await bundledTokenizer();
  const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 8, context });
  const options = { models: { target: { name: 'toy', model, tokenizer, stopTokens: [] } }, maxTokens: 12, seed: 3 };
  const Backend = promptApiBackend(engine, options);
  const begun = async (created: LanguageModelCreateOptions = {}, params: PolyfillSessionParams = {}) => {
    const backend = new Backend({ apiKey: '-' });
    await backend.createSession(created, { generationConfig: {}, ...params }, null);
    return backend;
  };
  return { Backend, begun, LanguageModel: promptApi(engine, options) };
};

const user = (text: string): PolyfillContent => ({ role: 'user', parts: [{ text }] });
const said = (text: string): PolyfillContent => ({ role: 'model', parts: [{ text }] });
const system = (text: string): PolyfillContent => ({ role: 'system', parts: [{ text }] });

describe('a backend of prompt-api-polyfill', () => {
  it('answers and counts as a session of the Prompt API does', async () => {
    const { begun, LanguageModel } = await toys();
    const backend = await begun();
    const session = await LanguageModel.create();
    const first = await session.prompt('One');
    expect(await backend.generateContent([user('One')])).toEqual({ text: first, usage: session.contextUsage });
    const conversation = [user('One'), said(first), { role: 'user', parts: [{ text: 'Two' }, { text: '!' }] }];
    const length = session.contextUsage + (await session.measureContextUsage('Two!'));
    expect(await backend.countTokens(conversation)).toBe(length);
    const second = await session.prompt('Two!');
    expect(await backend.generateContent(conversation)).toEqual({ text: second, usage: session.contextUsage });
    expect(await backend.countTokens([])).toBe(0);
  });

  it('streams the same, with the count at the end', async () => {
    const { begun } = await toys();
    const backend = await begun();
    const whole = await backend.generateContent([user('One')]);
    const chunks: [string, number][] = [];
    for await (const chunk of await backend.generateContentStream([user('One')]))
      chunks.push([chunk.text(), chunk.usageMetadata.totalTokenCount]);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.map(([text]) => text).join('')).toBe(whole.text);
    expect(chunks.at(-1)).toEqual(['', whole.usage]);
    const stream = await backend.generateContentStream([user('One')]);
    await stream.next();
    await stream.return();
    expect(await backend.generateContent([user('One')])).toEqual(whole); // the queue is free
  });

  it('takes the system prompt and the sampling of the session', async () => {
    const { begun, LanguageModel } = await toys();
    const sampling = { temperature: 1.5, topK: 7 };
    const initialPrompts = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Uno' },
    ] as const;
    const session = await LanguageModel.create({ ...sampling, initialPrompts });
    const backend = await begun({ ...sampling, initialPrompts }, { systemInstruction: 'Be brief.' });
    const length = session.contextUsage + (await session.measureContextUsage('Two'));
    const { text } = await backend.generateContent([user('One'), said('Uno'), user('Two')]);
    expect(text).toBe(await session.prompt('Two'));
    expect(text).not.toBe((await (await begun(sampling)).generateContent([user('Two')])).text);
    // When it counts, the polyfill puts the system prompt there itself, or means a message alone.
    const asked = [user('One'), said('Uno'), user('Two')];
    const counted = await backend.countTokens([system('Be brief.'), ...asked]);
    expect(counted).toBe(length);
    expect(await backend.countTokens(asked)).toBeLessThan(counted);
    expect(await backend.countTokens([system('Be brief.')])).toBeGreaterThan(0);
  });

  it('keeps a responseConstraint for its prompt only, without waiting for createSession', async () => {
    const { begun, Backend } = await toys();
    const backend = await begun();
    const free = await backend.generateContent([user('One')]);
    const params = { generationConfig: { responseSchema: backend.convertSchema({ enum: ['yes', 'no'] }) } };
    void backend.createSession({}, params);
    expect(['yes', 'no']).toContain(JSON.parse((await backend.generateContent([user('One')])).text));
    expect(await backend.generateContent([user('One')])).toEqual(free);
    const clone = new Backend();
    await clone.createSession({}, params);
    expect(await clone.generateContent([user('One')])).toEqual(free);
    void backend.createSession({}, { generationConfig: { responseSchema: backend.convertSchema(/[ab]{3}/) } });
    let text = '';
    for await (const chunk of await backend.generateContentStream([user('Two')])) text += chunk.text();
    expect(text).toMatch(/^[ab]{3}$/);
    const always = await begun({}, { generationConfig: { responseSchema: { enum: [7] } } });
    for (let i = 0; i < 2; i++) expect((await always.generateContent([user('One')])).text).toBe('7');
  });

  it('leaves out the oldest questions where the context ends, never the initial prompts', async () => {
    const { begun } = await toys(100);
    const initialPrompts = [{ role: 'system', content: 'Be brief.' }] as const;
    const backend = await begun({ initialPrompts }, { systemInstruction: 'Be brief.' });
    const words = 'How many cups does Eva have now?';
    const long = Array.from({ length: 6 }, () => [user(words), said('Three.')]).flat();
    expect(await backend.countTokens([...long, user(words)])).toBeGreaterThan(100);
    const { text, usage } = await backend.generateContent([...long, user(words)]);
    expect(usage).toBeLessThanOrEqual(100);
    const some = await Promise.all(
      [0, 2, 4, 6, 8, 10, 12]
        .map((from) => long.slice(from))
        .map(async (rest) => (await backend.generateContent([...rest, user(words)])).text),
    );
    expect(some).toContain(text);
    await expect(backend.generateContent([user(words.repeat(20))])).rejects.toBeInstanceOf(QuotaExceededError);
  });

  it('tells how far the models are, each step once', async () => {
    const { Backend } = await toys();
    expect(Backend.availability()).toBe('available'); // the polyfill creates nothing that is downloadable
    const seen: number[] = [];
    const monitor = Object.assign(new EventTarget(), { __lastProgressLoaded: -1 });
    monitor.addEventListener('downloadprogress', (event) => seen.push((event as ProgressEvent).loaded));
    await new Backend().createSession({}, {}, monitor);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect([seen[0], seen.at(-1), monitor.__lastProgressLoaded]).toEqual([0, 1, 1]);
  });

  it('refuses what is not text, and ends with the signal of its session', async () => {
    const { Backend, begun } = await toys();
    const image = { expectedInputs: [{ type: 'image' }] };
    expect(Backend.availability(image)).toBe('unavailable');
    await expect(new Backend().createSession(image, {})).rejects.toMatchObject({ name: 'NotSupportedError' });
    const abort = new AbortController();
    const backend = await begun({ signal: abort.signal });
    const picture = { role: 'user', parts: [{ inlineData: {} }] } as unknown as PolyfillContent;
    await expect(backend.generateContent([picture])).rejects.toMatchObject({ name: 'NotSupportedError' });
    await expect(backend.countTokens([{ ...user('One'), role: 'tool' }])).rejects.toBeInstanceOf(TypeError);
    const answer = backend.generateContent([user('One')]);
    abort.abort(new Error('closed'));
    await expect(answer).rejects.toThrow('closed');
    await expect(begun({ temperature: -1 })).rejects.toBeInstanceOf(RangeError);
  });
});
