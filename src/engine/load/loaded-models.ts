// What a load gives: models that are ready to run, each with what is needed to talk to it, and the options of a load.
import type { AlsoRole, BlockPolicy, Judge, SentenceEncoder, SystemFacts } from '../../decode/core/system.ts';
import type { BlockDrafter, FeatureDrafter, LanguageModel, MarkovDrafter } from '../../model/interface.ts';
import type { LoadTimes } from '../../model/load/checkpoint-tensors.ts';
import type { LoadedRemote } from '../../remote/remote-target.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import type { Store } from '../../weights/files/store.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import type { Sidecar } from './sidecar.ts';

/** What loading a model took, in milliseconds; shaders compile while tensors are read and repacked. */
export interface ModelLoadTimes extends LoadTimes {
  readonly tokenizer: number;
  readonly total: number;
}

/** A model that is ready to run, and what is needed to talk to it. */
export interface LoadedModel {
  readonly name: string;
  readonly model: LanguageModel;
  readonly tokenizer: Tokenizer | null;
  readonly stopTokens: readonly number[];
  /** Its files also hold an MTP layer, which drafts for it. */
  readonly mtp?: boolean;
  /** What the load took, in milliseconds. */
  readonly times?: ModelLoadTimes;
  /** Files that belong to the model and are no part of its checkpoint. */
  readonly sidecar?: Sidecar;
}

type AnyDrafter = BlockDrafter | MarkovDrafter | FeatureDrafter;

/** A drafter that reads its target's hidden states and borrows the target's vocabulary. */
export interface LoadedDrafter<D extends AnyDrafter = AnyDrafter> {
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
  /** For people: why it does not run on the backend that was asked for. */
  readonly notice?: string | undefined;
}

/** Scores the steps of a target's answers. */
export interface LoadedJudge {
  readonly name: string;
  readonly model: Judge;
  /** For people: why it does not run on the backend that was asked for. */
  readonly notice?: string | undefined;
}

/** By role (decode/core/system.ts). */
export interface LoadedModels {
  readonly target?: LoadedModel;
  readonly draft?: LoadedModel;
  readonly [also: AlsoRole]: LoadedModel | undefined;
  readonly dflash?: LoadedDrafter<BlockDrafter>;
  readonly dspark?: LoadedDrafter<MarkovDrafter>;
  readonly eagle3?: LoadedDrafter<FeatureDrafter>;
  readonly mtp?: LoadedDrafter<FeatureDrafter>;
  readonly policy?: LoadedPolicy;
  readonly prm?: LoadedJudge;
  readonly router?: LoadedJudge;
  readonly sentences?: LoadedSentences;
  readonly remote?: LoadedRemote;
  /** The target, where its vocabulary is not the draft's: it goes with step systems only, which exchange texts. */
  readonly textTarget?: LoadedRemote & Disposable;
}

/** The model whose tokens the text is made of: the target, or the draft when the target is on another machine. */
export const readerOf = ({ target, draft, remote }: LoadedModels): LoadedModel | undefined =>
  target ?? (remote && draft);

/**
 * What a system may use of the loaded models. A target and a draft of different vocabularies exchange texts in a step
 * system; every other system has the target alone.
 */
export const modelsFor = ({ remote: stepwise }: Pick<SystemFacts, 'remote'>, loaded: LoadedModels): LoadedModels => {
  const { textTarget, ...others } = loaded;
  if (!textTarget) return loaded;
  const { target, draft, prm, router, sentences } = others;
  if (stepwise) {
    const there = Object.entries({ draft, prm, router, sentences }).filter(([, model]) => model);
    return { ...Object.fromEntries(there), remote: textTarget };
  }
  const { draft: _, ...alone } = others;
  return target ? alone : others;
};

/** How far a load is. Downloads are told from where their size is known: a model's first small files come before. */
export interface Progress {
  readonly phase: 'download' | 'upload' | 'compile';
  /** Bytes while downloading or uploading, pipelines while compiling. */
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
  /** Called with every step of the load. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}
