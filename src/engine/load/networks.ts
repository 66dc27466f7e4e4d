// Loads the auxiliary models that are one small ONNX network each: block-size policies and sentence encoders.
import { openBlockPolicy } from '../../judge/block-policy.ts';
import { openSentences } from '../../judge/sentences.ts';
import type { FileSet } from '../../weights/files/byte-source.ts';
import { fileSet, type Source } from '../../weights/open.ts';
import type { LoadedPolicy, LoadedSentences, LoadSourceOptions } from './loaded-models.ts';

const filesOf = (source: Source, { signal, store, onProgress }: LoadSourceOptions): FileSet =>
  fileSet(source, {
    signal,
    store,
    onProgress: (loaded) => onProgress?.({ phase: 'download', loaded, total: loaded }),
  });

export const loadPolicySource = async (source: Source, options: LoadSourceOptions = {}): Promise<LoadedPolicy> => {
  const files = filesOf(source, options);
  return { name: files.name, model: await openBlockPolicy(files, options.signal) };
};

export const loadSentencesSource = async (
  source: Source,
  options: LoadSourceOptions = {},
): Promise<LoadedSentences> => {
  const files = filesOf(source, options);
  return { name: files.name, ...(await openSentences(files, options)) };
};
