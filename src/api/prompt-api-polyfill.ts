// A backend for prompt-api-polyfill (GoogleChromeLabs/web-ai-demos), which defines `LanguageModel` in a page. The
// polyfill keeps the conversation and hands it over whole, in Gemini's shape; each answer is a session that begins
// with it. The engine recognises what it has read before.

import type { Engine } from '../engine/engine.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import { stated } from './completion.ts';
import type { LanguageModelCreateOptions } from './prompt-api.ts';
import { isWithin, readSampling, unsupported } from './prompt-input.ts';
import { type PromptApiOptions, progressEvent, SharedLoad } from './prompt-load.ts';
import { Session } from './prompt-session.ts';

export type { LanguageModelCreateOptions } from './prompt-api.ts';
export type { PromptApiOptions } from './prompt-load.ts';

/** A message as the polyfill hands it over. */
export interface PolyfillContent {
  readonly role: string;
  /** Parts of another kind, such as `inlineData`, are refused. */
  readonly parts: readonly { readonly text?: string }[];
}

/** What the polyfill says of a session to its backend. */
export interface PolyfillSessionParams {
  readonly systemInstruction?: string;
  readonly generationConfig?: { readonly responseSchema?: object };
}

/** A piece of a streamed answer. */
export interface PolyfillChunk {
  /** Empty in the last piece, which has the count. */
  text(): string;
  /** 0 until the answer is complete. */
  readonly usageMetadata: { readonly totalTokenCount: number };
}

/** What the polyfill asks of the backend of one session. */
export interface PolyfillBackend {
  readonly modelName: string;
  /** Loads the models if they are not loaded. The polyfill calls it again for every `responseConstraint`. */
  createSession(
    options: LanguageModelCreateOptions,
    params: PolyfillSessionParams,
    monitor?: EventTarget | null,
  ): Promise<unknown>;
  /** The answer, and the tokens of the conversation with it. */
  generateContent(contents: readonly PolyfillContent[]): Promise<{ readonly text: string; readonly usage: number }>;
  /** The answer as it is written. Leaving the loop ends the run. */
  generateContentStream(contents: readonly PolyfillContent[]): Promise<AsyncGenerator<PolyfillChunk, void, undefined>>;
  /** How long the conversation is to the model, with its chat template. */
  countTokens(contents: readonly PolyfillContent[]): Promise<number>;
  /** A `responseConstraint`, for its prompt only. */
  convertSchema(schema: object): object;
}

/** What a file of the polyfill's folder `backends` exports as default. */
export interface PolyfillBackendClass {
  /** The polyfill's configuration is not read: the models are chosen here. */
  new (config?: unknown): PolyfillBackend;
  /** The polyfill creates no session of models that are still to be downloaded, so those are `available` too. */
  availability(options?: LanguageModelCreateOptions): 'available' | 'unavailable';
}

/** The polyfill keeps the schema of one prompt for those after it, and for clones. They are not to obey it. */
class OneAnswer {
  #schema: object | undefined;

  constructor(schema: object) {
    this.#schema = schema;
  }

  take(): object | undefined {
    const schema = this.#schema;
    this.#schema = undefined;
    return schema;
  }
}

const ROLES: Readonly<Record<string, ChatMessage['role']>> = { system: 'system', user: 'user', model: 'assistant' };

const messageOf = ({ role, parts }: PolyfillContent): ChatMessage => {
  const as = ROLES[role];
  if (!as) throw new TypeError(`there is no role "${role}": use system, user or model`);
  const texts = parts.map(({ text }) => {
    if (typeof text !== 'string') throw unsupported('a part that is not text');
    return text;
  });
  return { role: as, content: texts.join('') };
};

/** One list a question with its answer. */
const inPairs = (messages: readonly ChatMessage[]): readonly (readonly ChatMessage[])[] => {
  const pairs: ChatMessage[][] = [];
  for (const [i, message] of messages.entries()) {
    if (i === 0 || messages[i - 1]?.role === 'assistant') pairs.push([]);
    pairs.at(-1)?.push(message);
  }
  return pairs;
};

/** The sessions of all backends run on this engine, with the same models. The caller closes the engine. */
export const promptApiBackend = (engine: Engine, { models, load, ...rest }: PromptApiOptions): PolyfillBackendClass => {
  const shared = new SharedLoad(engine, { models, ...(load && { load }) });

  return class implements PolyfillBackend {
    readonly modelName = typeof models.target === 'string' ? models.target : 'outrider';
    #options: LanguageModelCreateOptions = {};
    #params: PolyfillSessionParams = {};

    static availability(options: LanguageModelCreateOptions = {}): 'available' | 'unavailable' {
      return isWithin(options) && shared.state !== 'unavailable' ? 'available' : 'unavailable';
    }

    async createSession(
      options: LanguageModelCreateOptions,
      params: PolyfillSessionParams,
      monitor: (EventTarget & { __lastProgressLoaded?: number }) | null = null,
    ): Promise<unknown> {
      // Before the first await: the polyfill does not wait when it only sets a schema.
      [this.#options, this.#params] = [options, params];
      if (!isWithin(options)) throw unsupported('anything but text');
      readSampling(options); // refuses
      await shared.load((loaded) => {
        // The polyfill tells some steps itself.
        if (!monitor || loaded <= (monitor.__lastProgressLoaded ?? -1)) return;
        monitor.__lastProgressLoaded = loaded;
        monitor.dispatchEvent(progressEvent(loaded));
      }, options.signal);
      return engine;
    }

    async generateContent(contents: readonly PolyfillContent[]): Promise<{ text: string; usage: number }> {
      const asked = this.#asked();
      const { session, question } = await this.#session(this.#instructed(contents));
      const text = await session.prompt(question, asked);
      return { text, usage: session.contextUsage };
    }

    async generateContentStream(
      contents: readonly PolyfillContent[],
    ): Promise<AsyncGenerator<PolyfillChunk, void, undefined>> {
      const asked = this.#asked();
      const { session, question } = await this.#session(this.#instructed(contents));
      return chunksOf(session, session.promptStreaming(question, asked).getReader());
    }

    async countTokens(contents: readonly PolyfillContent[]): Promise<number> {
      if (contents.length === 0) return 0;
      const { session, question } = await this.#session(contents);
      return session.measureContextUsage(question, stated({ signal: this.#options.signal }));
    }

    convertSchema(schema: object): object {
      return new OneAnswer(schema);
    }

    /** The polyfill puts the system prompt there itself when it counts, and leaves it out when it asks. */
    #instructed(contents: readonly PolyfillContent[]): readonly PolyfillContent[] {
      const { systemInstruction: text } = this.#params;
      if (text === undefined || contents[0]?.role === 'system') return contents;
      return [{ role: 'system', parts: [{ text }] }, ...contents];
    }

    #asked() {
      const schema = this.#params.generationConfig?.responseSchema;
      const responseConstraint = schema instanceof OneAnswer ? schema.take() : schema;
      return stated({ responseConstraint, signal: this.#options.signal });
    }

    /** A session to which all but the question was said. Templates want a question, so there is always one. */
    async #session(contents: readonly PolyfillContent[]) {
      const said = contents.map(messageOf);
      const question = said.at(-1)?.role === 'user' ? (said.pop()?.content ?? '') : '';
      const { initialPrompts = [], tools = [], signal } = this.#options;
      const spoken = initialPrompts.filter(({ role }) => role !== 'system').length;
      const kept = spoken + (said[0]?.role === 'system' ? 1 : 0);
      const [mode, sampler] = readSampling(this.#options);
      const contextWindow = await shared.load(() => {}, signal);
      const session = new Session({
        engine,
        contextWindow,
        request: { ...stated(rest), ...sampler },
        mode,
        sampler,
        initial: said.slice(0, kept),
        turns: inPairs(said.slice(kept)),
        tools,
        gone: () => shared.forget(),
      });
      return { session, question };
    }
  };
};

async function* chunksOf(
  session: Session,
  reader: ReadableStreamDefaultReader<string>,
): AsyncGenerator<PolyfillChunk, void, undefined> {
  const chunk = (text: string, totalTokenCount: number): PolyfillChunk => ({
    text: () => text,
    usageMetadata: { totalTokenCount },
  });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield chunk(next.value, 0);
    yield chunk('', session.contextUsage);
  } finally {
    await reader.cancel().catch(() => {}); // after an error there is nothing to end
  }
}
