// Loads the auxiliary models that are one small ONNX network each: block-size policies and sentence encoders.
import { openBlockPolicy } from '../../judge/block-policy.ts';
import { openSentences } from '../../judge/sentences.ts';
import type { Source } from '../../weights/open.ts';
import { openFiles } from './checkpoint.ts';
import type { LoadedPolicy, LoadedSentences, LoadSourceOptions } from './loaded-models.ts';

export const loadPolicySource = async (source: Source, options: LoadSourceOptions): Promise<LoadedPolicy> => {
  const files = openFiles(source, options);
  return { name: files.name, model: await openBlockPolicy(files, options.signal) };
};

export const loadSentencesSource = async (source: Source, options: LoadSourceOptions): Promise<LoadedSentences> => {
  const files = openFiles(source, options);
  return { name: files.name, ...(await openSentences(files, options)) };
};
