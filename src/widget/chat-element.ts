// <outrider-chat>: a conversation with a model in the visitor's browser. Nothing is fetched, started or asked of the
// GPU before the visitor sends something or the page calls `load()`; everything is freed when the element leaves the
// page.
import { checkAborted, type ErrorCode, type Fault, OutriderError, toFault } from '../base/errors.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { LoadOptions } from '../engine/sources.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import { measure, type TraceEvent } from '../trace/index.ts';
import type { StoredModel } from '../weights/files/stored-models.ts';
import { tokensOf } from './answer-view.ts';
import { adopt } from './attributes.ts';
import { Conversation } from './conversation.ts';
import type { OutriderChatEventMap } from './events.ts';
import { isOfSingleQuestions, sourcesOf, systemOf } from './model-attributes.ts';
import { ChatProperties } from './properties.ts';
import { fetchRecording, replay } from './recording.ts';
import { EnginePool, type Preparation } from './shared-engine.ts';
import { View } from './view.ts';

/** Errors that a second try would give again. */
const FINAL: readonly ErrorCode[] = ['no-webgpu', 'bad-request', 'vocabulary-mismatch', 'bad-trace', 'bad-constraint'];

/** Whether the visitor's system asks for pages without motion. */
const wantsStillness = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** The engine of all elements that bring none of their own; set when the element is defined. */
let shared: EnginePool | null = null;

/** A conversation with a model that runs in the visitor's browser: `<outrider-chat>`. */
export class OutriderChat extends ChatProperties {
  readonly #conversation = new Conversation();
  #view: View | null = null;
  #work: AbortController | null = null;
  /** Fulfilled once the newest task has ended. */
  #ended: Promise<unknown> = Promise.resolve();

  /** The conversation so far, with finished answers only. */
  get messages(): readonly ChatMessage[] {
    return this.#conversation.messages;
  }

  /** Whether something is being loaded, answered or replayed. */
  get busy(): boolean {
    return this.#work !== null;
  }

  /** Called by the browser. */
  connectedCallback(): void {
    if (this.#view) return; // it was moved
    adopt(this);
    this.#view = new View(this.attachShadow({ mode: 'open' }), {
      send: (text) => void this.send(text),
      stop: () => this.stop(),
    });
    this.#view.text = this.prompt ?? '';
    this.settingsChanged();
    if (this.autoplay) void (this.#replays ? this.#play(wantsStillness()) : this.send());
  }

  /** Called by the browser. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (this.isConnected) return; // it was moved
      this.stop();
      shared?.leave(this);
    });
  }

  /** Called by the browser. */
  attributeChangedCallback(name: string, _: string | null, value: string | null): void {
    if (!this.#view) return;
    if (name === 'prompt') this.#view.text = value ?? '';
    this.settingsChanged();
  }

  override focus(options?: FocusOptions): void {
    this.#view?.focus(options);
  }

  /**
   * Fetches and prepares the models now instead of with the first message. False when that failed or was stopped, or
   * when the element is busy with something that was not stopped.
   */
  async load(): Promise<boolean> {
    return this.#do(
      async (signal) => {
        await this.#pool().prepare(this, this.#preparation(signal));
      },
      () => void this.load(),
    );
  }

  /** Default: the text in the box. Resolves to the answer, or to null when there is none; an event says why. */
  async send(text = this.#view?.text.trim() ?? ''): Promise<string | null> {
    if (!this.#view || this.#occupied || this.disabled) return null;
    return this.#replays ? this.#play() : text === '' ? null : this.#ask(text);
  }

  /** Stops a load, an answer or a replay. */
  stop(): void {
    this.#work?.abort();
  }

  /** Stops, and forgets the conversation. Models stay loaded. */
  reset(): void {
    this.stop();
    this.#conversation.clear();
    this.#view?.clear();
  }

  /** The models that are stored on the visitor's device. */
  async storedModels(): Promise<readonly StoredModel[]> {
    return (this.engine ?? this.#pool().use()).storedModels();
  }

  /** Deletes a stored model, by its name in `storedModels`. */
  async deleteStored(name: string): Promise<void> {
    await (this.engine ?? this.#pool().use()).deleteStored(name);
  }

  /** A task that was stopped does not count: the next one waits until it has ended. */
  get #occupied(): boolean {
    return this.#work !== null && !this.#work.signal.aborted;
  }

  get #replays(): boolean {
    return this.trace !== null && this.model === null && !this.sources && !this.engine;
  }

  async #ask(question: string): Promise<string | null> {
    if (!this.#emit('outrider-start', { prompt: question, replay: false })) return null;
    let answer: string | null = null;
    const ask = async (signal: AbortSignal): Promise<void> => {
      this.#view?.begin(question);
      if (this.#view) this.#view.text = '';
      answer = await this.#show(this.#answer(question, signal), question);
      if (answer === null || signal.aborted) return;
      this.#conversation.add(question, answer);
      this.#view?.keep();
    };
    const again = (): void => {
      this.#view?.withdraw();
      void this.#ask(question);
    };
    if (!(await this.#do(ask, again)) && this.#view?.text === '') this.#view.text = question;
    return answer;
  }

  #answer(question: string, signal: AbortSignal): AsyncIterable<TraceEvent> {
    const request = this.#request();
    return this.#conversation.ask(question, {
      system: this.systemPrompt,
      history: this.history ?? (isOfSingleQuestions(this) ? 0 : Number.POSITIVE_INFINITY),
      maxTokens: this.maxTokens,
      run: (asked) =>
        this.engine
          ? this.engine.run({ ...request, ...asked }, signal)
          : this.#pool().run(this, this.#preparation(signal), { ...request, ...asked }),
      forget: (forgotten) => {
        this.#view?.forget(forgotten);
        this.#emit('outrider-overflow', { forgotten });
      },
    });
  }

  /** `still`: the whole recording at once. */
  async #play(still = false): Promise<string | null> {
    if (!this.#emit('outrider-start', { prompt: this.prompt ?? '', replay: true })) return null;
    let answer: string | null = null;
    const play = async (signal: AbortSignal): Promise<void> => {
      const speed = still ? Number.POSITIVE_INFINITY : (this.speed ?? 1);
      const recording = await fetchRecording(new URL(this.trace ?? '', document.baseURI).href, signal);
      const question = recording.prompt ?? this.prompt ?? '';
      this.#view?.clear();
      this.#view?.begin(question, { recorded: true, still });
      answer = await this.#show(replay(recording, speed, signal), question);
    };
    await this.#do(play, () => void this.#play(still));
    return answer;
  }

  async #show(events: AsyncIterable<TraceEvent>, prompt: string): Promise<string | null> {
    const seen: TraceEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      this.#view?.add(event);
      if (event.type === 'commit') {
        for (const token of tokensOf(event)) this.#emit('outrider-token', token);
        this.#emit('outrider-round', event);
      }
      if (event.type !== 'done') continue;
      const text = event.text ?? '';
      this.#emit('outrider-done', {
        prompt,
        text,
        finishReason: event.finish_reason,
        metrics: measure(seen),
        events: seen,
      });
      return text;
    }
    return null;
  }

  /** One task at a time. A failure becomes a note and an event, and can be tried `again`. */
  #do(task: (signal: AbortSignal) => Promise<void>, again: () => void): Promise<boolean> {
    if (this.#occupied) return Promise.resolve(false);
    const work = new AbortController();
    this.#work = work;
    const done = this.#after(this.#ended, work, task, again);
    this.#ended = done;
    return done;
  }

  async #after(
    before: Promise<unknown>,
    work: AbortController,
    task: (signal: AbortSignal) => Promise<void>,
    again: () => void,
  ): Promise<boolean> {
    await before;
    try {
      checkAborted(work.signal);
      this.#view?.busy();
      await task(work.signal);
      return true;
    } catch (error) {
      const fault = toFault(error);
      if (fault.code !== 'aborted') this.#fail(fault, again);
      return false;
    } finally {
      if (this.#work === work) this.#work = null;
      this.#view?.rest();
    }
  }

  #fail(fault: Fault, again: () => void): void {
    const playable = fault.code === 'no-webgpu' && this.trace !== null && !this.#replays;
    const recording = playable ? { text: 'Play a recording instead', run: () => void this.#play() } : null;
    this.#view?.fault(fault, FINAL.includes(fault.code) ? recording : { text: 'Try again', run: again });
    this.#emit('outrider-error', fault);
  }

  #pool(): EnginePool {
    if (!shared) throw new OutriderError('bug', 'the element was defined without an engine');
    if (this.isConnected) shared.join(this);
    return shared;
  }

  #request(): Omit<RunRequest, 'prompt' | 'maxTokens'> {
    const { knobs, constraint, temperature, topP, seed } = this;
    const given = Object.entries({ knobs, constraint, temperature, topP, seed }).filter(([, value]) => value !== null);
    return { system: systemOf(this), ...Object.fromEntries(given) };
  }

  #preparation(signal: AbortSignal): Preparation {
    return {
      wanted: async (systems) => ({
        sources: await sourcesOf(this, document.baseURI, systems),
        precision: (this.precision ?? undefined) as LoadOptions['precision'],
      }),
      signal,
      onProgress: (progress) => {
        this.#view?.progress(progress);
        this.#emit('outrider-progress', progress);
      },
      onLoaded: (loaded) => {
        this.#view?.loaded();
        this.#emit('outrider-ready', loaded);
      },
    };
  }

  protected override settingsChanged(): void {
    const { label, placeholder, disabled } = this;
    const mode = this.#replays ? 'replay' : 'chat';
    this.#view?.update({
      mode,
      label: label ?? 'Outrider',
      placeholder: placeholder ?? (mode === 'replay' ? '' : 'Ask something'),
      system: systemOf(this),
      disabled,
    });
  }

  /** False when the page prevented it. */
  #emit<Name extends keyof OutriderChatEventMap>(name: Name, detail: OutriderChatEventMap[Name]['detail']): boolean {
    const cancelable = name === 'outrider-start';
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }));
  }
}

/** Defines the element, once a page. `open` starts the engine that its elements share. */
export const define = (open: () => Engine): void => {
  if (!globalThis.customElements || customElements.get('outrider-chat')) return;
  shared = new EnginePool(open);
  customElements.define('outrider-chat', OutriderChat);
};

declare global {
  interface HTMLElementTagNameMap {
    'outrider-chat': OutriderChat;
  }
  interface GlobalEventHandlersEventMap extends OutriderChatEventMap {}
}
