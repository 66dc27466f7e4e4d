// What a step system sees of a target on another machine: it continues the text by a step. Types only; src/remote/
// speaks to the server, and to whom the step is told in the local models' tokens.
import type { Sampling } from '../../model/interface.ts';
import type { Emit } from '../../trace/index.ts';

export interface StepRequest {
  /** Which text ends a step. */
  readonly delimiter: string;
  /** In local tokens; at least one. */
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
  /** Is told of every step asked for: a `remote` event. */
  readonly emit: Emit;
  /** The step's text as it arrives. */
  readonly onText?: ((text: string) => void) | undefined;
}

export interface WrittenStep {
  /** In the local vocabulary, the delimiter or the end-of-text token included; at least one. */
  readonly tokens: readonly number[];
  readonly finish: 'delimiter' | 'end' | 'length';
}

export interface RemoteTarget {
  /** What the server calls the model. */
  readonly name: string;
  /**
   * The step after `tokens` (the prompt and all that is kept). Null where the server cannot be had and the run is to go
   * on with the draft's own step: an event has told why, and the server is left alone for the rest of the run.
   */
  writeStep(tokens: readonly number[], request: StepRequest): Promise<WrittenStep | null>;
}
