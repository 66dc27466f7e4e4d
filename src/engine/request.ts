// What an engine may be asked: a prompt, a decoding system with its knobs, limits and sampling.
import type { Constraint } from '../constraint/constraint.ts';
import type { KnobValue } from '../decode/core/knobs.ts';
import type { ChatMessage } from '../text/chat-template.ts';

/** A conversation (through the chat template), a text to continue as it is, or token ids. */
export type Prompt =
  | { readonly messages: readonly ChatMessage[] }
  /** Special tokens that are written in the text are read as such; with `plain` they stay text. */
  | { readonly text: string; readonly plain?: boolean }
  | { readonly tokens: readonly number[] };

/** What a run is asked for. */
export interface RunRequest {
  readonly prompt: Prompt;
  /** Default `autoregressive`. */
  readonly system?: string;
  readonly knobs?: Readonly<Record<string, KnobValue>>;
  /** The most committed tokens; drafts do not count. Default: 1024, or fewer when the context has less room. */
  readonly maxTokens?: number;
  /** Default 0: greedy. */
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  /** Default: 0 for a greedy run, otherwise random. The `run` event has it. */
  readonly seed?: number;
  readonly stop?: readonly string[];
  /**
   * The whole answer has this form: valid JSON by a schema, a regular expression, a grammar, or one of several texts. With
   * plain decoding and speculative systems; at temperature > 0 drafts are kept where they are the target's own draws.
   */
  readonly constraint?: Constraint;
  /** Continue after the model's own end-of-text tokens. */
  readonly ignoreEos?: boolean;
  /** Report each token's log-probability, and so many of the most probable alternatives (0 to 20). */
  readonly logprobs?: number;
  /** Time every kernel: the `spans` of each round. Slower; the device must have timestamps. */
  readonly profile?: boolean;
  /** Read the whole prompt, without the rows cached by earlier runs: for timing runs against each other. */
  readonly fresh?: boolean;
}
