// The shape of the browser's Prompt API (webmachinelearning/prompt-api, June 2026) over an engine: a page written for
// Chrome's built-in `LanguageModel` runs on models of its own, in every browser with WebGPU. Text only: images and
// sound are refused with NotSupportedError.

import type { Engine } from '../engine/engine.ts';
import { stated } from './completion.ts';
import {
  checkTools,
  isWithin,
  type LanguageModelCreateCoreOptions,
  type LanguageModelMessage,
  listOf,
  optionsOf,
  PARAMS,
  readPrompt,
  readSampling,
  unsupported,
} from './prompt-input.ts';
import { type Availability, DownloadMonitor, type PromptApiOptions, progressEvent, SharedLoad } from './prompt-load.ts';
import { Session } from './prompt-session.ts';

export type {
  LanguageModelCreateCoreOptions,
  LanguageModelExpected,
  LanguageModelMessage,
  LanguageModelPrompt,
  LanguageModelTool,
  SamplingMode,
} from './prompt-input.ts';
export type { Availability, DownloadMonitor, PromptApiOptions } from './prompt-load.ts';
export { type LanguageModelPromptOptions, QuotaExceededError, type Session } from './prompt-session.ts';

/** What a session is created with. */
export interface LanguageModelCreateOptions extends LanguageModelCreateCoreOptions {
  readonly initialPrompts?: readonly LanguageModelMessage[];
  /** Ends the creation, and afterwards the session. */
  readonly signal?: AbortSignal;
  /** `downloadprogress` events have `loaded` from 0 to 1. */
  readonly monitor?: (monitor: DownloadMonitor) => void;
}

/** Takes the place of the browser's `LanguageModel`. */
export interface LanguageModelStatic {
  /** Whether models are there, can be loaded, or cannot run here. */
  availability(options?: LanguageModelCreateCoreOptions): Promise<Availability>;
  /** A session; the first loads the models. */
  create(options?: LanguageModelCreateOptions): Promise<Session>;
  /** Defaults and limits of sampling. */
  params(): Promise<typeof PARAMS>;
}

/** A `LanguageModel` as in the browser's Prompt API, over this engine, which the caller closes. */
export const promptApi = (engine: Engine, { models, load, ...rest }: PromptApiOptions): LanguageModelStatic => {
  const shared = new SharedLoad(engine, { models, ...(load && { load }) });
  return {
    availability: async (options) => (isWithin(optionsOf(options)) ? shared.state : 'unavailable'),
    params: async () => PARAMS,

    async create(given) {
      const options = optionsOf(given);
      const { signal, monitor } = options;
      signal?.throwIfAborted();
      if (monitor && typeof monitor !== 'function') throw new TypeError('monitor must be a function');
      if (!isWithin(options)) throw unsupported('anything but text');
      const [mode, sampler] = readSampling(options);
      checkTools(options.tools ?? []);
      const initialPrompts = listOf('initialPrompts', options.initialPrompts);
      const initial = initialPrompts.length > 0 ? readPrompt(initialPrompts) : [];
      const listener = new DownloadMonitor();
      monitor?.(listener);
      const contextWindow = await shared.load((loaded) => listener.dispatchEvent(progressEvent(loaded)), signal);
      const session = new Session({
        engine,
        contextWindow,
        request: { ...stated(rest), ...sampler },
        mode,
        sampler,
        initial,
        tools: options.tools ?? [],
        gone: () => shared.forget(),
      });
      await session.begin(signal ? { signal } : {});
      signal?.addEventListener('abort', () => session.destroy(signal.reason), { once: true });
      return session;
    },
  };
};
