// From "this model, please" to a model that runs: the checkpoint's headers, its tokenizer, its weights streamed to the
// device. Whatever was taken is freed again when a load fails or is aborted.

import type { AlsoRole, BlockPolicy, Judge, SentenceEncoder } from '../../decode/core/system.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { BlockDrafter, FeatureDrafter, LanguageModel } from '../../model/interface.ts';
import { loadModel } from '../../model/load/load-model.ts';
import type { LoadedRemote } from '../../remote/remote-target.ts';
import { loadTokenizer, type Tokenizer } from '../../text/tokenizer.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type { Store } from '../../weights/files/store.ts';
import { openCheckpoint, type Source } from '../../weights/open.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import type { Sidecar } from './sidecar.ts';

/** A model that is ready to run, and what is needed to talk to it. */
export interface LoadedModel {
  readonly name: string;
  readonly model: LanguageModel;
  readonly tokenizer: Tokenizer | null;
  readonly stopTokens: readonly number[];
  /** What lies beside its weights. */
  readonly sidecar?: Sidecar;
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

/** Compares candidate steps. */
export interface LoadedSentences {
  readonly name: string;
  readonly model: SentenceEncoder;
  /** For people: why it does not run where it was to. */
  readonly notice?: string | undefined;
}

/** Scores the steps of a target's answers. */
export interface LoadedJudge {
  readonly name: string;
  readonly model: Judge;
  /** For people: why it does not run where it was to. */
  readonly notice?: string | undefined;
}

/** By role (decode/core/system.ts). */
export interface LoadedModels {
  readonly target?: LoadedModel;
  readonly draft?: LoadedModel;
  readonly [also: AlsoRole]: LoadedModel | undefined;
  readonly dflash?: LoadedDrafter<BlockDrafter>;
  readonly eagle3?: LoadedDrafter<FeatureDrafter>;
  readonly policy?: LoadedPolicy;
  readonly prm?: LoadedJudge;
  readonly router?: LoadedJudge;
  readonly sentences?: LoadedSentences;
  readonly remote?: LoadedRemote;
}

/** Whose tokens a text is made of: the target's, or the draft's where the target is on another machine. */
export const readerOf = ({ target, draft, remote }: LoadedModels): LoadedModel | undefined =>
  target ?? (remote && draft);

/** How far a load is. */
export interface Progress {
  readonly phase: 'download' | 'upload' | 'compile';
  /** Bytes, or pipelines. */
  readonly loaded: number;
  readonly total: number;
}

/** What runs an ONNX file. */
export type OnnxProvider = 'wasm' | 'webgpu';

/** How one model is loaded. */
export interface LoadSourceOptions {
  /** What runs a judge or a sentence encoder that is an ONNX file. Default: `wasm`. */
  readonly onnx?: OnnxProvider | undefined;
  /** Default: as in the file. */
  readonly precision?: Precision | undefined;
  /** Where files from the network are kept. */
  readonly store?: Store | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears of every step. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The ids that end a text: by the tokenizer's and generation_config.json's account, or else config.json's. */
const stopTokens = (config: Readonly<Record<string, unknown>>, tokenizer: Tokenizer | null): readonly number[] => {
  const named = [tokenizer?.eos ?? [], config.eos_token_id].flat(2);
  return [...new Set(named.filter((id): id is number => Number.isInteger(id)))];
};

/** Its headers; what is read of it is told as a download. */
export const openSource = async (
  source: Source,
  { signal, store, onProgress }: LoadSourceOptions,
): Promise<Checkpoint> => {
  let total = 0;
  const checkpoint = await openCheckpoint(source, {
    signal,
    store,
    onProgress: (loaded) => onProgress?.({ phase: 'download', loaded, total: Math.max(loaded, total) }),
  });
  total = checkpoint.bytes;
  return checkpoint;
};

/** A language model from a checkpoint, ready to run. */
export const loadSource = async (gpu: Gpu, source: Source, options: LoadSourceOptions = {}): Promise<LoadedModel> => {
  const { signal, precision, onProgress } = options;
  using checkpoint = await openSource(source, options);
  const files = await checkpoint.tokenizer(signal);
  const tokenizer = files && (await loadTokenizer(files));
  const model = await loadModel(gpu, checkpoint, { precision, signal, onProgress });
  const { name, version } = checkpoint;
  let opened: Promise<Sidecar> | undefined;
  const sidecar = (): Promise<Sidecar> => {
    opened ??= import('./sidecar.ts').then(({ openSidecar }) => openSidecar(source, version, options.store));
    return opened;
  };
  return {
    name,
    model,
    tokenizer,
    stopTokens: stopTokens(checkpoint.config, tokenizer),
    sidecar: {
      read: async (file) => (await sidecar()).read(file),
      write: async (file, value) => (await sidecar()).write(file, value),
    },
  };
};
