// Loads the auxiliary models that are one small ONNX network each: block-size policies and sentence encoders.
import { openBlockPolicy } from '../../judge/block-policy.ts';
import { openSentences } from '../../judge/sentences.ts';
import type { Source } from '../../weights/open.ts';
import { loading, openFiles } from './checkpoint.ts';
import type { LoadedPolicy, LoadedSentences, LoadSourceOptions } from './loaded-models.ts';

export const loadPolicySource = async (source: Source, options: LoadSourceOptions): Promise<LoadedPolicy> => {
  const files = openFiles(source, options);
  const model = await loading(source, options, () => openBlockPolicy(files, options.signal));
  return { name: files.name, model };
};

export const loadSentencesSource = async (source: Source, options: LoadSourceOptions): Promise<LoadedSentences> => {
  const files = openFiles(source, options);
  return { name: files.name, ...(await loading(source, options, () => openSentences(files, options))) };
};
