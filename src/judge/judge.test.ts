// Judges of every kind on small models: what they are shown, that a continued text costs only its new rows, and what is
// refused.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { OutriderError } from '../base/errors.ts';
import type { Judge, JudgedStep } from '../decode/core/system.ts';
import { loadJudgeSource } from '../engine/load/judge.ts';
import { loadSource } from '../engine/load/language-model.ts';
import type { LoadedModel } from '../engine/load/loaded-models.ts';
import { scorePrompt } from '../engine/prompt-scores.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { writeOnnx } from '../testing/files/onnx-writer.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { folderSource } from '../weights/files/folder.ts';
import { layoutOf } from './input-layout.ts';
import { readJudgeConfig } from './judge-config.ts';
import { TextCursor } from './judge-cursor.ts';
import { answerOf } from './row-score.ts';

const VOCABULARY = 40;
/** Two classes a token: what a token's row says is the token's own. */
const table = Float32Array.from({ length: VOCABULARY * 2 }, (_, i) => Math.sin(i));

type Graph = Parameters<typeof writeOnnx>[0];
const perToken: Graph = {
  nodes: [
    { op: 'Gather', inputs: ['table', 'input_ids'], output: 'rows' },
    { op: 'Cast', inputs: ['attention_mask'], output: 'mask', attributes: { to: 1 } },
    { op: 'Unsqueeze', inputs: ['mask', 'last'], output: 'column' },
    { op: 'Mul', inputs: ['rows', 'column'], output: 'logits' },
  ],
  constants: {
    table: { shape: [VOCABULARY, 2], values: table },
    last: { shape: [1], values: BigInt64Array.of(2n) },
  },
  inputs: ['input_ids', 'attention_mask'],
  output: { name: 'logits', shape: [1, 'length', 2] },
};
/** One value for the whole text: the last token's. */
const pooled: Graph = {
  nodes: [
    { op: 'Gather', inputs: ['values', 'input_ids'], output: 'all' },
    { op: 'Gather', inputs: ['all', 'end'], output: 'logits', attributes: { axis: 1 } },
  ],
  constants: {
    values: { shape: [VOCABULARY], values: table.slice(0, VOCABULARY) },
    end: { shape: [1], values: BigInt64Array.of(-1n) },
  },
  inputs: ['input_ids'],
  output: { name: 'logits', shape: [1, 1] },
};

const CONFIG = { vocab_size: VOCABULARY, max_position_embeddings: 30, layout: 'prompt' };

const load = async (network: Uint8Array, config: object = CONFIG, target?: LoadedModel): Promise<Judge> => {
  const files = new Map([
    ['config.json', new TextEncoder().encode(JSON.stringify(config))],
    ['model.onnx', network],
  ]);
  return (await loadJudgeSource(await testGpu(), { kind: 'bytes', files }, { target })).model;
};

const advantage = (token: number): number => answerOf(table.subarray(2 * token, 2 * token + 2)).score;

describe('an ONNX judge', () => {
  it('answers at the last token of each candidate', async () => {
    using judge = await load(writeOnnx(perToken));
    expect([judge.gives, judge.context]).toEqual(['advantage', 30]);
    using cursor = await judge.open();
    const steps: JudgedStep[] = [{ tokens: [4, 5], by: 'draft' }];
    const scores = await cursor.score([1, 2, 3], steps, [[6, 7], [6, 9], []]);
    expect(scores.map((x) => x.toFixed(5))).toEqual([7, 9, 5].map((token) => advantage(token).toFixed(5)));
  });

  it('whose answer is no number gives an error, not a score', async () => {
    const broken = table.map((value, i) => (i === 13 ? Number.NaN : value));
    const constants = { ...perToken.constants, table: { shape: [VOCABULARY, 2], values: broken } };
    using judge = await load(writeOnnx({ ...perToken, constants }));
    using cursor = await judge.open();
    await expect(cursor.score([1], [], [[5], [6]])).rejects.toMatchObject({ code: 'bad-checkpoint' });
    expect(await cursor.score([1], [], [[5]])).toEqual([expect.closeTo(advantage(5), 5)]);
  });

  it('heeds the signal', async () => {
    using judge = await load(writeOnnx(perToken));
    using cursor = await judge.open();
    const abort = new AbortController();
    abort.abort();
    await expect(cursor.score([1], [], [[5]], abort.signal)).rejects.toMatchObject({ code: 'aborted' });
    expect(await cursor.score([1], [], [[5]])).toEqual([expect.closeTo(advantage(5), 5)]);
  });

  it('may answer once for the whole text', async () => {
    using judge = await load(writeOnnx(pooled), { ...CONFIG, gives: 'reward' });
    expect(judge.gives).toBe('reward');
    using cursor = await judge.open();
    const [found] = await cursor.score([1, 2], [], [[3, 11]]);
    expect(found).toBeCloseTo(1 / (1 + Math.exp(-(table[11] as number))), 5);
  });

  it('refuses a text that is too long, and a foreign token', async () => {
    using judge = await load(writeOnnx(perToken));
    using cursor = await judge.open();
    await expect(cursor.score(Array(30).fill(1), [], [[2]])).rejects.toMatchObject({
      message: '31 tokens exceed the 30 that this judge can read',
      overflow: { requested: 31, context: 30 },
    });
    await expect(cursor.score([40], [], [[2]])).rejects.toThrow('token 40 is outside');
    expect(await cursor.score([1], [], [[2]])).toHaveLength(1);
  });

  it.each([
    [perToken, { ...CONFIG, layout: 'sideways' }, 'layout is "sideways"'],
    [perToken, { ...CONFIG, gives: 'hope' }, 'gives is "hope"'],
    [perToken, { ...CONFIG, vocab_size: -1 }, 'vocab_size is -1'],
    [perToken, { ...CONFIG, layout: 'annotated' }, 'has no tokenizer'],
    [perToken, { ...CONFIG, layout: undefined }, 'has no tokenizer'],
    [{ ...pooled, inputs: ['input_ids', 'colour'] }, CONFIG, 'its inputs are input_ids, colour'],
    [
      {
        ...pooled,
        nodes: [{ op: 'Identity', inputs: ['input_ids'], output: 'logits' }],
        output: { name: 'logits', shape: [1, 'length'], type: 'int64' },
      },
      CONFIG,
      'of type int64',
    ],
  ] as [Graph, object, string][])('what is no judge is refused by name: %#', async (graph, config, message) => {
    const error = await load(writeOnnx(graph), config).then(
      () => null,
      (cause: OutriderError) => cause,
    );
    expect(error?.message).toContain(message);
    expect(error?.code).toBe('bad-checkpoint');
  });

  it('refuses bytes of another kind', async () => {
    await expect(load(new Uint8Array(100))).rejects.toThrow('not a network that onnxruntime can run');
  });

  it('runs in WebAssembly where there is no WebGPU for it, and says so', async () => {
    const files = new Map([
      ['config.json', new TextEncoder().encode(JSON.stringify(CONFIG))],
      ['model.onnx', writeOnnx(perToken)],
    ]);
    const source = { kind: 'bytes', files } as const;
    const { model, notice } = await loadJudgeSource(await testGpu(), source, { onnx: 'webgpu' });
    using judge = model;
    expect(notice).toMatch(/^model\.onnx runs in WebAssembly, not on WebGPU \(.+\)\.$/);
    using cursor = await judge.open();
    expect((await cursor.score([1, 2], [], [[7]]))[0]).toBeCloseTo(advantage(7), 5);
    const broken = new Map([...files, ['model.onnx', new Uint8Array(100)]]);
    const refused = loadJudgeSource(await testGpu(), { kind: 'bytes', files: broken }, { onnx: 'webgpu' });
    await expect(refused).rejects.toMatchObject({ code: 'bad-checkpoint' });
  });

  it('shares its vocabulary with the target', async () => {
    const target = {
      name: 'big',
      tokenizer: null,
      stopTokens: [],
      model: { vocabulary: 50 },
    } as unknown as LoadedModel;
    const error = await load(writeOnnx(perToken), CONFIG, target).catch((cause: OutriderError) => cause);
    expect((error as OutriderError).code).toBe('vocabulary-mismatch');
  });
});

/** One id a character. */
const letters: Tokenizer = {
  vocabulary: 1000,
  eos: [],
  hasChatTemplate: false,
  entry: (id) => String.fromCharCode(id),
  bytes: (id) => new TextEncoder().encode(String.fromCharCode(id)),
  encode: (text, { special = false } = {}) => [...(special ? [2] : []), ...Array.from(text, (c) => c.charCodeAt(0))],
  decode: (ids) => String.fromCharCode(...ids),
  chatTemplate: () => null,
  special: () => null,
  chat: () => '',
  encodeChat: () => [],
  stream: () => {
    throw new Error('not needed');
  },
};

test('layouts', () => {
  const ids = (text: string): number[] => letters.encode(text);
  const steps: JudgedStep[] = [
    { tokens: ids('one\n\n'), by: 'draft' },
    { tokens: ids('two\n\n'), by: 'target' },
  ];
  const laid = (layout: string | undefined, gives: Judge['gives'], more = {}, question: string | null = null) => {
    const layOut = layoutOf(readJudgeConfig({ layout, ...more }), gives, 'it', { own: letters, target: letters });
    const problem = { tokens: ids('why?'), question };
    const { context, candidates } = layOut(problem, steps, [ids('so\n\n'), ids('end')]);
    return [context, ...candidates].map((each) => letters.decode(each));
  };
  expect(laid('prompt', 'reward')).toEqual(['why?one\n\ntwo\n\n', 'so\n\n', 'end']);
  expect(laid('annotated', 'advantage')).toEqual([
    'why?Model 0: one\n\nModel 1: two\n\n',
    'Model 0: so\n\n',
    'Model 0: end',
  ]);
  // A published reward model: BOS, the problem's line, and every step ends with the step's token.
  expect(laid(undefined, 'reward')).toEqual(['\u0002why?\none\ntwo\n', 'so\n', 'end\n']);
  expect(laid('published', 'reward', { step_token_id: 35 })).toEqual(['\u0002why?\none#two#', 'so#', 'end#']);
  expect(laid('published', 'advantage')[0]).toBe('\u0002why?\nModel 0: one\nModel 1: two\n');
  // It reads the question in the place of a prompt with a chat template; a judge of the prompt's tokens does not.
  expect(laid('published', 'reward', {}, 'really?')[0]).toBe('\u0002really?\none\ntwo\n');
  expect(laid('prompt', 'reward', {}, 'really?')[0]).toBe('why?one\n\ntwo\n\n');
  expect(() => layoutOf(readJudgeConfig({}), 'reward', 'it', { own: letters, target: null })).toThrow('it reads text');
});

test('of a continued text only the new rows are read', async () => {
  const read: number[][] = [];
  let kept: number[] = [];
  const reader = {
    capacity: 100,
    rewind(length: number) {
      kept = kept.slice(0, length);
    },
    read: async (tokens: readonly number[]) => {
      read.push([...tokens]);
      kept.push(...tokens);
      return tokens.map((token) => [token / 10]);
    },
    [Symbol.dispose]() {},
  };
  const layOut = layoutOf(readJudgeConfig({ layout: 'prompt' }), 'reward', 'it', { own: null, target: null });
  using cursor = new TextCursor(reader, layOut, 100);
  const reward = (token: number): number => 1 / (1 + Math.exp(-token / 10));
  expect(
    await cursor.score(
      [1, 2],
      [],
      [
        [3, 4],
        [3, 5, 6],
      ],
    ),
  ).toEqual([reward(4), reward(6)]);
  expect(await cursor.score([1, 2], [{ tokens: [3, 4], by: 'draft' }], [[7]])).toEqual([reward(7)]);
  expect(await cursor.score([1, 2], [{ tokens: [3, 4], by: 'draft' }], [[7], []])).toEqual([reward(7), reward(4)]);
  expect(read).toEqual([
    [1, 2, 3, 4],
    [5, 6],
    [4, 7],
  ]);
  expect(kept).toEqual([1, 2, 3, 4, 7]);
  cursor.forget();
  expect(kept).toEqual([]);
  expect(await cursor.score([1, 2], [], [[3, 4]])).toEqual([reward(4)]);
  expect(read.at(-1)).toEqual([1, 2, 3, 4]);
});

test('classes are ordered: the score is where the step is expected among them', () => {
  expect(answerOf([0]).score).toBe(0.5);
  expect(answerOf([0, Math.log(3)]).score).toBeCloseTo(0.75);
  expect(answerOf([-50, -50, 50, -50]).score).toBeCloseTo(2 / 3);
  expect(answerOf([1000, 1000]).probabilities).toEqual([0.5, 0.5]);
});

test('the bundled router gives the same scores on our kernels and as ONNX', async () => {
  const folder = (name: string): string => join(import.meta.dirname, '../../public/models', name);
  const gpu = await testGpu();
  const target = await loadSource(gpu, await folderSource(folder('draft')));
  using _ = target.model;
  const scores: number[] = [];
  for (const path of ['router', 'router/model.onnx']) {
    const { model } = await loadJudgeSource(gpu, await folderSource(folder(path)), { target });
    using judge = model;
    expect(judge.gives).toBe('advantage');
    using cursor = await judge.open({ capacity: 64 });
    const problem = target.tokenizer?.encode('<bos><user>Tom has 3 apples and buys 4 more. How many?<assistant>') ?? [];
    const step = target.tokenizer?.encode('Tom has 3 + 4 = 9 apples.\n\n') ?? [];
    scores.push(...(await cursor.score(problem, [], [step, step.slice(0, 5)])));
  }
  const [a, b, c, d] = scores as [number, number, number, number];
  expect(Math.abs(a - c)).toBeLessThan(0.02);
  expect(Math.abs(b - d)).toBeLessThan(0.02);
  expect(a).not.toBeCloseTo(b, 4);
});

describe('a language model as a judge', () => {
  const folder = (name: string): string => join(import.meta.dirname, '../../public/models', name);

  it('gives the probability of a step’s least likely token, however the text was read', async () => {
    const gpu = await testGpu();
    const target = await loadSource(gpu, await folderSource(folder('draft')));
    using _ = target.model;
    const load = (gives?: Judge['gives']) =>
      folderSource(folder('draft')).then((source) => loadJudgeSource(gpu, source, { target, gives }));
    const [{ model }, { model: opposite }] = [await load(), await load('advantage')];
    using judge = model;
    using router = opposite;
    expect([judge.gives, judge.family, router.gives]).toEqual(['reward', 'qwen3', 'advantage']);
    const encode = (text: string) => target.tokenizer?.encode(text) ?? [];
    const problem = encode('<bos><user>Tom has 3 apples and buys 4 more. How many?<assistant>');
    const [kept, right, wrong] = ['Tom buys 4 more.\n\n', 'He has 3 + 4 = 7.\n\n', 'He has 3 + 4 = 9.\n\n'].map(encode);
    const steps: JudgedStep[] = [{ tokens: kept as number[], by: 'draft' }];

    const least = async (step: readonly number[]): Promise<number> => {
      const text = [...problem, ...(kept as number[]), ...step];
      const scores = await scorePrompt(target.model, text, 0, { cache: 'f32', signal: new AbortController().signal });
      return Math.exp(Math.min(...scores.slice(-step.length).map(({ logprob }) => logprob as number)));
    };
    const expected = [await least(right as number[]), await least(wrong as number[])];
    using cursor = await judge.open({ capacity: 128 });
    const candidates = [right as number[], wrong as number[]];
    const [first] = await cursor.score(problem, [], [kept as number[]]);
    expect(first).toBeGreaterThan(0);
    const scores = await cursor.score(problem, steps, candidates);
    scores.forEach((score, i) => {
      expect(score).toBeCloseTo(expected[i] as number, 6);
    });
    // What was read before does not matter, by a bit.
    expect(await cursor.score(problem, steps, candidates.toReversed())).toEqual(scores.toReversed());
    cursor.forget();
    expect(await cursor.score(problem, steps, candidates)).toEqual(scores);
    using other = await router.open({ capacity: 128 });
    expect(await other.score(problem, steps, candidates)).toEqual(scores.map((score) => 1 - score));
    using small = await judge.open({ capacity: 20 });
    await expect(small.score(problem, steps, candidates)).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('whose weights are broken gives an error, not a score', async () => {
    const gpu = await testGpu();
    const files = new Map(
      ['config.json', 'model.safetensors'].map((name) => [
        name,
        new Uint8Array(readFileSync(join(folder('draft'), name))),
      ]),
    );
    files.get('model.safetensors')?.fill(0xff, -100); // the last tensor's end: NaN at f16
    const { model } = await loadJudgeSource(gpu, { kind: 'bytes', files });
    using judge = model;
    using cursor = await judge.open({ capacity: 32 });
    await expect(cursor.score([1, 3, 50], [], [[84, 73]])).rejects.toMatchObject({ code: 'bad-checkpoint' });
  });

  it('must have the vocabulary of the target', async () => {
    const gpu = await testGpu();
    const target = await loadSource(gpu, await folderSource(folder('draft')));
    using _ = target.model;
    const other = { ...target, tokenizer: null, model: { vocabulary: 40 } } as unknown as LoadedModel;
    await expect(loadJudgeSource(gpu, await folderSource(folder('mid')), { target: other })).rejects.toMatchObject({
      code: 'vocabulary-mismatch',
    });
  });
});

describe.skipIf(noShared)('published checkpoints', () => {
  it('a reward model continues from the rows it has, and gives the reference rewards', async () => {
    const name = 'value-head-tiny';
    const { input_ids, positions, rewards } = JSON.parse(
      readFileSync(shared('golden', name, 'case.json'), 'utf8'),
    ) as Record<'input_ids' | 'positions' | 'rewards', number[]>;
    const gpu = await testGpu();
    const source = await folderSource(shared('golden', name));
    await expect(loadJudgeSource(gpu, source)).rejects.toThrow('reads text and has no tokenizer');
    // The same checkpoint with a word on its layout.
    const files = asBytes(['config.json', 'model.safetensors'], name, { layout: 'prompt' });
    const { model } = await loadJudgeSource(gpu, { kind: 'bytes', files });
    using judge = model;
    expect([judge.gives, judge.family, judge.context]).toEqual(['reward', 'qwen2', 512]);
    using cursor = await judge.open({ capacity: 40 });
    const steps: JudgedStep[] = [];
    let from = 3;
    for (const [i, end] of positions.entries()) {
      const step = input_ids.slice(from, end + 1);
      const [reward] = await cursor.score(input_ids.slice(0, 3), steps, [step]);
      expect(reward).toBeCloseTo(rewards[i] as number, 4);
      steps.push({ tokens: step, by: 'draft' });
      from = end + 1;
    }
  });
});

const asBytes = (names: readonly string[], name: string, more: object): Map<string, Uint8Array> =>
  new Map(
    names.map((file) => {
      const bytes = new Uint8Array(readFileSync(shared('golden', name, file)));
      if (file !== 'config.json') return [file, bytes];
      const json = JSON.parse(new TextDecoder().decode(bytes)) as object;
      return [file, new TextEncoder().encode(JSON.stringify({ ...json, ...more }))];
    }),
  );
