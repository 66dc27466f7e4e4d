// From "this model, please" to a model that runs: the checkpoint's headers, its weights streamed to the device, its
// tokenizer. Whatever was taken is freed again when a load fails or is aborted.
import type { ModelRole } from './decode/system.ts';
import type { LanguageModel } from './model/model.ts';
import type { Tokenizer } from './text/tokenizer.ts';

/** A model that is ready to run, and what is needed to talk to it. */
export interface LoadedModel {
  readonly name: string;
  readonly model: LanguageModel;
  readonly tokenizer: Tokenizer | null;
  readonly stopTokens: readonly number[];
}

export type LoadedModels = { readonly [Role in ModelRole]?: LoadedModel };

/** A model of your own making, which you dispose of yourself. */
export type ModelSource = LoadedModel;

export interface LoadOptions {
  readonly signal?: AbortSignal;
}
