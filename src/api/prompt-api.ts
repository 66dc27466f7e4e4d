// The shape of the browser's Prompt API (webmachinelearning/prompt-api, June 2026) over an engine: a page written for
// Chrome's built-in `LanguageModel` runs on models of its own, in every browser with WebGPU. Text only: images and
// sound are refused with NotSupportedError.

import { OutriderError } from '../base/errors.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { LoadOptions, ModelSources } from '../engine/sources.ts';
import { stated } from './completion.ts';
import {
  isWithin,
  type LanguageModelCreateCoreOptions,
  type LanguageModelMessage,
  PARAMS,
  readPrompt,
  readSampling,
  unsupported,
} from './prompt-input.ts';
import { Session, unlessAborted } from './prompt-session.ts';

export type {
  LanguageModelCreateCoreOptions,
  LanguageModelExpected,
  LanguageModelMessage,
  LanguageModelPrompt,
  LanguageModelTool,
  SamplingMode,
} from './prompt-input.ts';
export { type LanguageModelPromptOptions, QuotaExceededError, type Session } from './prompt-session.ts';

/** Settings of sessions that the Prompt API does not have. */
export interface PromptApiOptions extends Pick<RunRequest, 'system' | 'knobs' | 'maxTokens' | 'seed'> {
  /** What the first session loads. */
  readonly models: ModelSources;
  readonly load?: Pick<LoadOptions, 'precision' | 'cache'>;
}

/** As the Prompt API has it. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

/** What a session is created with. */
export interface LanguageModelCreateOptions extends LanguageModelCreateCoreOptions {
  readonly initialPrompts?: readonly LanguageModelMessage[];
  /** Ends the creation, and afterwards the session. */
  readonly signal?: AbortSignal;
  /** `downloadprogress` events have `loaded` from 0 to 1. */
  readonly monitor?: (monitor: EventTarget) => void;
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

/** Browsers without WebGPU, and pages that are not served securely, have no `gpu`; Node's engines bring their own. */
const browserLacksWebGpu = (): boolean => 'isSecureContext' in globalThis && !('gpu' in navigator);

/** The caller closes the engine. */
export const promptApi = (engine: Engine, { models, load, ...rest }: PromptApiOptions): LanguageModelStatic => {
  let state: Availability = browserLacksWebGpu() ? 'unavailable' : 'downloadable';
  let loading: Promise<Loaded> | null = null;
  const progress = new EventTarget();

  const tell = (loaded: number): void => {
    progress.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded, total: 1 }));
  };

  const startLoading = async (): Promise<Loaded> => {
    state = 'downloading';
    const roles = Object.keys(models);
    tell(0);
    try {
      const loaded = await engine.load(models, {
        ...load,
        onProgress({ role, phase, loaded: bytes, total }) {
          if (phase === 'download')
            tell((Math.max(0, roles.indexOf(role)) + bytes / Math.max(1, total)) / roles.length);
        },
      });
      state = 'available';
      tell(1);
      return loaded;
    } catch (error) {
      loading = null; // the next session tries again
      const never = error instanceof OutriderError && error.code === 'no-webgpu';
      state = never ? 'unavailable' : 'downloadable';
      throw error;
    }
  };

  return {
    availability: async (options = {}) => (isWithin(options) ? state : 'unavailable'),
    params: async () => PARAMS,

    async create(options = {}) {
      const { initialPrompts = [], signal, monitor } = options;
      signal?.throwIfAborted();
      if (!isWithin(options)) throw unsupported('anything but text');
      if (state === 'unavailable') throw new DOMException('there is no WebGPU here', 'NotSupportedError');
      const [mode, sampler] = readSampling(options);
      const initial = initialPrompts.length > 0 ? readPrompt(initialPrompts, false) : [];
      const listener = new EventTarget();
      monitor?.(listener);
      const relay = (event: Event): void => {
        const { loaded } = event as Event & { readonly loaded: number };
        listener.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded, total: 1 }));
      };
      progress.addEventListener('downloadprogress', relay);
      try {
        loading ??= startLoading();
        const { models: info } = await (signal ? unlessAborted(loading, signal) : loading);
        const contextWindow = info.target?.context ?? 0;
        const session = new Session({
          engine,
          contextWindow,
          request: { ...stated(rest), ...sampler },
          mode,
          sampler,
          initial,
          tools: options.tools ?? [],
        });
        await session.begin(signal ? { signal } : {});
        signal?.addEventListener('abort', () => session.destroy(signal.reason), { once: true });
        return session;
      } finally {
        progress.removeEventListener('downloadprogress', relay);
      }
    },
  };
};
