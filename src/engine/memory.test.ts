// Memory that the device refuses: whichever allocation of a load or a run it is, the call ends with `out-of-memory`,
// everything that it took is freed, and the next one works. The refusals are real ones of the adapter.
import { beforeAll, describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { openNodeGpu } from '../gpu/node.ts';
import { RefusableMemory } from '../testing/device/refuse-memory.ts';
import { lettersTokenizer } from '../testing/toys/letters.ts';
import { tinyFamily } from '../testing/toys/tiny-family.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { committedTokens, type TraceEvent } from '../trace/index.ts';
import { createEngine, type Engine } from './engine.ts';
import { loadSource } from './load/language-model.ts';
import type { RunRequest } from './request.ts';
import type { ModelSources } from './sources.ts';

const { target, draft, dflash, eagle3, prm } = tinyFamily();
const prompt = { tokens: [1, 2, 3, 4, 5, 1, 2, 3] };
/** Of a run in which an allocation is refused, and of the one after it, which shows that nothing stayed. */
const [TOKENS, AFTER] = [12, 4];
const router = { delta: 0.5, delimiter: 7, 'step-tokens': 8 };

/** Each kind of system, with its models; all sampled. */
const SYSTEMS: readonly [ModelSources, Partial<RunRequest>][] = [
  [{ target }, { system: 'autoregressive', logprobs: 3 }],
  [{ target, draft }, { system: 'draft-model' }],
  [
    { target, dflash },
    { system: 'dflash', knobs: { draft: 'sampled' } },
  ],
  [
    { target, eagle3 },
    { system: 'eagle3', knobs: { shape: 'tree', nodes: 20 } },
  ],
  [
    { target, eagle3 },
    { system: 'eagle3', knobs: { shape: 'chain' } },
  ],
  [{ target }, { system: 'prompt-lookup', profile: true }],
  [
    { target, draft },
    { system: 'cos', logprobs: 2 },
  ],
  [
    { target, draft, prm },
    { system: 'rsd', knobs: router },
  ],
  [
    { target, draft },
    { system: 'specguard', knobs: { k: 2, beta: 0.5, delimiter: 7, 'step-tokens': 8 } },
  ],
  [
    { target, draft },
    { system: 'majority', knobs: { n: 3 } },
  ],
];

let gpu: Gpu;
let memory: RefusableMemory;
let engine: Engine;
beforeAll(async () => {
  gpu = await openNodeGpu();
  memory = new RefusableMemory(gpu);
  engine = createEngine({ gpu }); // a device of the caller's is never replaced: it must stay healthy
});

const ask = async (request: Partial<RunRequest>): Promise<readonly number[]> => {
  const events: TraceEvent[] = [];
  const all = { prompt, temperature: 1, seed: 3, maxTokens: TOKENS, ignoreEos: true, ...request };
  for await (const event of engine.run(all)) events.push(event);
  return committedTokens(events);
};

/** True where the call failed for want of memory. */
const refused = async (call: Promise<unknown>): Promise<boolean> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error === null) return false;
  if (!(error instanceof OutriderError) || error.code !== 'out-of-memory') throw error;
  expect(error.hint).not.toBe('');
  return true;
};

/** No buffer is unaccounted for, none was made where a refusal would go unnoticed, and the device works. */
const healthy = (where: string): void => {
  expect(memory.bytes, where).toBe(gpu.memory.bytes + gpu.memory.pooledBytes);
  expect(memory.outside, where).toEqual([]);
  expect(gpu.failure, where).toBeNull();
};

/** Refuses each allocation of a run in turn. */
const refuseEach = async (models: ModelSources, request: Partial<RunRequest>): Promise<void> => {
  await engine.load(models);
  const before = gpu.bytes;
  memory.refuse();
  const whole = await ask(request);
  const allocations = memory.made;
  expect(whole).toHaveLength(TOKENS);
  expect(allocations).toBeGreaterThan(8);
  const short = await ask({ ...request, maxTokens: AFTER });
  let survived = 0;
  for (let k = 0; k < allocations; k++) {
    await engine.load(models); // frees caches and readbacks; the models stay
    expect(gpu.bytes, `before ${k}`).toBe(before);
    memory.refuse(k);
    const refusals = memory.refusals;
    const tokens: number[] = [];
    const failed = await refused(ask(request).then((all) => tokens.push(...all)));
    // Readbacks that overlap need a buffer each, and whether the last two do is a matter of time.
    const reached = k < allocations - 1 || memory.made > k;
    memory.refuse();
    expect(memory.refusals - refusals, `refused ${k} of ${allocations}`).toBe(reached ? 1 : 0);
    healthy(`refused ${k} of ${allocations}`);
    if (failed) expect(gpu.bytes, `after ${k}`).toBe(before);
    else expect(tokens, `refused ${k}`).toEqual(whole);
    if (reached && !failed) survived++; // without what need not be: in a smaller cache
    expect(await ask({ ...request, maxTokens: AFTER }), `after ${k}`).toEqual(short);
  }
  expect(survived, 'a smaller cache was tried').toBeGreaterThan(0);
};

describe.each(SYSTEMS)('%#', (models, request) => {
  it(`any allocation of a run may be refused: ${JSON.stringify(request)}`, () => refuseEach(models, request), 600_000);
});

it('any allocation of a constrained run may be refused', async () => {
  const { model } = await loadSource(gpu, target);
  const tokenizer = lettersTokenizer(Array.from({ length: 49 }, (_, i) => String.fromCharCode(65 + i)));
  const letters = { name: 'letters', model, tokenizer, stopTokens: [] };
  await refuseEach({ target: letters }, { constraint: { regex: '[A-F]+' } });
  await engine.load({});
  model[Symbol.dispose]();
}, 600_000);

it("close leaves nothing on a bare device of the caller's, and leaves the device", async () => {
  const { device } = gpu;
  const before = memory.bytes;
  const other = createEngine({ gpu: device });
  await other.load({ target });
  for await (const _ of other.run({ prompt, maxTokens: 3 }));
  expect(memory.bytes).toBeGreaterThan(before);
  await other.close();
  expect(memory.bytes).toBe(before);
  healthy('after another engine');
  await engine.load({ target });
  expect(await ask({})).toHaveLength(TOKENS);
});

it('any allocation of a load may be refused', async () => {
  await engine.load({});
  const models = process.env.OUTRIDER_FULL === '1' ? { target, draft, dflash, eagle3, prm } : { target, dflash };
  const before = gpu.bytes;
  memory.refuse();
  await engine.load(models);
  const whole = await ask({ system: 'dflash' });
  const allocations = memory.made;
  expect(allocations).toBeGreaterThan(100);
  for (let k = 0; k < allocations; k++) {
    await engine.load({});
    expect(gpu.bytes, `before ${k}`).toBe(before);
    memory.refuse(k);
    const failed = await refused(engine.load(models));
    memory.refuse();
    healthy(`refused ${k} of ${allocations}`);
    if (!failed) break; // those of the load are through
    expect(gpu.bytes, `after ${k}`).toBe(before);
  }
  await engine.load(models);
  expect(await ask({ system: 'dflash' })).toEqual(whole);
}, 600_000);

it('any allocation of a measurement may be refused', async () => {
  await engine.load({});
  const before = gpu.bytes;
  for (let k = 0, failed = true; failed; k++) {
    await engine.load({}); // frees readbacks
    memory.refuse(k);
    failed = await refused(engine.measure({ repeats: 1 }));
    memory.refuse();
    healthy(`refused ${k}`);
    expect(gpu.bytes, `refused ${k}`).toBe(before);
    if (!failed) expect(k).toBeGreaterThan(3);
  }
}, 600_000);

const { target: roomy } = tinyFamily({ context: 1024 });

/** A target that reads texts, and a draft that takes no memory: the same letters, numbered from both ends. */
const ofTwoVocabularies = async (): Promise<ModelSources> => {
  const letters = Array.from({ length: 49 }, (_, i) => String.fromCharCode(65 + i));
  const { model } = await loadSource(gpu, roomy);
  const toy = toyModel({ vocabulary: 50, sharpness: 5, context: 1024 });
  return {
    target: { name: 'letters', model, tokenizer: lettersTokenizer(letters), stopTokens: [] },
    draft: { name: 'toy', model: toy, tokenizer: lettersTokenizer(letters.toReversed()), stopTokens: [] },
  };
};

describe.each<[string, () => Promise<ModelSources>, Partial<RunRequest>]>([
  ['of the target', async () => ({ target: roomy }), {}],
  ['of a target that reads texts', ofTwoVocabularies, { system: 'random', knobs: { share: 1, 'step-tokens': 400 } }],
])('a cache %s that does not fit', (_, models, how) => {
  let sources: ModelSources;
  beforeAll(async () => {
    sources = await models();
  });
  const tokens = Array.from({ length: 400 }, (_, i) => (7 * i) % 49);
  /** They need nearly all of the 512 rows that a cache has at least. */
  const long = { prompt: { tokens }, maxTokens: 40 };
  const talkative = { prompt: { tokens: tokens.slice(0, 40) }, maxTokens: 400 };
  const write = (request: Partial<RunRequest>) => ask({ ...how, ...request });
  const failure = async (request: Partial<RunRequest>): Promise<OutriderError> =>
    write(request).then(
      () => Promise.reject(new Error('the run did not fail')),
      (error: OutriderError) => error,
    );
  const load = async (cache: 'f32' | 'f16'): Promise<void> => {
    memory.most = Number.POSITIVE_INFINITY;
    await engine.load(sources, { cache, vocabularies: 'own' });
  };
  /** Bytes that a run takes beyond those of the loaded model. */
  const taken = async (cache: 'f32' | 'f16', request: Partial<RunRequest>): Promise<number> => {
    await load(cache);
    const before = memory.bytes;
    await write(request);
    return memory.bytes - before;
  };
  const leave = async (bytes: number, cache: 'f32' | 'f16' = 'f32'): Promise<void> => {
    await load(cache);
    memory.most = memory.bytes + bytes;
  };

  it('is made as small as the run needs', async () => {
    const most = await taken('f32', {});
    const whole = await write({});
    await leave(most - 1);
    expect(await write({})).toEqual(whole);
    expect(memory.bytes).toBeLessThan(memory.most);
    healthy('in a small cache');
  });

  it('is offered at f16, which then fits', async () => {
    const half = await taken('f16', long);
    await leave(half);
    const before = gpu.bytes;
    const error = await failure(long);
    expect(error).toMatchObject({ code: 'out-of-memory', remedy: { cache: 'f16' } });
    expect(error.message).toContain('a cache for 440 tokens does not fit');
    expect(error.hint).toContain('f16');
    expect(gpu.bytes).toBe(before);
    await leave(half, 'f16');
    expect(await write(long)).toHaveLength(40);
    healthy('with an f16 cache');
  });

  it('names the answer that fits, which then does', async () => {
    await leave((await taken('f16', long)) / 2, 'f16');
    const error = await failure(talkative);
    expect(error).toMatchObject({ code: 'out-of-memory', remedy: { maxTokens: expect.any(Number) } });
    const { maxTokens = 0 } = error.remedy ?? {};
    expect(maxTokens).toBeGreaterThan(20);
    expect(maxTokens).toBeLessThan(400);
    expect(error.hint).toContain(`at most ${maxTokens} tokens`);
    expect(await write({ ...talkative, maxTokens })).toHaveLength(maxTokens);
    healthy('with a shorter answer');
  });

  it('says so where nothing fits', async () => {
    await leave(1000);
    expect(await failure(long)).toMatchObject({ code: 'out-of-memory', remedy: undefined });
    healthy('without memory');
    memory.most = Number.POSITIVE_INFINITY;
    expect(await write(long)).toHaveLength(40);
  });
});
