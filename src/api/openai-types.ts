// The shapes of OpenAI's chat and text completions, as far as an engine without images and sound can answer them. Requests
// name further members as `unknown` where we refuse them by name (openai-request.ts) instead of ignoring them.

import type { TextPart } from '../text/message-content.ts';
import type { Extras, Report, Usage } from './completion.ts';
import type { ChatTool, ChatToolCall, ChatToolCallDelta, ResponseFormat, ToolChoice } from './openai-tool-types.ts';

export type { TextPart } from '../text/message-content.ts';
export type { Report, Usage } from './completion.ts';
export type { ChatTool, ChatToolCall, ChatToolCallDelta, ResponseFormat, ToolChoice } from './openai-tool-types.ts';

/** A message of a conversation. */
export interface ChatCompletionMessage {
  /** `developer` is what newer models call `system`. */
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  /** May be null where the assistant only calls tools. */
  readonly content?: string | readonly TextPart[] | null;
  readonly name?: string;
  readonly tool_calls?: readonly ChatToolCall[] | null;
  /** Of a tool's result. */
  readonly tool_call_id?: string;
  /** The assistant's reasoning; most templates leave out the reasoning of earlier answers. */
  readonly reasoning_content?: string | null;
}

/** What both kinds of completions take. */
interface SharedParams {
  /** Echoed in the answer; the models are those that the engine has loaded. */
  readonly model?: string;
  readonly max_tokens?: number | null;
  /** Default 1, as OpenAI has it; 0 is greedy. */
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  /** Choices, one after another: the i-th has the seed `seed + i`. */
  readonly n?: number | null;
  /** Any whole number; the engine takes it modulo 2³², and the report has what it took. */
  readonly seed?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
  /** May stand here or in the second argument. */
  readonly signal?: AbortSignal;
  readonly outrider?: OpenAIExtras;
  /** From -2 to 2, as both penalties: subtracted for each time that a token is in the answer so far. */
  readonly frequency_penalty?: number | null;
  /** Subtracted once from tokens that are in the answer so far. */
  readonly presence_penalty?: number | null;
  /** By token id of the loaded model, from -100 to 100. */
  readonly logit_bias?: Readonly<Record<string, number>> | null;
  readonly user?: unknown;
  readonly metadata?: unknown;
  readonly store?: unknown;
  readonly service_tier?: unknown;
  readonly safety_identifier?: unknown;
  readonly prompt_cache_key?: unknown;
}

/** Everything that OpenAI's interface has no word for. */
export interface OpenAIExtras extends Omit<Extras, 'minP'> {
  readonly top_k?: number;
  readonly min_p?: number;
  readonly repetition_penalty?: number;
  readonly min_tokens?: number;
  readonly bad_words?: readonly (string | readonly number[])[];
  /** Whether the model thinks first; default: as its chat template has it. */
  readonly reasoning?: boolean;
  /** The most tokens of reasoning. */
  readonly reasoning_budget?: number;
}

/** What `chat.completions.create` takes. */
export interface ChatCompletionParams extends SharedParams {
  readonly messages: readonly ChatCompletionMessage[];
  readonly max_completion_tokens?: number | null;
  readonly logprobs?: boolean | null;
  /** 0 to 20. */
  readonly top_logprobs?: number | null;
  readonly stream?: boolean | null;
  readonly tools?: readonly ChatTool[] | null;
  readonly tool_choice?: ToolChoice | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly response_format?: ResponseFormat | null;
  /** `none` and `minimal` switch reasoning off; `low`, `medium`, `high` and `xhigh` switch it on. */
  readonly reasoning_effort?: string | null;
  readonly functions?: unknown;
  readonly audio?: unknown;
  readonly modalities?: unknown;
  readonly prediction?: unknown;
  readonly verbosity?: unknown;
}

/** What `completions.create` takes. */
export interface CompletionParams extends SharedParams {
  /** A text to continue as it is, or token ids. It may be the only one of a list. */
  readonly prompt: string | readonly number[] | readonly [string | readonly number[]];
  readonly logprobs?: number | null;
  readonly stream?: boolean | null;
  /** The answer begins with the prompt; with `logprobs`, its tokens are scored too. `max_tokens` may then be 0. */
  readonly echo?: boolean | null;
  readonly suffix?: unknown;
  /** So many answers are written, and the n with the highest log-probability a token stay. Not with `stream`. */
  readonly best_of?: number | null;
}

/** Next to the parameters, as OpenAI's client takes them. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
}

interface ScoredToken {
  readonly token: string;
  readonly logprob: number;
  /** Null for a token that is part of a character. */
  readonly bytes: readonly number[] | null;
}

/** Log-probabilities of a message's tokens. */
export interface ChatLogprobs {
  readonly content: readonly (ScoredToken & { readonly top_logprobs: readonly ScoredToken[] })[];
  readonly refusal: null;
}

/** Log-probabilities of a completion's tokens. */
export interface CompletionLogprobs {
  readonly tokens: readonly string[];
  /** Null of the first token of an echoed prompt. */
  readonly token_logprobs: readonly (number | null)[];
  /** Null for the first token of an echoed prompt. */
  readonly top_logprobs: readonly (Readonly<Record<string, number>> | null)[];
}

/** Why an answer ended. */
export type FinishReason = 'stop' | 'length' | 'tool_calls';

interface Envelope<Name extends string> {
  readonly id: string;
  readonly object: Name;
  readonly created: number;
  readonly model: string;
}

/** A whole answer in a conversation. */
export interface ChatCompletion extends Envelope<'chat.completion'> {
  readonly choices: readonly {
    readonly index: number;
    readonly message: {
      readonly role: 'assistant';
      /** Null where the answer only calls tools. */
      readonly content: string | null;
      readonly refusal: null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly ChatToolCall[];
    };
    readonly logprobs: ChatLogprobs | null;
    readonly finish_reason: FinishReason;
  }[];
  readonly usage: Usage;
  /** One a choice. */
  readonly outrider: readonly Report[];
}

/** A piece of an answer in a conversation. */
export interface ChatCompletionChunk extends Envelope<'chat.completion.chunk'> {
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: 'assistant';
      readonly content?: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly ChatToolCallDelta[];
    };
    readonly logprobs: ChatLogprobs | null;
    readonly finish_reason: FinishReason | null;
  }[];
  /** With `include_usage`: null but in the last chunk, which has no choices. */
  readonly usage?: Usage | null;
  /** In the last chunk of a choice. */
  readonly outrider?: Report;
}

interface CompletionChoice<Finish> {
  readonly index: number;
  readonly text: string;
  readonly logprobs: CompletionLogprobs | null;
  readonly finish_reason: Finish;
}

/** A whole completion. */
export interface Completion extends Envelope<'text_completion'> {
  readonly choices: readonly CompletionChoice<FinishReason>[];
  readonly usage: Usage;
  readonly outrider: readonly Report[];
}

/** A piece of a completion. */
export interface CompletionChunk extends Envelope<'text_completion'> {
  readonly choices: readonly CompletionChoice<FinishReason | null>[];
  readonly usage?: Usage | null;
  readonly outrider?: Report;
}

/** Chunks as they come; leaving the loop ends the run. */
export interface Stream<Item> extends AsyncIterable<Item> {
  /** Its `abort` ends the stream, as the signal does and as leaving the loop does. */
  readonly controller: AbortController;
}

interface Create<Params, Whole, Chunk> {
  (params: Params & { readonly stream: true }, options?: RequestOptions): Promise<Stream<Chunk>>;
  (params: Params & { readonly stream?: false | null }, options?: RequestOptions): Promise<Whole>;
  (params: Params, options?: RequestOptions): Promise<Stream<Chunk> | Whole>;
}

/** The part of OpenAI's client that an engine serves. */
export interface OpenAI {
  readonly chat: {
    readonly completions: { readonly create: Create<ChatCompletionParams, ChatCompletion, ChatCompletionChunk> };
  };
  readonly completions: { readonly create: Create<CompletionParams, Completion, CompletionChunk> };
}
