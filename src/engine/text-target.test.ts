// A target and a draft of different vocabularies: step systems exchange texts, every other system has the target alone.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openNodeGpu } from '../gpu/node.ts';
import type { LanguageModel } from '../model/interface.ts';
import { remote } from '../remote/server.ts';
import { lettersTokenizer } from '../testing/toys/letters.ts';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { loadTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import { committedTokens, type EventOf, fold, METRICS, type TraceEvent } from '../trace/index.ts';
import { createEngine, type Engine, type Loaded } from './engine.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import { TextTarget } from './load/text-target.ts';

const folder = new URL('../../public/models/target/', import.meta.url);
const read = (file: string): Buffer => readFileSync(new URL(file, folder));
const json = (file: string) => JSON.parse(read(file).toString());
const MERGES = 100;

/** The bundled tokenizer with fewer merges: texts are the same, tokens are not. `template`: in the place of its own. */
const shorter = async (template?: string) => {
  const tokenizer = json('tokenizer.json');
  const { vocab, merges } = tokenizer.model;
  tokenizer.model.merges = merges.slice(0, -MERGES);
  const size = Object.keys(vocab).length - MERGES;
  tokenizer.model.vocab = Object.fromEntries(Object.entries(vocab).filter(([, id]) => Number(id) < size));
  const config = json('tokenizer_config.json');
  return loadTokenizer({
    tokenizer,
    config: { ...config, ...(template !== undefined && { chat_template: template }) },
  });
};

interface Toys {
  readonly template?: string;
  readonly context?: number;
  /** In the place of the target's. */
  readonly model?: LanguageModel;
}

/** Toys of two vocabularies: what they write depends on the last three tokens of the text. */
const toys = async ({ template, context = 512, model: given }: Toys) => {
  const toy = (name: string, tokenizer: Tokenizer, rows: number): LoadedModel => {
    const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 8, context: rows });
    return { name, model, tokenizer, stopTokens: tokenizer.eos };
  };
  const big = toy('big', await bundledTokenizer(template), context);
  const target = given ? { ...big, model: given } : big;
  const made = createEngine();
  await made.load({ target, draft: toy('small', await shorter(template), 512) }, { vocabularies: 'own' });
  return made;
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

const run = async (system: string, knobs = {}, more = {}, on = engine): Promise<readonly TraceEvent[]> => {
  const events: TraceEvent[] = [];
  const request = { system, knobs, prompt: { messages: [...messages] }, maxTokens: 90, temperature: 0, ...more };
  for await (const event of on.run(request)) events.push(event);
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

it('keeps the tokens of its steps that a limit ended', async () => {
  const letters = ['a', 'b', 'ab', 'ba', '\n'];
  for (let seed = 0; seed < 5; seed++) {
    const toy = (name: string, tokens: readonly string[]): LoadedModel => {
      const model = toyModel({ vocabulary: tokens.length, sharpness: 2, context: 512, seed }); // it never ends
      return { name, model, tokenizer: lettersTokenizer(tokens), stopTokens: [] };
    };
    const own = createEngine();
    await own.load({ target: toy('few', letters), draft: toy('many', [...letters, 'aba']) }, { vocabularies: 'own' });
    const ask = { prompt: { text: 'ab' }, maxTokens: 40 };
    const alone = textOf(await run('autoregressive', {}, ask, own)) ?? '';
    const routed = textOf(await run('random', { share: 1, 'step-tokens': 3 }, ask, own)) ?? '';
    const [shorter, longer] = [alone, routed].toSorted((a, b) => a.length - b.length);
    expect(longer?.slice(0, shorter?.length)).toBe(shorter);
  }
  expect.assertions(5);
});

it.each([0, 1])(
  'ends its last step where a stop string ends the answer, with a share of %d escalated',
  async (share) => {
    const own = await toys({});
    const knobs = { share, 'step-tokens': 24 };
    const whole = await run('random', knobs, { ignoreEos: true }, own);
    const text = textOf(whole) ?? '';
    const [first, second] = stepsOf(whole).map(({ pieces = [] }) => pieces.join(''));
    const at = (first?.length ?? 0) + Math.floor((second?.length ?? 0) / 2);
    const stop = text.slice(at, at + 6);
    const cut = await run('random', knobs, { ignoreEos: true, stop: [stop] }, own);
    expect(textOf(cut)).toBe(text.slice(0, text.indexOf(stop)));
    const steps = stepsOf(cut);
    expect(steps.flatMap(({ ids = [] }) => ids)).toEqual(committedTokens(cut));
    for (const { tokens, ids, pieces } of steps) expect([ids?.length, pieces?.length]).toEqual([tokens, tokens]);
    const same = stepsOf(whole).slice(0, steps.length);
    expect(steps.at(-1)?.tokens).toBeLessThan(same.at(-1)?.tokens ?? 0);
    // What the target wrote counts, kept or not.
    expect(fold(METRICS.target_tokens, cut)).toBe(share * same.reduce((sum, { tokens }) => sum + tokens, 0));
  },
);

const textsOf = (events: readonly TraceEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'commit' ? [event.text ?? ''] : []));

it('goes on from how the answer begins, and from the steps that the draft wrote', async () => {
  const begin = 'Ida now has';
  const asked = { prompt: { messages: [...messages], begin }, seed: 2 };
  expect(textOf(await run('random', { share: 1 }, asked))).toBe(textOf(await run('autoregressive', {}, asked)));
  const routed = await run('random', { share: 0.5, 'step-tokens': 12 }, asked);
  const texts = textsOf(routed);
  const writers = stepsOf(routed).map(({ by }) => by);
  expect(writers).toEqual(['draft', 'target', 'draft', 'target']);
  for (const step of [1, 3]) {
    const before = begin + texts.slice(0, step).join('');
    const alone = await run(
      'autoregressive',
      {},
      { prompt: { messages: [...messages], begin: before }, maxTokens: 20 },
    );
    expect(textOf(alone)?.slice(0, texts[step]?.length)).toBe(texts[step]);
  }
});

it('keeps the spaces between steps, where tokenizers put one in front of texts', async () => {
  const steps = [
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ];
  const normalizers = [
    { type: 'Prepend', prepend: '▁' },
    { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
  ];
  const toy = async (name: string, pieces: readonly string[], merges: readonly string[][]): Promise<LoadedModel> => {
    const tokenizer = await loadTokenizer({
      tokenizer: {
        model: { type: 'BPE', merges, vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])) },
        normalizer: { type: 'Sequence', normalizers },
        decoder: { type: 'Sequence', decoders: steps },
        ...{ added_tokens: [], pre_tokenizer: null, post_processor: null },
      },
      config: {},
    });
    const model = toyModel({ vocabulary: 2, sharpness: 8, context: 256 }); // it writes whole words
    return { name, model, tokenizer, stopTokens: [] };
  };
  const merges = ['a', 'b'].map((letter) => ['▁', letter]);
  const target = await toy('big', ['▁a', '▁b', '▁', 'a', 'b'], merges);
  const draft = await toy('small', ['▁b', '▁a', 'b', '▁', 'a'], merges);
  const made = createEngine();
  await made.load({ target, draft }, { vocabularies: 'own' });
  const asked = { prompt: { text: 'a b' }, maxTokens: 40 };
  const alone = textOf(await run('autoregressive', {}, asked, made));
  expect(alone).toMatch(/^( [ab]){40}$/);
  expect(textOf(await run('random', { share: 1, 'step-tokens': 5 }, asked, made))).toBe(alone);
  const routed = textOf(await run('random', { share: 0.5, 'step-tokens': 5 }, { ...asked, seed: 5 }, made));
  expect(routed).toMatch(/^( [ab]){40}$/);
});

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

it('is refused next to a remote target, which no step would ask', async () => {
  const toy = (tokens: readonly string[]): LoadedModel => ({
    name: `of ${tokens.length}`,
    model: toyModel({ vocabulary: tokens.length, sharpness: 2 }),
    tokenizer: lettersTokenizer(tokens),
    stopTokens: [],
  });
  const sources = { draft: toy(['a', 'b']), remote: remote('https://a.test/v1', 'large') };
  const own = createEngine();
  await own.load(sources, { vocabularies: 'own' });
  await expect(own.load({ ...sources, target: toy(['a', 'b', 'ab']) }, { vocabularies: 'own' })).rejects.toThrow(
    'of 2 has another vocabulary than of 3',
  );
});

it('judges by the draft alone, candidates included', async () => {
  const routed = await run('specguard', { k: 2, tau: 0.9, selector: 'tokens', 'step-tokens': 12 }, { seed: 2 });
  expect(routed.some((event) => event.type === 'route' && event.to === 'target')).toBe(true);
  expect((routed.at(-1) as EventOf<'done'>).finish_reason).toMatch(/stop|length/);
});

// The end of the prompt is what a toy goes on from.
const THINKS = "{{ messages[-1]['content'] }}{% if enable_thinking is false %}<think></think>{% endif %}";
const BACKWARDS = "{% for message in messages | reverse %}{{ message['content'] }}{% endfor %}";

it.each([
  ['reasoning that is switched off', THINKS, { reasoning: { enabled: false } }],
  ['functions that may be called', BACKWARDS, { tools: { functions: [{ name: 'add', parameters: {} }] } }],
])('is told of %s', async (_, template, asked) => {
  const own = await toys({ template });
  const alone = textOf(await run('autoregressive', {}, { ...asked, maxTokens: 6 }, own));
  expect(alone).not.toBe(textOf(await run('autoregressive', {}, { maxTokens: 6 }, own)));
  const routed = textOf(await run('random', { share: 1 }, asked, own));
  expect(routed?.slice(0, alone?.length)).toBe(alone);
});

it('reads its whole prompt again where the run is to be a fresh one', async () => {
  const model = toyModel({ vocabulary: (await bundledTokenizer()).vocabulary, sharpness: 8, context: 512 });
  let read = 0;
  const open: typeof model.open = async (options) => {
    const cursor = await model.open(options);
    const extend = cursor.extend.bind(cursor);
    return Object.assign(cursor, {
      extend(...given: Parameters<typeof extend>) {
        read += given[0].length;
        return extend(...given);
      },
    });
  };
  const own = await toys({ model: { ...model, open } });
  const readBy = async (more: object) => {
    read = 0;
    await run('random', { share: 1, 'step-tokens': 8 }, { maxTokens: 8, ...more }, own);
    return read;
  };
  const whole = await readBy({});
  expect(await readBy({})).toBeLessThan(whole / 2);
  expect(await readBy({ fresh: true })).toBe(whole);
});

it('may not be asked for more than its context, before anything runs', async () => {
  const own = await toys({ context: 64 });
  const tooLong = run('random', { share: 0.5 }, { maxTokens: 200 }, own);
  await expect(tooLong).rejects.toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining('the context of 64, which is that of big'),
    overflow: { context: 64 },
  });
  const whole = await run('random', { share: 0.5, 'step-tokens': 4 }, { maxTokens: undefined }, own);
  expect(whole.at(-1)).toMatchObject({ type: 'done', finish_reason: 'length' });
  // It never asks the target.
  expect((await run('draft-only', {}, { maxTokens: 200 }, own)).at(-1)).toMatchObject({ type: 'done' });
});

it('leaves the rest of an answer to the draft, once the text fills its context', async () => {
  // Its tokens are shorter than the draft's, and how many they will be is not known before they are written.
  const toy = (name: string, tokenizer: Tokenizer, context: number): LoadedModel => {
    const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 8, context });
    return { name, model, tokenizer, stopTokens: [] };
  };
  const own = createEngine();
  const models = { target: toy('short', await shorter(), 110), draft: toy('long', await bundledTokenizer(), 512) };
  await own.load(models, { vocabularies: 'own' });
  const events = await run('random', { share: 0.5, 'step-tokens': 4 }, { maxTokens: undefined, seed: 1 }, own);
  expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'length' });
  const faults = events.flatMap((event) => (event.type === 'remote' && event.fault ? [event.fault.message] : []));
  expect(faults).toEqual(['the text fills the context of short']);
  expect(stepsOf(events).at(-1)).toMatchObject({ by: 'draft' });
});

/** The two bytes of é, a letter and a space; no token has more than one byte. */
const bytewise = () => {
  const { added_tokens: _, ...tokenizer } = json('tokenizer.json');
  const model = { ...tokenizer.model, vocab: { Ã: 0, '©': 1, a: 2, Ġ: 3 }, merges: [] };
  return loadTokenizer({ tokenizer: { ...tokenizer, model }, config: {} });
};

it('neither writes nor reads half a character where a limit cuts a step', async () => {
  const tokenizer = await bytewise();
  const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 4 });
  const reader = { tokenizer: await bundledTokenizer(), stopTokens: [] };
  using target = new TextTarget({ name: 'bytes', model, tokenizer, stopTokens: [] }, tokenizer);
  const prompt = reader.tokenizer.encode('a a');
  const write = async (maxTokens: number, tokens = prompt) => {
    const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 0 };
    const { signal } = new AbortController();
    const request = { delimiter: '\n\n', maxTokens, sampling, signal, emit: () => {}, promptLength: prompt.length };
    const step = await target.open(reader, { prompt: { text: 'a a' } }).writeStep(tokens, request);
    expect(step?.tokens.length).toBeGreaterThan(0);
    expect(step?.tokens.length).toBeLessThanOrEqual(maxTokens);
    return reader.tokenizer.decode(step?.tokens ?? []);
  };
  const whole = await write(60);
  expect(whole.match(/é/g)?.length).toBeGreaterThan(2);
  // A step of fewer tokens may be half a character, as at the end of an answer.
  for (let most = 4; most < 40; most++) {
    const cut = await write(most);
    expect(whole.slice(0, cut.length)).toBe(cut);
  }
  const [half = 0] = reader.tokenizer.encode('é');
  expect(await write(60, [...prompt, half])).toBe(whole);
});
