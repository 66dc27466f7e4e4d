// From "this model, please" to a model that runs: the checkpoint's headers, its tokenizer, its weights streamed to the
// device. Whatever was taken is freed again when a load fails or is aborted.
import type { AlsoRole, BlockPolicy, Judge } from './decode/system.ts';
import { OutriderError } from './errors.ts';
import type { Gpu } from './gpu/device.ts';
import { loadModel } from './model/load.ts';
import type { BlockDrafter, FeatureDrafter, LanguageModel } from './model/model.ts';
import type { LoadedRemote } from './remote/target.ts';
import { loadTokenizer, type Tokenizer } from './text/tokenizer.ts';
import type { Checkpoint } from './weights/checkpoint.ts';
import { fileSet, openCheckpoint, type Source } from './weights/open.ts';
import type { Precision } from './weights/quantize.ts';
import { readJson } from './weights/source.ts';
import type { Store } from './weights/store.ts';

/** A model that is ready to run, and what is needed to talk to it. */
export interface LoadedModel {
  readonly name: string;
  readonly model: LanguageModel;
  readonly tokenizer: Tokenizer | null;
  readonly stopTokens: readonly number[];
  /** A JSON file beside its weights; null where there is none. */
  readonly beside?: (file: string) => Promise<unknown>;
}

/** A drafter that reads its target's hidden states; it borrows the target's vocabulary too. */
export interface LoadedDrafter<D extends BlockDrafter | FeatureDrafter = BlockDrafter | FeatureDrafter> {
  readonly name: string;
  readonly model: D;
}

/** Chooses block sizes for a target and its drafter. */
export interface LoadedPolicy {
  readonly name: string;
  readonly model: BlockPolicy;
}

/** Scores the steps of a target's answers. */
export interface LoadedJudge {
  readonly name: string;
  readonly model: Judge;
}

/** By role (decode/system.ts). */
export interface LoadedModels {
  readonly target?: LoadedModel;
  readonly draft?: LoadedModel;
  readonly [also: AlsoRole]: LoadedModel | undefined;
  readonly dflash?: LoadedDrafter<BlockDrafter>;
  readonly eagle3?: LoadedDrafter<FeatureDrafter>;
  readonly policy?: LoadedPolicy;
  readonly prm?: LoadedJudge;
  readonly router?: LoadedJudge;
  readonly remote?: LoadedRemote;
}

/** Whose tokens a text is made of: the target's, or the draft's where the target is on another machine. */
export const readerOf = ({ target, draft, remote }: LoadedModels): LoadedModel | undefined =>
  target ?? (remote && draft);

export interface Progress {
  readonly phase: 'download' | 'upload' | 'compile';
  /** Bytes, or pipelines. */
  readonly loaded: number;
  readonly total: number;
}

export interface LoadSourceOptions {
  /** Default: as in the file. */
  readonly precision?: Precision | undefined;
  /** Where files from the network are kept. */
  readonly store?: Store | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The ids that end a text: by the tokenizer's and generation_config.json's account, or else config.json's. */
const stopTokens = (config: Readonly<Record<string, unknown>>, tokenizer: Tokenizer | null): readonly number[] => {
  const named = [tokenizer?.eos ?? [], config.eos_token_id].flat(2);
  return [...new Set(named.filter((id): id is number => Number.isInteger(id)))];
};

const open = async (source: Source, { signal, store, onProgress }: LoadSourceOptions): Promise<Checkpoint> => {
  let total = 0;
  const checkpoint = await openCheckpoint(source, {
    signal,
    store,
    onProgress: (loaded) => onProgress?.({ phase: 'download', loaded, total: Math.max(loaded, total) }),
  });
  total = checkpoint.bytes;
  return checkpoint;
};

export const loadSource = async (gpu: Gpu, source: Source, options: LoadSourceOptions = {}): Promise<LoadedModel> => {
  const { signal, precision, onProgress } = options;
  using checkpoint = await open(source, options);
  const files = await checkpoint.tokenizer(signal);
  const tokenizer = files && (await loadTokenizer(files));
  const model = await loadModel(gpu, checkpoint, { precision, signal, onProgress });
  return {
    name: checkpoint.name,
    model,
    tokenizer,
    stopTokens: stopTokens(checkpoint.config, tokenizer),
    beside: (file) => readJson(fileSet(source, { store: options.store }), file, { optional: true }),
  };
};

/** Of whichever kind its config names. */
export const loadDrafterSource = async (
  gpu: Gpu,
  source: Source,
  target: LoadedModel,
  options: LoadSourceOptions = {},
): Promise<LoadedDrafter> => {
  const { signal, precision, onProgress } = options;
  using checkpoint = await open(source, options);
  const { loadDrafter } = await import('./model/load-drafter.ts'); // a chunk of its own, like the policies
  const model = await loadDrafter(gpu, checkpoint, target.model, { precision, signal, onProgress });
  return { name: checkpoint.name, model };
};

/** As what it was loaded for; a drafter of the other kind is freed and refused. */
export const asKind = <Kind extends 'dflash' | 'eagle3'>(
  { name, model }: LoadedDrafter,
  kind: Kind,
): LoadedDrafter<Extract<BlockDrafter | FeatureDrafter, { readonly kind: Kind }>> => {
  const isKind = (drafter: typeof model): drafter is Extract<typeof model, { readonly kind: Kind }> =>
    drafter.kind === kind;
  if (isKind(model)) return { name, model };
  model[Symbol.dispose]();
  throw new OutriderError('bad-checkpoint', `${name} is a drafter for ${model.kind}, not for ${kind}`);
};

/** A network of a few hundred kilobytes: it has no phases. */
export const loadPolicySource = async (
  source: Source,
  { signal, store, onProgress }: LoadSourceOptions = {},
): Promise<LoadedPolicy> => {
  const files = fileSet(source, {
    signal,
    store,
    onProgress: (loaded) => onProgress?.({ phase: 'download', loaded, total: loaded }),
  });
  const { openBlockPolicy } = await import('./judge/block-policy.ts');
  return { name: files.name, model: await openBlockPolicy(files, signal) };
};

export interface LoadJudgeOptions extends LoadSourceOptions {
  /** Whose answers it will read: a judge of published layout reads them as text, any other shares its vocabulary. */
  readonly target?: LoadedModel | undefined;
}

export const loadJudgeSource = async (
  gpu: Gpu,
  source: Source,
  options: LoadJudgeOptions = {},
): Promise<LoadedJudge> => {
  const { loadJudge } = await import('./judge/load.ts');
  return loadJudge(gpu, source, options);
};
