// Layers on top of the draft are a judge: the same bits as one model of all the layers gives, whether the draft wrote the
// text or reads a copy of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OutriderError } from '../base/errors.ts';
import type { JudgeCursor, JudgedStep } from '../decode/core/system.ts';
import { createEngine } from '../engine/engine.ts';
import { loadJudgeSource } from '../engine/load/judge.ts';
import { loadSource } from '../engine/load/language-model.ts';
import { chain } from '../model/check-tree.ts';
import { loadModel } from '../model/load/load-model.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { tinyCheckpoint } from '../testing/toys/tiny.ts';
import type { Checkpoint, TensorInfo } from '../weights/checkpoint.ts';
import { folderSource } from '../weights/files/folder.ts';
import { loadDraftJudge } from './draft-judge.ts';
import { loadLanguageJudge } from './language-judge.ts';

const LAYER = ['input_layernorm', 'post_attention_layernorm', 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj'];
const ATTENTION = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'q_norm', 'k_norm'].map((name) => `self_attn.${name}`);
const layer = (own: number, inWhole: number): [string, string][] =>
  [...LAYER, ...ATTENTION].map((name) => [
    `model.layers.${own}.${name}.weight`,
    `model.layers.${inWhole}.${name}.weight`,
  ]);
const NORM = ['model.norm.weight', 'model.norm.weight'] as const;

const whole = tinyCheckpoint({ config: { num_hidden_layers: 3, tie_word_embeddings: false } });

/** A checkpoint of some tensors of `whole`, by their own names. */
const partOf = (names: readonly (readonly [own: string, inWhole: string])[], config: object): Checkpoint => {
  const tensors = new Map<string, TensorInfo>(
    names.map(([own, inWhole]) => [own, { ...(whole.tensors.get(inWhole) as TensorInfo), name: own }]),
  );
  return {
    ...whole,
    config: { ...whole.config, tie_word_embeddings: true, ...config },
    tensors,
    async *stream({ wanted } = {}) {
      for await (const block of whole.stream())
        for (const [own, inWhole] of names)
          if (inWhole === block.tensor.name && wanted?.(own) !== false)
            yield { ...block, tensor: tensors.get(own) as TensorInfo };
    },
  };
};

const EMBEDDING = 'model.embed_tokens.weight';
const draftPart = partOf([[EMBEDDING, EMBEDDING], ...layer(0, 0), ...layer(1, 1), NORM], { num_hidden_layers: 2 });
const judgePart = (config: object = {}): Checkpoint =>
  partOf([[EMBEDDING, 'lm_head.weight'], ...layer(0, 2), NORM], {
    num_hidden_layers: 1,
    reads: 'draft-states',
    ...config,
  });

const text = Array.from({ length: 105 }, (_, i) => (i * i * 7 + 3 * i + Math.floor(i / 10)) % 50);
const problem = text.slice(0, 41);
const steps: JudgedStep[] = [
  { tokens: text.slice(41, 45), by: 'draft' },
  { tokens: text.slice(45, 60), by: 'target' },
];

/** A first step, then two candidates for the third, then a fourth of more rows than a pass has. */
const ask = async (cursor: JudgeCursor): Promise<number[]> => [
  ...(await cursor.score(problem, [], [text.slice(41, 45)])),
  ...(await cursor.score(problem, steps, [text.slice(60, 65), [1, 2]])),
  ...(await cursor.score(problem, [...steps, { tokens: text.slice(60, 65), by: 'draft' }], [text.slice(65, 105)])),
];

test('the bits of one model of all the layers', async () => {
  const gpu = await testGpu();
  using draft = await loadModel(gpu, draftPart);
  using judge = await loadDraftJudge(gpu, judgePart(), draft, 'reward', {});
  using router = await loadDraftJudge(gpu, judgePart(), draft, 'advantage', {});
  using reference = await loadLanguageJudge(gpu, whole, 'reward', {});
  using expected = await reference.open();
  using cursor = await judge.open();
  const scores = await ask(expected);
  expect(new Set(scores).size).toBe(4);
  expect(await ask(cursor)).toEqual(scores);
  expect(await ask(cursor)).toEqual(scores);
  cursor.forget();
  expect(await ask(cursor)).toEqual(scores);
  using other = await router.open();
  expect(await ask(other)).toEqual(scores.map((score) => 1 - score));
  expect([judge.family, judge.readsDraft, judge.vocabulary, judge.context]).toEqual(['qwen3', true, 50, 160]);

  // The draft has written the text itself, a token or several a pass, and some tokens more.
  using written = await draft.open({ pool: true });
  const write = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i += 3) {
      const tokens = text.slice(i, Math.min(i + 3, to));
      written.forward(chain(tokens)).accept([...tokens.keys()]);
    }
  };
  using reading = await judge.open();
  await written.extend(text.slice(0, 41));
  await write(41, 52);
  const signal = new AbortController().signal;
  expect(await reading.score(problem, [], [text.slice(41, 45)], signal, written)).toEqual(scores.slice(0, 1));
  written.rewind(45); // the target wrote that step
  await written.extend(text.slice(45, 60));
  await write(60, 64);
  expect(await reading.score(problem, steps, [text.slice(60, 65)], signal, written)).toEqual(scores.slice(1, 2));
  await write(64, 104);
  const longer: JudgedStep[] = [...steps, { tokens: text.slice(60, 65), by: 'draft' }];
  expect(await reading.score(problem, longer, [text.slice(65, 105)], signal, written)).toEqual(scores.slice(3));

  // A copy has the precision of the draft's cache, because the rows of both serve later steps.
  using small = await draft.open({ pool: true, cache: 'q8' });
  await small.extend(text.slice(0, 44));
  using both = await judge.open({ cache: 'q8' });
  const [copied] = await both.score(problem, [], [text.slice(41, 45)]);
  expect(copied).not.toBe(scores[0]);
  both.forget();
  expect(await both.score(problem, [], [text.slice(41, 45)], signal, small)).toEqual([copied]);
});

test('it says what it needs', async () => {
  const gpu = await testGpu();
  using draft = await loadModel(gpu, draftPart);
  const problemOf = (loading: Promise<Disposable>): Promise<string> =>
    loading.then(
      (made) => {
        made[Symbol.dispose]();
        return 'nothing';
      },
      (error: OutriderError) => `${error.code}: ${error.message} ${error.hint}`,
    );
  const bytes = gpu.bytes;
  expect(await problemOf(loadDraftJudge(gpu, judgePart(), undefined, 'reward', {}))).toContain('no draft is loaded');
  expect(
    await problemOf(loadDraftJudge(gpu, judgePart({ tie_word_embeddings: false }), draft, 'reward', {})),
  ).toContain('tie_word_embeddings');
  using wide = await loadModel(gpu, tinyCheckpoint({ config: { hidden_size: 64 } }));
  expect(await problemOf(loadDraftJudge(gpu, judgePart(), wide, 'reward', {}))).toBe(
    "bad-checkpoint: tiny reads hidden states of 32 numbers, and the draft's have 64 Load the draft that it was trained on.",
  );
  wide[Symbol.dispose]();
  expect(gpu.bytes).toBe(bytes);
  using judge = await loadDraftJudge(gpu, judgePart(), draft, 'reward', {});
  using cursor = await judge.open({ capacity: 20 });
  await expect(cursor.score(problem, [], [[1]])).rejects.toMatchObject({ code: 'bad-request' });
  using blind = await draft.open();
  await blind.extend(text.slice(0, 9));
  await expect(cursor.score(text.slice(0, 5), [], [text.slice(5, 10)], undefined, blind)).rejects.toThrow(
    'keeps no hidden states',
  );
  // What has failed does not change what is read next.
  using fresh = await judge.open();
  expect(await cursor.score(text.slice(0, 5), [], [text.slice(5, 10)])).toEqual(
    await fresh.score(text.slice(0, 5), [], [text.slice(5, 10)]),
  );
});

const PROBLEMS = join(import.meta.dirname, '../../public/problems-validation.json');
const folder = (name: string): string => join(import.meta.dirname, '../../public/models', name);

test('a config that reads something unknown is refused, and so is a judge as a language model', async () => {
  const gpu = await testGpu();
  const json = JSON.parse(readFileSync(join(folder('draft-judge'), 'config.json'), 'utf8')) as object;
  const files = new Map([
    ['config.json', new TextEncoder().encode(JSON.stringify({ ...json, reads: 'minds' }))],
    ['model.safetensors', new Uint8Array(readFileSync(join(folder('draft-judge'), 'model.safetensors')))],
  ]);
  const draft = await loadSource(gpu, await folderSource(folder('draft')));
  using _ = draft.model;
  await expect(loadJudgeSource(gpu, { kind: 'bytes', files }, { draft })).rejects.toThrow(
    'reads is "minds"; expected draft-states',
  );
  await expect(loadSource(gpu, await folderSource(folder('draft-judge')))).rejects.toThrow('writes no text');
});

test('rsd and arbitrage score by the states that the draft has of what it wrote; what reads copies agrees', async () => {
  const gpu = await testGpu();
  const [target, draft] = [
    await loadSource(gpu, await folderSource(folder('target'))),
    await loadSource(gpu, await folderSource(folder('draft'))),
  ];
  const load = async (gives: 'reward' | 'advantage') =>
    loadJudgeSource(gpu, await folderSource(folder('draft-judge')), { target, draft, gives });
  const [prm, router] = [await load('reward'), await load('advantage')];
  const engine = createEngine({ gpu });
  await engine.load({ target, draft, prm, router });
  const problems = JSON.parse(readFileSync(PROBLEMS, 'utf8')) as { question: string }[];
  const answers: string[] = [];
  const runs = [
    ['rsd', {}, 0],
    ['rsd', { delta: 0.9 }, 1],
    ['rsd', { delta: 0.9 }, 2],
    ['arbitrage', { tau: 0.1 }, 1],
    ['arbitrage', { tau: 0.1 }, 2],
    ['best-of-n', { n: 2 }, 0],
  ] as const;
  for (const [system, knobs, i] of runs) {
    const content = problems[i]?.question as string;
    let read: readonly number[] = [];
    const written: JudgedStep[] = [];
    let candidate: readonly number[] = [];
    using judge = await (system === 'arbitrage' ? router : prm).model.open();
    for await (const event of engine.run({
      prompt: { messages: [{ role: 'user', content }] },
      system,
      knobs,
      maxTokens: 160,
    })) {
      if (event.type === 'run') read = event.prompt;
      if (event.type === 'candidates') candidate = event.tokens[0] as readonly number[];
      if (event.type === 'route' && system !== 'best-of-n') {
        const [score] = await judge.score(read, written, [candidate]);
        expect(event.score).toBe(score);
        if (Object.keys(knobs).length === 0) expect(event.threshold).toBe(0.87); // as measured with this judge
      }
      if (event.type === 'route') answers.push(`${system} ${event.to}`);
      if (event.type === 'step') written.push({ tokens: event.ids as readonly number[], by: event.by as 'draft' });
    }
  }
  expect(new Set(answers)).toEqual(
    new Set(['rsd draft', 'rsd target', 'arbitrage draft', 'arbitrage target', 'best-of-n draft']),
  );
  await engine.close();
});
