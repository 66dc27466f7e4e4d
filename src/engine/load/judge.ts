// Loads a judge: on our own kernels when the folder has weights (a language model judges by its probabilities, and so do
// layers on top of the draft), otherwise as an ONNX network.

import type { Judge } from '../../decode/core/system.ts';
import type { Gpu } from '../../gpu/device.ts';
import { loadScoredJudge } from '../../judge/device-judge.ts';
import { loadDraftJudge } from '../../judge/draft-judge.ts';
import type { VocabularyJudge } from '../../judge/judge-cursor.ts';
import { loadLanguageJudge } from '../../judge/language-judge.ts';
import { isOnnx, loadOnnxJudge } from '../../judge/onnx-judge.ts';
import { isScored, readsDraftStates } from '../../model/families/families.ts';
import { probed } from '../../weights/files/probed.ts';
import { openCheckpoint, type Source } from '../../weights/open.ts';
import { loading, openFiles } from './checkpoint.ts';
import type { LoadedJudge, LoadedModel, LoadSourceOptions } from './loaded-models.ts';
import { checkVocabulary } from './vocabulary.ts';

interface LoadJudgeOptions extends LoadSourceOptions {
  /** Whose answers it will read: a judge of published layout reads them as text, any other shares its vocabulary. */
  readonly target?: LoadedModel | undefined;
  /** Whose hidden states it may read. */
  readonly draft?: LoadedModel | undefined;
  /** What a language model's score shall be; other judges say it themselves. Default: a reward. */
  readonly gives?: Judge['gives'] | undefined;
}

const open = async (
  gpu: Gpu,
  source: Source,
  options: LoadJudgeOptions,
): Promise<{ name: string; judge: VocabularyJudge; notice?: string | undefined }> => {
  const { target, draft, gives = 'reward', signal, precision, onnx, onProgress } = options;
  using files = probed(openFiles(source, options));
  const words = target?.tokenizer ?? null;
  if (await isOnnx(files, signal))
    return { name: files.name, ...(await loadOnnxJudge(files, words, { signal, onnx })) };
  using checkpoint = await openCheckpoint({ kind: 'folder', files }, { signal });
  const how = { precision, signal, onProgress };
  const load = (): Promise<VocabularyJudge> => {
    if (isScored(checkpoint.tensors)) return loadScoredJudge(gpu, checkpoint, words, how);
    if (readsDraftStates(checkpoint.config)) return loadDraftJudge(gpu, checkpoint, draft?.model, gives, how);
    return loadLanguageJudge(gpu, checkpoint, gives, how);
  };
  return { name: checkpoint.name, judge: await load() };
};

/**
 * A reward model, a router, a language model, or layers on top of the draft. One that reads the target's own tokens must
 * have the target's vocabulary.
 */
export const loadJudgeSource = async (
  gpu: Gpu,
  source: Source,
  options: LoadJudgeOptions = {},
): Promise<LoadedJudge> => {
  const { name, judge, notice } = await loading(source, options, () => open(gpu, source, options));
  const { sharesVocabulary, vocabulary, tokenizer } = judge;
  try {
    if (options.target && sharesVocabulary) checkVocabulary(options.target, { name, tokenizer, model: { vocabulary } });
    return { name, model: judge, notice };
  } catch (error) {
    judge[Symbol.dispose]();
    throw error;
  }
};
