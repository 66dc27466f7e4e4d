// Loads a language model: the checkpoint's headers, its tokenizer, its weights streamed to the device. A load that
// fails or is aborted frees what it took.
import type { Gpu } from '../../gpu/device.ts';
import { hasMtp } from '../../model/families/families.ts';
import { loadModel } from '../../model/load/load-model.ts';
import { loadTokenizer, type Tokenizer } from '../../text/tokenizer.ts';
import type { Source } from '../../weights/open.ts';
import { loading, openSource } from './checkpoint.ts';
import type { LoadedModel, LoadSourceOptions } from './loaded-models.ts';
import { openSidecar } from './sidecar.ts';

/** The ids that end a text: those of the tokenizer and generation_config.json, and those of config.json. */
const stopTokens = (
  tokenizer: Tokenizer | null,
  ...configs: readonly Readonly<Record<string, unknown>>[]
): readonly number[] => {
  const named = [tokenizer?.eos ?? [], ...configs.map(({ eos_token_id: ids }) => ids)].flat(2);
  return [...new Set(named.filter((id): id is number => Number.isInteger(id)))];
};

/** A language model from a checkpoint, ready to run. */
export const loadSource = (gpu: Gpu, source: Source, options: LoadSourceOptions = {}): Promise<LoadedModel> =>
  loading(source, options, () => load(gpu, source, options));

const load = async (gpu: Gpu, source: Source, options: LoadSourceOptions): Promise<LoadedModel> => {
  const { signal, precision, onProgress, store } = options;
  const began = performance.now();
  using checkpoint = await openSource(source, options);
  const opened = performance.now();
  const files = await checkpoint.tokenizer(signal);
  const tokenizer = files && (await loadTokenizer(files));
  const generation = files ? files.generation : await checkpoint.generation(signal);
  const tokenized = performance.now();
  const model = await loadModel(gpu, checkpoint, { precision, signal, onProgress });
  return {
    name: checkpoint.name,
    model,
    tokenizer,
    stopTokens: stopTokens(tokenizer, generation, checkpoint.config),
    mtp: hasMtp(checkpoint),
    times: { ...model.loadTimes, tokenizer: tokenized - opened, total: performance.now() - began },
    sidecar: openSidecar(source, checkpoint.version, store),
  };
};
