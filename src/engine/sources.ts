// What a load takes: which model serves which role, where each comes from, and how they are loaded.

import type { ModelRole } from '../decode/core/system.ts';
import type { CachePrecision, FeatureDrafter } from '../model/interface.ts';
import type { LoadedRemote } from '../remote/remote-target.ts';
import type { RemoteJudge, RemoteSource } from '../remote/server.ts';
import type { Source } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import type { BundledName } from './bundled.ts';
import type {
  LoadedDrafter,
  LoadedJudge,
  LoadedModel,
  LoadedModels,
  LoadedPolicy,
  LoadedSentences,
  LoadSourceOptions,
  Progress,
} from './load/loaded-models.ts';

/** A checkpoint, the name of a bundled model, or a model that is loaded already, which its owner disposes of. */
export type ModelSource<Model = LoadedModel | LoadedDrafter | LoadedPolicy | LoadedJudge | LoadedSentences> =
  | Source
  | BundledName
  | (string & {}) // any text, so that an editor proposes the names
  | Model;
/** Which model serves which role. */
export type ModelSources = {
  readonly [Role in Exclude<ModelRole, 'remote' | 'prm' | 'router' | 'mtp'>]?: ModelSource<
    NonNullable<LoadedModels[Role]>
  >;
} & {
  /** The layer that drafts for its own model: `built-in`, or the address of a checkpoint that holds it. */
  readonly mtp?: ModelSource<LoadedDrafter<FeatureDrafter>> | 'built-in';
} & {
  /** On this machine, or on another: `remoteJudge(address, model, …)`. */
  readonly [Role in 'prm' | 'router']?: ModelSource<LoadedJudge> | RemoteJudge;
} & {
  /** A target on another machine, for step systems: `remote(address, model, key?)`. */
  readonly remote?: RemoteSource | LoadedRemote;
};

/** How models are loaded. */
export interface LoadOptions extends Pick<LoadSourceOptions, 'signal' | 'onnx'> {
  /** Precision of the weights on the device, of all models or by role. Default: as in the file. */
  readonly precision?: Precision | { readonly [Role in ModelRole]?: Precision } | undefined;
  /** Called with every step of a load. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Keys and values: f32 (default), f16 in half the memory of a long context, or q8 in 28 % of it. */
  readonly cache?: CachePrecision | undefined;
  /**
   * `own`: a draft of another vocabulary than the target's is loaded too. Step systems then exchange texts with the
   * target, and every other system has the target alone. Default: `shared`, where such a draft is an error.
   */
  readonly vocabularies?: 'shared' | 'own' | undefined;
}

/** How far the model of one role is. */
export interface LoadProgress extends Progress {
  readonly role: ModelRole;
}
