// What an engine may be asked: a prompt, a decoding system with its knobs, limits and sampling.
import type { Constraint } from '../constraint/constraint.ts';
import type { KnobValue } from '../decode/core/knobs.ts';
import type { SystemId } from '../systems/ids.ts';
import type { PromptMessage } from '../text/message-content.ts';
import type { Tools } from '../text/tool-calls/tools.ts';

/** A conversation (through the chat template), a text to continue as it is, or token ids. */
export type Prompt =
  /** `begin`: how the answer begins; the model goes on from there. */
  | { readonly messages: readonly PromptMessage[]; readonly begin?: string }
  /** Special tokens that are written in the text are read as such; with `plain` they stay text. */
  | { readonly text: string; readonly plain?: boolean }
  | { readonly tokens: readonly number[] };

/** The reasoning of a model that thinks before it answers. */
export interface Reasoning {
  /** Default: what the chat template does by itself. */
  readonly enabled?: boolean;
  /** The most tokens between the tags; there the closing tag is written for the model. */
  readonly budget?: number;
}

/** What a run is asked for. */
export interface RunRequest {
  readonly prompt: Prompt;
  /** The decoding system: an id of `Loaded.systems`, such as `prompt-lookup`. Default `autoregressive`. */
  readonly system?: SystemId;
  /** Settings of the system, by knob: `Loaded.systems` has their names, ranges and initial values. */
  readonly knobs?: Readonly<Record<string, KnobValue>>;
  /**
   * The most committed tokens; drafts do not count. Default: 1024, or fewer when the context has less room. It may be 0
   * with `promptLogprobs`: then only the prompt is scored.
   */
  readonly maxTokens?: number;
  /** 0 to 100. Default 0: greedy. */
  readonly temperature?: number;
  /** Draws among the `topK` most probable tokens. Default 0: all. */
  readonly topK?: number;
  /** Draws among the fewest tokens whose probabilities sum to `topP`, 0 to 1. Default 1: all. */
  readonly topP?: number;
  /** Draws among tokens at least `minP` times (0 to 1) as probable as the most probable one. Default 0: all. */
  readonly minP?: number;
  /** A whole number below 2³². Default: 0 for a greedy run, otherwise random. The `run` event has it. */
  readonly seed?: number;
  /** The answer ends before the first of these texts. */
  readonly stop?: readonly string[];
  /**
   * From 0.01 to 100; 1 changes nothing. Of tokens that occur in prompt or answer, positive logits are divided by it and
   * the others multiplied. The order of all changes: `logitBias`, this, frequency, presence, then what is ruled out; then
   * temperature and the filters. Plain decoding and speculative systems take these fields; the others refuse them.
   */
  readonly repetitionPenalty?: number;
  /** From -2 to 2: subtracted from the logit of every token that occurs in the answer so far. */
  readonly presencePenalty?: number;
  /** From -2 to 2: subtracted for each time that the token occurs in the answer so far. */
  readonly frequencyPenalty?: number;
  /** By token id, from -100 to 100: added to the token's logit. */
  readonly logitBias?: Readonly<Record<number, number>>;
  /** No stop token is drawn, and no stop string ends the answer, before it has so many tokens. A constraint may. */
  readonly minTokens?: number;
  /**
   * Texts, or lists of token ids, that are not written. A text is ruled out as the tokenizer splits it at the beginning
   * of a text and after a space; other ways to split it are not found.
   */
  readonly badWords?: readonly (string | readonly number[])[];
  /**
   * The whole answer, with `prompt.begin`, has this form: valid JSON by a schema, a regular expression, a grammar, or
   * one of several texts. With plain decoding and speculative systems; at temperature > 0 drafts are kept where they
   * are the target's own draws.
   */
  readonly constraint?: Constraint;
  /** Functions that the model may call. The `run` event says how it writes calls; answer-format.ts reads them. */
  readonly tools?: Tools;
  /** With this field, if only `{}`, reasoning is told apart: a constraint holds for the answer after it. */
  readonly reasoning?: Reasoning;
  /**
   * A text that answers may quote: a file to be edited, a page to be summarised. Look-ups draft from it too
   * (`suffix-decoding`, `combined`); it is no part of the prompt.
   */
  readonly document?: string;
  /** Continue after the model's own end-of-text tokens. */
  readonly ignoreEos?: boolean;
  /**
   * Report each token's log-probability, and so many of the most probable alternatives (0 to 20). Step routers report no
   * alternatives for the draft's steps, and nothing for those of a target on another machine.
   */
  readonly logprobs?: number;
  /**
   * Report the log-probability of the prompt's own tokens, with so many alternatives (0 to 20), in an event `prompt`. It
   * reads the prompt once more, and reads back the logits of every row.
   */
  readonly promptLogprobs?: number;
  /** Time every kernel: the `spans` of each round. Slower; the device must have timestamps. */
  readonly profile?: boolean;
  /** Read the whole prompt, without the rows cached by earlier runs: for timing runs against each other. */
  readonly fresh?: boolean;
}

/** What the tokens of the prompt follow from. */
export type PromptRequest = Pick<RunRequest, 'prompt' | 'tools' | 'reasoning' | 'fresh'>;
