// From "this judge, please" to one that scores: on our own kernels where its weights are there, else as ONNX.

import type { LoadedJudge, LoadedModel, LoadSourceOptions } from '../engine/load/language-model.ts';
import { checkVocabulary } from '../engine/load/vocabulary.ts';
import type { Gpu } from '../gpu/device.ts';
import type { FileSet } from '../weights/files/byte-source.ts';
import { fileSet, openCheckpoint, type Source } from '../weights/open.ts';
import { loadScoredJudge } from './device-judge.ts';
import type { VocabularyJudge } from './judge-cursor.ts';
import { loadOnnxJudge, NETWORK } from './onnx-judge.ts';

const WEIGHTS = ['model.safetensors', 'model.safetensors.index.json'];

const holds = async (files: FileSet, name: string, signal: AbortSignal | undefined): Promise<boolean> => {
  if (files.names) return files.names.includes(name);
  using file = await files.open(name, { signal, optional: true });
  return file !== null;
};

/** The network was named, or is all there is. */
export const isOnnx = async (files: FileSet, signal: AbortSignal | undefined): Promise<boolean> => {
  if (files.entry) return files.entry.endsWith('.onnx');
  for (const name of WEIGHTS) if (await holds(files, name, signal)) return false;
  return holds(files, NETWORK, signal);
};

export interface LoadJudgeOptions extends LoadSourceOptions {
  /** Whose answers it will read: a judge of published layout reads them as text, any other shares its vocabulary. */
  readonly target?: LoadedModel | undefined;
}

const load = async (
  gpu: Gpu,
  source: Source,
  options: LoadJudgeOptions,
): Promise<{ name: string; judge: VocabularyJudge; notice?: string | undefined }> => {
  const { target, signal, store, precision, onnx, onProgress } = options;
  const download = (loaded: number): void => onProgress?.({ phase: 'download', loaded, total: loaded });
  const files = fileSet(source, { signal, store, onProgress: download });
  const words = target?.tokenizer ?? null;
  if (await isOnnx(files, signal))
    return { name: files.name, ...(await loadOnnxJudge(files, words, { signal, onnx })) };
  using checkpoint = await openCheckpoint(source, { signal, store, onProgress: download });
  const judge = await loadScoredJudge(gpu, checkpoint, words, { precision, signal, onProgress });
  return { name: checkpoint.name, judge };
};

/** A judge that is shown the target's very tokens must mean the same by them. */
const checkWords = (
  name: string,
  { sharesVocabulary, vocabulary, tokenizer }: VocabularyJudge,
  target: LoadedModel,
): void => {
  if (sharesVocabulary) checkVocabulary(target, { name, tokenizer, model: { vocabulary } });
};

export const loadJudge = async (gpu: Gpu, source: Source, options: LoadJudgeOptions): Promise<LoadedJudge> => {
  const { name, judge, notice } = await load(gpu, source, options);
  try {
    if (options.target) checkWords(name, judge, options.target);
    return { name, model: judge, notice };
  } catch (error) {
    judge[Symbol.dispose]();
    throw error;
  }
};
