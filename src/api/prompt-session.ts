// A session of the Prompt API over an engine: a conversation with one operation at a time. When it exceeds the context
// window, its oldest messages are left out. The engine recognises the conversation's beginning and does not read it
// twice.

import { OutriderError, unlessAborted } from '../base/errors.ts';
import type { Constraint } from '../constraint/constraint.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import type { ToolFunction } from '../text/tool-calls/tools.ts';
import { type Answer, type AnswerEvent, answer, type Piece, type ToolCall } from './completion.ts';
import { withinContext } from './context-window.ts';
import { inTurn } from './in-turn.ts';
import {
  beginOf,
  type LanguageModelPrompt,
  type LanguageModelTool,
  lateSystem,
  optionsOf,
  readConstraint,
  readPrompt,
  type Sampler,
  type SamplingMode,
} from './prompt-input.ts';

/** Of one operation. */
export interface LanguageModelPromptOptions {
  readonly signal?: AbortSignal;
  /** A JSON Schema, or a RegExp: the whole answer has this form. */
  readonly responseConstraint?: object;
  /** The schema is never added to the prompt, so this changes nothing. */
  readonly omitResponseConstraintInput?: boolean;
}

/** As the specification has it: how much was asked for, and how much there is. */
export class QuotaExceededError extends DOMException {
  readonly requested: number;
  readonly quota: number;

  constructor(requested: number, quota: number) {
    super(`${requested} tokens do not fit the context of ${quota}`, 'QuotaExceededError');
    this.requested = requested;
    this.quota = quota;
  }
}

export interface SessionSetup {
  readonly engine: Engine;
  readonly contextWindow: number;
  readonly request: Omit<RunRequest, 'prompt'>;
  readonly mode: SamplingMode | null;
  readonly sampler: Sampler;
  /** Never dropped. */
  readonly initial: readonly ChatMessage[];
  /** What was said afterwards, one list a question with its answer. */
  readonly turns?: readonly (readonly ChatMessage[])[];
  readonly tools: readonly LanguageModelTool[];
  /** Called when the engine no longer has the models. */
  readonly gone: () => void;
}

/** What happened, by its name in the specification and by the one that Chrome shipped first. */
const OVERFLOWS = ['contextoverflow', 'quotaoverflow'] as const;

/** A model that only calls tools would never answer. */
const MOST_CALLS = 8;

/** What an operation does, and what its answer is to be. */
interface Asked {
  readonly kind: 'answer' | 'read' | 'measure' | 'begin';
  readonly signal: AbortSignal;
  readonly begin: string | undefined;
  readonly constraint: Constraint | undefined;
}

interface ChatCall {
  readonly id: string;
  readonly name: string;
  input: string;
}

const asked = (content: string, calls: readonly ChatCall[]): ChatMessage => ({
  role: 'assistant',
  content,
  tool_calls: calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } })),
});

const destroyed = (): DOMException => new DOMException('the session was destroyed', 'InvalidStateError');

/** A conversation. */
export class Session extends EventTarget {
  /** The oldest messages were left out of the context. */
  oncontextoverflow: ((event: Event) => void) | null = null;
  /** The name that Chrome shipped first. */
  onquotaoverflow: ((event: Event) => void) | null = null;
  readonly #setup: SessionSetup;
  readonly #end = new AbortController();
  /** One list an operation, what was said and, if the model answered, its answer; an answer alone is in the last. */
  #turns: readonly (readonly ChatMessage[])[];
  #usage = 0;
  /** The operation before the next. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(setup: SessionSetup) {
    super();
    this.#setup = setup;
    this.#turns = setup.turns ?? [];
    for (const type of OVERFLOWS) this.addEventListener(type, (event) => this[`on${type}`]?.(event));
  }

  get contextWindow(): number {
    return this.#setup.contextWindow;
  }

  /** Tokens of the conversation, answers included and reasoning not. */
  get contextUsage(): number {
    return this.#usage;
  }

  /** Null where the session samples by numbers. */
  get samplingMode(): SamplingMode | null {
    return this.#setup.mode;
  }

  get temperature(): number {
    return this.#setup.sampler.temperature;
  }

  get topK(): number {
    return this.#setup.sampler.topK;
  }

  /** The names that Chrome shipped first. */
  get inputUsage(): number {
    return this.contextUsage;
  }

  get inputQuota(): number {
    return this.contextWindow;
  }

  /** The name that Chrome shipped first. */
  measureInputUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number> {
    return this.measureContextUsage(input, options);
  }

  /** The whole answer. */
  async prompt(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<string> {
    let text = '';
    for await (const chunk of this.#respond(input, optionsOf(options))) text += chunk;
    return text;
  }

  /** The answer as it is written. It is written whether or not the stream is read, so that the next prompt can start. */
  promptStreaming(input: LanguageModelPrompt, given?: LanguageModelPromptOptions): ReadableStream<string> {
    const options = optionsOf(given);
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, ...(options.signal ? [options.signal] : [])]);
    const chunks = this.#respond(input, { ...options, signal });
    const write = async (controller: ReadableStreamDefaultController<string>): Promise<void> => {
      try {
        for await (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      } catch (error) {
        if (!left.signal.aborted) controller.error(error);
      }
    };
    return new ReadableStream({
      start: (controller) => void write(controller),
      cancel: () => left.abort(),
    });
  }

  /** The model reads it at once, so that the prompt after it need not wait. */
  async append(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<undefined> {
    await this.#drain(this.#operate(input, optionsOf(options), 'read'));
  }

  /** How much `contextUsage` would grow by this, before an answer. */
  async measureContextUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number> {
    try {
      return (await this.#measure(input, optionsOf(options))) - this.#usage;
    } catch (error) {
      if (error instanceof QuotaExceededError) return error.requested - this.#usage;
      throw error;
    }
  }

  /** A session that has read the same so far. */
  async clone(options?: { readonly signal?: AbortSignal }): Promise<Session> {
    this.#signal(optionsOf(options).signal).throwIfAborted();
    const copy = new Session(this.#setup);
    copy.#turns = this.#turns;
    copy.#usage = this.#usage;
    return copy;
  }

  /** Ends what runs; whatever is asked of it afterwards fails. */
  destroy(reason: unknown = destroyed()): void {
    this.#end.abort(reason);
  }

  /** Reads the initial prompts, and throws where they alone are too long. */
  async begin(options: LanguageModelPromptOptions): Promise<void> {
    const last = this.#setup.initial.at(-1)?.role;
    if (last === 'user') await this.#drain(this.#operate([], options, 'begin'));
    // Templates want a question last, so these are read with the first one; until then they count with an empty one.
    else if (last !== undefined) this.#usage = await this.#measure([], options);
  }

  /** Tokens of the conversation with this. */
  async #measure(input: LanguageModelPrompt, options: LanguageModelPromptOptions): Promise<number> {
    let tokens = 0;
    for await (const event of this.#operate(input, options, 'measure'))
      if (event.type === 'end') tokens = event.usage.prompt_tokens;
    return tokens;
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any(signal ? [signal, this.#end.signal] : [this.#end.signal]);
  }

  async *#respond(
    input: LanguageModelPrompt,
    options: LanguageModelPromptOptions,
  ): AsyncGenerator<string, void, undefined> {
    for await (const event of this.#operate(input, options, 'answer')) if (event.type === 'piece') yield event.text;
  }

  /** Runs one operation after those before it. An abort leaves the conversation as it was. */
  async *#operate(
    input: LanguageModelPrompt,
    options: LanguageModelPromptOptions,
    kind: 'answer' | 'read' | 'measure' | 'begin',
  ): AsyncGenerator<Piece | Answer, void, undefined> {
    const signal = this.#signal(options.signal);
    const before = this.#last;
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#last = before.then(() => finished);
    try {
      // Read at the call, as a browser does: the page may change its list while it waits.
      let said = kind === 'begin' ? [] : readPrompt(input);
      const begin = kind === 'answer' && beginOf(input) ? (said.at(-1)?.content ?? '') : undefined;
      if (begin !== undefined) said = said.slice(0, -1);
      const how = { kind, signal, begin, constraint: readConstraint(options.responseConstraint, begin !== undefined) };
      await unlessAborted(before, signal);
      if (said[0]?.role === 'system' && this.#setup.initial.length + this.#turns.length > 0) throw lateSystem();
      for (let called = 0; ; called++) {
        let text = '';
        const calls: ChatCall[] = [];
        for await (const event of this.#run(said, called === 0 ? how : { ...how, begin: undefined })) {
          if (event.type === 'piece') text += event.text;
          else if (event.type === 'call') calls.push({ id: event.id, name: event.name, input: '' });
          else if (event.type === 'arguments') (calls[event.call] as ChatCall).input += event.text;
          else if (kind !== 'measure' && calls.length === 0)
            this.#keep(said, kind === 'answer' ? (called === 0 ? (begin ?? '') : '') + text : null, event);
          if (event.type === 'piece' || (event.type === 'end' && calls.length === 0)) yield event;
        }
        if (calls.length === 0) break;
        if (called === MOST_CALLS) throw new DOMException(`the model called tools ${called} times`, 'OperationError');
        const results = Promise.all(calls.map((call) => this.#execute(call)));
        said = [...said, asked(text, calls), ...(await unlessAborted(results, signal))];
      }
    } finally {
      finish();
    }
  }

  #keep(said: readonly ChatMessage[], text: string | null, { usage }: Answer): void {
    const answered = text === null ? said : [...said, { role: 'assistant', content: text }];
    // An answer is forgotten with its question: many templates refuse a conversation that begins with the assistant.
    const from = answered[0]?.role === 'assistant' ? -1 : this.#turns.length;
    const turn = [...this.#turns.slice(from).flat(), ...answered];
    if (turn.length > 0) this.#turns = [...this.#turns.slice(0, from), turn];
    // The next prompt is without the reasoning.
    const { reasoning_tokens: reasoning } = usage.completion_tokens_details;
    this.#usage = text === null ? usage.prompt_tokens : usage.total_tokens - reasoning;
  }

  async #execute({ id, name, input }: ChatCall): Promise<ChatMessage> {
    const tool = this.#setup.tools.find((each) => each.name === name);
    const result = async (): Promise<string> => {
      if (!tool) return `There is no tool ${name}.`;
      return String(await tool.execute(JSON.parse(input)));
    };
    // The model hears of a tool that failed, and may go on.
    const content = await result().catch((error: unknown) => `The tool failed: ${String(error)}`);
    return { role: 'tool', content, tool_call_id: id, name };
  }

  /** The model on the conversation so far and this, without the oldest messages when they do not fit. */
  async *#run(said: readonly ChatMessage[], how: Asked): AsyncGenerator<Piece | ToolCall | Answer, void, undefined> {
    const { engine, request, initial, tools } = this.#setup;
    const { kind, signal, begin, constraint } = how;
    const turns = this.#turns;
    const functions = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      parameters: inputSchema as NonNullable<ToolFunction['parameters']>,
    }));
    const extras = {
      ...(functions.length > 0 && { tools: { functions } }),
      ...(constraint && { constraint }),
      reasoning: {},
    };
    // The engine writes at least one token, which is used in an answer only.
    const maxTokens = kind === 'answer' ? request.maxTokens : 1;
    const [measured, droppable] = kind === 'measure' ? [turns.flat(), []] : [[], turns];
    const ask = (seen: readonly ChatMessage[], limit: Pick<RunRequest, 'maxTokens'>) => {
      const messages = inTurn([...initial, ...measured, ...seen, ...said]);
      const prompt = { messages, ...(begin !== undefined && { begin }) };
      return answer(engine, { ...request, ...limit, ...extras, prompt }, { signal });
    };
    const leftOut = (dropped: number): void => {
      if (this.#turns.length > turns.length - dropped) this.#drop(dropped);
    };
    const hasBegun = ({ type }: AnswerEvent): boolean => type !== 'begun' && !signal.aborted;
    try {
      for await (const event of withinContext(droppable, maxTokens, ask, leftOut, hasBegun)) {
        if (event.type === 'begun' || event.type === 'reasoning') continue;
        signal.throwIfAborted();
        yield event;
      }
    } catch (error) {
      if (!(error instanceof OutriderError)) throw error;
      const { code, message, overflow: over } = error;
      // A worker that had to be ended is replaced by one without models.
      if (code === 'device-lost' || message.startsWith('no model is loaded')) this.#setup.gone();
      if (code === 'bad-constraint') throw new DOMException(message, 'NotSupportedError');
      if (over) throw new QuotaExceededError(over.requested - (kind === 'answer' ? 0 : 1), over.context);
      throw error;
    }
  }

  #drop(turns: number): void {
    this.#turns = this.#turns.slice(turns);
    for (const type of OVERFLOWS) this.dispatchEvent(new Event(type));
  }

  async #drain(events: AsyncGenerator<unknown>): Promise<undefined> {
    for await (const _ of events);
  }
}
