// The models that sessions of the Prompt API share: the first session loads them, and those that come meanwhile wait for
// the same load.

import { OutriderError, unlessAborted } from '../base/errors.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { LoadOptions, ModelSources } from '../engine/sources.ts';
import { needEngine } from './completion.ts';

/** Settings of sessions that the Prompt API does not have. */
export interface PromptApiOptions extends Pick<RunRequest, 'system' | 'knobs' | 'maxTokens' | 'seed'> {
  /** What the first session loads. */
  readonly models: ModelSources;
  readonly load?: Pick<LoadOptions, 'precision' | 'cache'>;
}

/** As the Prompt API has it. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

/** Browsers without WebGPU, and pages that are not served securely, have no `gpu`; Node's engines bring their own. */
const browserLacksWebGpu = (): boolean => 'isSecureContext' in globalThis && !('gpu' in navigator);

type Listener = (loaded: number) => void;

/** Of a load, as the specification has it. */
const STEPS = 65536;

/** A listener that hears of every step once. */
const inSteps = (listener: Listener): Listener => {
  let last = -1;
  return (loaded) => {
    const step = Math.floor(loaded * STEPS) / STEPS;
    if (step <= last) return;
    last = step;
    listener(step);
  };
};

export class SharedLoad {
  #state: Availability = browserLacksWebGpu() ? 'unavailable' : 'downloadable';
  #loading: Promise<Loaded> | null = null;
  readonly #engine: Engine;
  readonly #options: Pick<PromptApiOptions, 'models' | 'load'>;
  readonly #listeners = new Set<Listener>();

  constructor(engine: Engine, options: Pick<PromptApiOptions, 'models' | 'load'>) {
    needEngine(engine);
    this.#engine = engine;
    this.#options = options;
  }

  get state(): Availability {
    return this.#state;
  }

  /** The context window of the target. `listener` hears how far the load is, from 0 to 1, also where it is over. */
  async load(listener: Listener, signal?: AbortSignal): Promise<number> {
    if (this.#state === 'unavailable') throw new DOMException('there is no WebGPU here', 'NotSupportedError');
    const own = inSteps(listener);
    this.#listeners.add(own);
    try {
      own(0);
      this.#loading ??= this.#start();
      const { models } = await (signal ? unlessAborted(this.#loading, signal) : this.#loading);
      own(1);
      return models.target?.context ?? 0;
    } finally {
      this.#listeners.delete(own);
    }
  }

  /** The engine no longer has the models: the next session loads them again. */
  forget(): void {
    if (this.#state !== 'available') return;
    this.#loading = null;
    this.#state = 'downloadable';
  }

  async #start(): Promise<Loaded> {
    this.#state = 'downloading';
    const { models, load } = this.#options;
    const { length } = Object.keys(models);
    /** In the order in which they are loaded. */
    const begun: string[] = [];
    try {
      const loaded = await this.#engine.load(models, {
        ...load,
        onProgress: ({ role, phase, loaded: bytes, total }) => {
          if (!begun.includes(role)) begun.push(role);
          if (phase !== 'download') return;
          const part = (begun.indexOf(role) + bytes / Math.max(1, total)) / length;
          // 1 is the end of the load: a file may still follow those that have arrived.
          for (const listener of this.#listeners) listener(Math.min(part, 1 - 1 / STEPS));
        },
      });
      this.#state = 'available';
      return loaded;
    } catch (error) {
      this.#loading = null; // the next session tries again
      const never = error instanceof OutriderError && error.code === 'no-webgpu';
      this.#state = never ? 'unavailable' : 'downloadable';
      throw error;
    }
  }
}

/** What a page's `monitor` is given, to hear of `downloadprogress`. */
export class DownloadMonitor extends EventTarget {
  /** Called with every `downloadprogress` event. */
  ondownloadprogress: ((event: Event) => void) | null = null;

  constructor() {
    super();
    this.addEventListener('downloadprogress', (event) => this.ondownloadprogress?.(event));
  }
}

/** A `downloadprogress` event for a page's monitor. */
export const progressEvent = (loaded: number): Event =>
  Object.assign(new Event('downloadprogress'), { loaded, total: 1, lengthComputable: true });
