// What a step system sees of a target on another machine: it continues the text by a step. Types only: src/remote/
// speaks to the server and translates between its text and the local models' tokens.
import type { Sampling } from '../../model/interface.ts';
import type { Emit } from '../../trace/index.ts';

export interface StepRequest {
  /** Tokens of the prompt, with which the text begins. */
  readonly promptLength: number;
  /** The text that ends a step. */
  readonly delimiter: string;
  /** In local tokens; at least one. */
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
  /** Receives a `remote` event for every step that was requested. */
  readonly emit: Emit;
}

export interface WrittenStep {
  /** In the local vocabulary, the delimiter or the end-of-text token included; at least one. */
  readonly tokens: readonly number[];
  readonly finish: 'delimiter' | 'end' | 'length';
}

export interface RemoteTarget {
  /** The model's name on the server. */
  readonly name: string;
  /** The most tokens that it can read, by its own count. A server does not say. */
  readonly context?: number;
  /**
   * The step after `tokens` (the prompt and all committed steps). Null where the server fails and the run is to go on
   * with the draft's own step: a `remote` event says why, and the run does not ask the server again.
   */
  writeStep(tokens: readonly number[], request: StepRequest): Promise<WrittenStep | null>;
}
