// Reference cases (../shared/golden): inputs and expected tensors, models loaded from them, and the measure of error.
import { readFileSync } from 'node:fs';
import type { Gpu } from '../../gpu/device.ts';
import type { Cursor, LanguageModel, Sampling } from '../../model/interface.ts';
import type { LoadModelOptions } from '../../model/load/checkpoint-tensors.ts';
import { loadModel } from '../../model/load/load-model.ts';
import type { Transformer } from '../../model/transformer.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { openCheckpoint } from '../../weights/open.ts';
import { shared } from './shared.ts';

/** The tiny models whose layers differ from those of Llama, Qwen2 and Qwen3. A new family with a golden joins them. */
export const TINY_FAMILIES = [
  'lfm2-tiny',
  'qwen3_5-tiny',
  'gemma3-tiny',
  'gemma2-tiny',
  'phi3-tiny',
  'phi3-longrope-tiny',
  'smollm3-tiny',
  'granite-tiny',
  'olmo2-tiny',
];

interface TensorFile {
  readonly file: string;
  readonly shape: readonly number[];
}

/** The fields of case.json that the model's tests read; each case has the ones it needs. */
export interface GoldenCase {
  readonly prompt: readonly number[];
  readonly greedy: readonly number[];
  readonly tree: {
    readonly prefix: readonly number[];
    readonly tokens: readonly number[];
    readonly parents: readonly number[];
  };
  readonly rollback: {
    readonly prompt: readonly number[];
    readonly rounds: readonly {
      readonly start: number;
      readonly tokens: readonly number[];
      readonly accepted: number;
      readonly logits: string;
    }[];
    readonly kept: readonly number[];
  };
  /** Of longrope cases: past the original length, and greedy steps across it. */
  readonly long: { readonly prompt: readonly number[]; readonly greedy: readonly number[] };
  readonly crossing?: { readonly prompt: readonly number[]; readonly greedy: readonly number[] };
  readonly files: Readonly<Record<string, TensorFile>>;
  readonly models: Readonly<
    Record<
      string,
      { readonly file: string; readonly greedy: readonly number[]; readonly long_greedy?: readonly number[] }
    >
  >;
  /** Of a GGUF file with longrope: past the original length. */
  readonly long_prompt?: readonly number[];
}

export const readGolden = (name: string): GoldenCase =>
  JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8')) as GoldenCase;

export const goldenTensor = (name: string, file: string): Float32Array =>
  new Float32Array(new Uint8Array(readFileSync(shared('golden', name, file))).buffer);

/** A golden drafter as its folder has it, or as GGUF. */
export const openGolden = async (name: string, gguf?: Uint8Array): Promise<Checkpoint> =>
  openCheckpoint(
    gguf ? { kind: 'bytes', files: new Map([[`${name}.gguf`, gguf]]) } : await folderSource(shared('golden', name)),
  );

/** `path` is a folder or a file below ../shared. */
export const loadShared = async (gpu: Gpu, path: string, options: LoadModelOptions = {}): Promise<Transformer> => {
  using checkpoint = await openCheckpoint(await folderSource(shared(path)));
  return await loadModel(gpu, checkpoint, options);
};

/** Largest difference, in standard deviations of what was expected. */
export const relativeError = (actual: ArrayLike<number>, expected: Float32Array): number => {
  if (actual.length !== expected.length) throw new Error(`${actual.length} values, expected ${expected.length}`);
  const mean = expected.reduce((sum, x) => sum + x, 0) / expected.length;
  const variance = expected.reduce((sum, x) => sum + (x - mean) ** 2, 0) / expected.length;
  // A NaN must not pass: Math.max would keep it, and `<` refuses it.
  return (
    expected.reduce((worst, x, i) => Math.max(worst, Math.abs(x - (actual[i] as number))), 0) / Math.sqrt(variance)
  );
};

export const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };

export const chain = <T>(tokens: readonly T[]) => ({ tokens, parents: tokens.map((_, i) => i - 1) });

export interface Scored {
  readonly logits: Float32Array;
  /** One tensor a tapped layer. */
  readonly taps: readonly Float32Array[];
}

const joined = (parts: readonly Float32Array[]): Float32Array => {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** Logits and taps of every row, `chunk` rows a pass; the tokens are committed. */
export const scoreRows = async (cursor: Cursor, tokens: readonly number[], chunk = 16): Promise<Scored> => {
  const logits: Float32Array[] = [];
  const taps: Float32Array[][] = [];
  for (let from = 0; from < tokens.length; from += chunk) {
    const part = tokens.slice(from, from + chunk);
    const pass = cursor.forward(chain(part));
    logits.push(await pass.logits.read());
    for (const [i, tap] of pass.taps.entries()) {
      taps[i] ??= [];
      taps[i].push(await tap.read());
    }
    pass.accept(part.map((_, i) => i));
  }
  return { logits: joined(logits), taps: taps.map(joined) };
};

/** Plain greedy decoding: the tokens after the prompt. */
export const greedy = async (model: LanguageModel, prompt: readonly number[], count: number): Promise<number[]> => {
  using cursor = await model.open({ capacity: prompt.length + count });
  const out: number[] = [];
  let pass = await cursor.extend(prompt);
  for (;;) {
    const [choice] = await pass.draw(0, GREEDY).read();
    out.push((choice as { token: number }).token);
    if (out.length === count) return out;
    pass = cursor.forward(chain(out.slice(-1)));
    pass.accept([0]);
  }
};
