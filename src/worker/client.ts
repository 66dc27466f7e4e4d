// The page's side of an engine in a worker: the interface of engine.ts, with streams, aborts and faults carried across.
// Other modules start the worker (connect.ts, the widget's single file), because bundlers follow the line that starts
// one.
import { type Remote, transfer, wrap } from 'comlink';
import { checkAborted, OutriderError, unlessAborted } from '../base/errors.ts';
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { ModelRole } from '../decode/core/system.ts';
import { BUILT_IN } from '../engine/built-in.ts';
import { bundledSource, isAddress, onPage } from '../engine/bundled.ts';
import type { Calibrated } from '../engine/calibrate.ts';
import type { DeviceCard, Measuring } from '../engine/device-card.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { Preflight } from '../engine/preflight.ts';
import type { LoadProgress, ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';
import { askToPersist } from '../weights/files/persist.ts';
import type { StoredModel } from '../weights/files/stored-models.ts';
import { ask } from './rpc.ts';
import type { Calibrating, Service } from './service.ts';

/** A worker that answers nothing for so long after a stop, in milliseconds, is ended. */
const PATIENCE = 5000;

const NO_SCRIPT =
  "Reload the page. If you build it: Vite needs `optimizeDeps: { exclude: ['outrider'] }`, and without a bundler all of " +
  'dist/library must be served.';

type Port = Worker | MessagePort;

/** A port whose other side may end without a word: `ended` resolves then. */
export interface Served {
  readonly port: MessagePort;
  readonly ended: Promise<void>;
}

/** A worker and what has become of it. */
interface Link {
  readonly service: Remote<Service>;
  /** Fires when the worker dies, could not start or was ended. */
  readonly lost: AbortSignal;
  /** Ends the worker. Calls under way fail with `reason`. */
  end(reason: OutriderError): void;
}

const linkTo = (given: Port | Served): Link => {
  const worker = 'port' in given ? given.port : given;
  const lost = new AbortController();
  if ('port' in given) void given.ended.then(() => lost.abort(gone()));
  const fail = (event: Event): void => {
    const { message } = event as Partial<ErrorEvent>;
    const reason = message || 'its script could not be loaded';
    const hint = message ? 'Reload the page.' : NO_SCRIPT;
    lost.abort(new OutriderError('bug', `the engine's worker has stopped: ${reason}`, hint));
  };
  worker.addEventListener('error', fail);
  worker.addEventListener('messageerror', fail);
  const end: Link['end'] = (reason) => {
    if ('terminate' in worker) worker.terminate();
    else worker.close();
    lost.abort(reason);
  };
  return { service: wrap<Service>(worker), lost: lost.signal, end };
};

/** True when `answer` comes within `ms`. */
const within = async (answer: Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([answer.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
};

const closedByCaller = (): OutriderError => new OutriderError('aborted', 'the engine was closed');

/** In the place of a worker after `close`: calls fail as they do where the worker was there until then. */
const nowhere = (): Link => {
  const link = linkTo(new MessageChannel().port1);
  link.end(closedByCaller());
  return link;
};

const gone = (): OutriderError =>
  new OutriderError('device-lost', "the engine's worker has ended, and its models are gone", 'Load the models again.');

const unanswering = (ms: number): OutriderError =>
  new OutriderError(
    'device-lost',
    `the engine's worker did not answer for ${ms / 1000} s, so it was ended and its models are gone`,
    'Load the models again. If it happens with one model only, its chat template or tokenizer may never come to an end.',
  );

const sendable = (source: NonNullable<ModelSources[ModelRole]>, base: string | undefined): typeof source => {
  if (source === BUILT_IN) return source; // the target's own
  if (typeof source === 'string') return bundledSource(source, base);
  if (!isObject(source)) return source; // the engine says what is wrong with it
  // A URL cannot be sent. The engine says what is wrong with anything else.
  if ('kind' in source && source.kind === 'url' && isAddress(source.url))
    return { ...source, url: onPage('url', source.url) };
  if ('kind' in source) return source;
  throw refuse('a loaded model cannot move into a worker', 'Give its source, or use createEngine in this thread.');
};

const sendableAll = (models: ModelSources, base: string | undefined): ModelSources => {
  if (!isObject(models)) return models; // the engine says what is wrong with them
  return Object.fromEntries(
    Object.entries(models).flatMap(([role, source]) => (source === undefined ? [] : [[role, sendable(source, base)]])),
  ) as ModelSources;
};

/** Null is as good as absent. */
const optionsOf = <Options extends object>(options: Options | null | undefined): Options => {
  const { onProgress } = (options ?? {}) as { readonly onProgress?: unknown };
  if (!isObject(options ?? {})) throw refuse(`the options must be an object, not ${shown(options)}`);
  if ((onProgress ?? null) !== null && typeof onProgress !== 'function')
    throw refuse(`onProgress must be a function, not ${shown(onProgress)}`);
  return options ?? ({} as Options);
};

/** Whether downloads are stored of it. */
const isStored = (source: ModelSources[ModelRole]): boolean =>
  typeof source === 'object' && 'kind' in source && source.kind === 'url';

/** The value of a call; its progress is passed on. Where `tell` throws, the call is aborted. */
const resultOf = async <Told, Value>(
  call: AsyncGenerator<Told, Value, undefined>,
  tell: ((told: Told) => void) | undefined,
): Promise<Value> => {
  try {
    for (;;) {
      const { done, value } = await call.next();
      if (done) return value;
      tell?.(value);
    }
  } finally {
    await call.return(undefined as Value); // of no effect on a call that has ended
  }
};

export interface ClientOptions {
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string | undefined;
  /** Milliseconds that a worker may take to answer after a stop. Default 5000. */
  readonly patience?: number;
}

/**
 * An engine behind a worker, or behind a function that starts one: then a worker that has ended, or had to be ended, is
 * replaced at the next call, with nothing loaded. `close` always settles.
 */
export const clientOf = (
  given: Port | (() => Port | Served),
  { base, patience = PATIENCE }: ClientOptions = {},
): Engine => {
  const begin = (): Link => linkTo(typeof given === 'function' ? given() : given);
  let link: Link | null = begin();
  let closed = false;
  const open = (): Link => {
    if (link?.lost.aborted && !closed && typeof given === 'function') link = null;
    link ??= closed ? nowhere() : begin();
    return link;
  };
  /** After a stop: a worker that can still be reached goes on, any other one is ended. */
  const check = async (stopped: Link): Promise<void> => {
    const answered = await within(unlessAborted(stopped.service.ping(), stopped.lost), patience).catch(() => true);
    if (answered || closed || link !== stopped) return;
    if (typeof given === 'function') link = null;
    stopped.end(unanswering(patience));
  };
  const call = <Told, Value>(
    send: (service: Link['service'], port: MessagePort) => Promise<unknown>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Told, Value, undefined> => {
    const now = open();
    return ask<Told, Value>(
      (port) => send(now.service, transfer(port, [port])),
      now.lost,
      signal,
      () => void check(now),
    );
  };
  return {
    async systems() {
      const { service, lost } = open();
      return unlessAborted(service.systems(), lost);
    },
    async load(models, how) {
      const { signal, onProgress, ...options } = optionsOf(how);
      const sources = sendableAll(models, base);
      checkAborted(signal); // the worker would hear of it after the load has begun, when its models are freed
      const loading = call<LoadProgress, Loaded>((service, port) => service.load(sources, options, port), signal);
      const loaded = await resultOf(loading, onProgress);
      if (Object.values(sources).some(isStored)) void askToPersist();
      return loaded;
    },
    run: (request, signal) => call<TraceEvent, void>((service, port) => service.run(request, port), signal),
    async calibrate(how) {
      const { signal, onProgress, ...options } = optionsOf(how);
      const calls = call<Calibrating, Calibrated>((service, port) => service.calibrate(options, port), signal);
      return resultOf(calls, onProgress && ((told) => onProgress(...told)));
    },
    async measure(how) {
      const { signal, onProgress, ...options } = optionsOf(how);
      return resultOf(
        call<Measuring, DeviceCard>((service, port) => service.measure(options, port), signal),
        onProgress,
      );
    },
    async preflight(models, how) {
      const { signal, ...options } = optionsOf(how);
      const sources = sendableAll(models, base);
      return resultOf(
        call<never, Preflight>((service, port) => service.preflight(sources, options, port), signal),
        undefined,
      );
    },
    async storedModels() {
      return resultOf(
        call<never, readonly StoredModel[]>((service, port) => service.storedModels(port), undefined),
        undefined,
      );
    },
    async deleteStored(name) {
      await resultOf(
        call<never, void>((service, port) => service.deleteStored(name, port), undefined),
        undefined,
      );
    },
    async close() {
      if (closed) return;
      closed = true;
      const closing = link;
      if (!closing) return; // its worker was ended, and no call has started another one
      try {
        await within(unlessAborted(closing.service.close(), closing.lost), patience);
      } finally {
        closing.end(closedByCaller());
      }
    },
  };
};
