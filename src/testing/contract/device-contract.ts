// The promise of exact systems on real models and a real adapter: an engine with all the bundled models, the ways of
// drafting that are compared with plain decoding, and how many answers differ.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KnobValue } from '../../decode/core/knobs.ts';
import { createEngine, type Engine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import type { ModelSources } from '../../engine/sources.ts';
import type { Gpu } from '../../gpu/device.ts';
import { committedTokens, type TraceEvent } from '../../trace/index.ts';
import { folderSource } from '../../weights/files/folder.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { shared } from '../goldens/shared.ts';

const PUBLIC = resolve(import.meta.dirname, '../../../public');

/** `OUTRIDER_FULL=1` runs every prompt on every adapter (docs/log.md has the figures); CI runs as many as it has time for. */
export const FULL = process.env.OUTRIDER_FULL === '1';

export interface Way {
  readonly system: string;
  readonly knobs?: Readonly<Record<string, KnobValue>>;
}

/** How `way` is to be asked for: it speculates even where that loses time. */
export const asked = ({ system, knobs = {} }: Way) => ({ system, knobs: { ...knobs, 'fall-back': 'off' } });

/** Every system of the bundled family, with every way of verifying. */
export const WAYS: readonly Way[] = [
  { system: 'draft-model' },
  { system: 'prompt-lookup' },
  { system: 'dflash', knobs: { 'block-size': 8 } },
  { system: 'dflash', knobs: { 'block-size': 16 } },
  { system: 'blockpilot' },
  { system: 'eagle3', knobs: { shape: 'chain' } },
  { system: 'eagle3', knobs: { shape: 'tree' } },
];

export const collect = async (engine: Engine, request: RunRequest): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run(request)) events.push(event);
  return events;
};

export const loadEngine = async (gpu: Gpu, sources: ModelSources, precision?: Precision): Promise<Engine> => {
  const engine = createEngine({ gpu });
  await engine.load(sources, { precision });
  return engine;
};

export const bundledEngine = async (gpu: Gpu, precision: Precision): Promise<Engine> => {
  const source = (name: string) => folderSource(resolve(PUBLIC, 'models', name));
  const names = ['target', 'draft', 'dflash', 'eagle3', 'blockpilot'];
  const [target, draft, dflash, eagle3, policy] = await Promise.all(names.map(source));
  if (!target || !draft || !dflash || !eagle3 || !policy) throw new Error('a bundled model is missing');
  return loadEngine(gpu, { target, draft, dflash, eagle3, policy }, precision);
};

const asConversations = (texts: readonly string[]): RunRequest['prompt'][] =>
  texts.map((content) => ({ messages: [{ role: 'user', content }] }));

/** DeviceTensor-out problems as conversations. */
export const problems = (count: number): RunRequest['prompt'][] =>
  asConversations(
    (JSON.parse(readFileSync(resolve(PUBLIC, 'problems.json'), 'utf8')) as { question: string }[])
      .slice(0, count)
      .map(({ question }) => question),
  );

/** A published model, drafting for itself. */
export const smollm2Engine = async (gpu: Gpu, precision: Precision): Promise<Engine> => {
  const gguf = () => folderSource(shared('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf'));
  return loadEngine(gpu, { target: await gguf(), draft: await gguf() }, precision);
};

export const SMOLLM2_WAYS: readonly Way[] = [
  { system: 'prompt-lookup' },
  { system: 'draft-model', knobs: { gamma: 3 } },
];

/** For a model of general knowledge; some of them have it copy. */
export const questions = (count: number): RunRequest['prompt'][] =>
  asConversations(
    [
      'Repeat this sentence twice, word for word: The lighthouse keeper counted nine ships before the fog came in.',
      'Write two sentences about a lighthouse in winter.',
      'List the days of the week.',
      'What is the capital of France?',
      'Explain in plain words why the sky is blue.',
      'Write a list of five fruits.',
      'Count from one to twenty.',
      'Copy this line exactly: apples, pears, plums, apples, pears, plums.',
      'Who wrote Hamlet?',
      'Name three colours.',
    ].slice(0, count),
  );

/** Answers that differ from plain decoding's, by way. */
export const differences = async (
  engine: Engine,
  ways: readonly Way[],
  prompts: readonly RunRequest['prompt'][],
  request: Omit<RunRequest, 'prompt' | 'system' | 'knobs'>,
): Promise<Readonly<Record<string, number>>> => {
  const different = new Map(ways.map((way) => [JSON.stringify(way), 0]));
  const plain: number[][] = [];
  for (const prompt of prompts) plain.push(committedTokens(await collect(engine, { ...request, prompt })));
  // One way after the other: each keeps a cache of its own shape.
  for (const way of ways)
    for (const [i, prompt] of prompts.entries()) {
      const tokens = committedTokens(await collect(engine, { ...request, ...asked(way), prompt }));
      const name = JSON.stringify(way);
      if (tokens.join() !== plain[i]?.join()) different.set(name, (different.get(name) ?? 0) + 1);
    }
  return Object.fromEntries(different);
};

export const NONE = (ways: readonly Way[]) => Object.fromEntries(ways.map((way) => [JSON.stringify(way), 0]));
