// The vocabulary that decoding systems are written in. A system is one file that starts a `Round`, and a round commits
// at least one token; the engine owns the loop, stopping, aborting and text.
import type { Choice, Cursor, LanguageModel, OpenCursor, Sampling } from '../model/model.ts';
import type { Emit, Source } from '../trace.ts';

export interface Models {
  readonly target: LanguageModel;
  readonly draft?: LanguageModel;
}
export type ModelRole = keyof Models;

/** Prompt and committed tokens: a live view that only the engine extends. */
export interface Sequence {
  readonly tokens: readonly number[];
  readonly sampling: Sampling;
  /** How many alternatives to score at each committed position; each costs a readback, so 0 unless asked for. */
  readonly alternatives: number;
}

export interface Score {
  readonly logprob: number;
  readonly top: readonly Choice[];
}

/** One entry a token in each list; `scores` where the system knows the target's probabilities. */
export interface Commit {
  readonly tokens: readonly number[];
  readonly source: readonly Source[];
  readonly scores: readonly Score[] | null;
}

export interface RoundContext {
  readonly sequence: Sequence;
  /** From 1; the first token, drawn from the prompt's last row, belongs to no round. */
  readonly round: number;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export type Round = (context: RoundContext) => Promise<Commit>;

/** A generation under way. Systems that work step by step have no first token. */
export interface Generation {
  readonly first: Commit | null;
  readonly round: Round;
}

export interface Knob {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly initial: number;
}
export type Knobs = Readonly<Record<string, Knob>>;

export interface RunContext<K extends Knobs = Knobs> {
  readonly models: Models;
  /** The prompt, to begin with. */
  readonly sequence: Sequence;
  readonly knobs: { readonly [Name in keyof K]: number };
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /**
   * This role's cursor. It may hold the first rows of the prompt already, from an earlier turn of the conversation;
   * never all of them. Between rounds it must hold committed tokens only, because the next run may begin there.
   */
  open(role: ModelRole, options?: Pick<OpenCursor, 'tapLayers'>): Promise<Cursor>;
}

/** One decoding system: one file, one default export. */
export interface DecodingSystem<K extends Knobs = Knobs> {
  readonly id: string;
  readonly title: string;
  /** Address of the paper; '' for folklore. */
  readonly paper: string;
  /** exact: the target's distribution, and its tokens at temperature 0. The contract test holds a system to it. */
  readonly guarantee: 'exact' | 'approximate';
  readonly needs: readonly ModelRole[];
  /** The demo builds its sliders from these. */
  readonly knobs: K;
  start(run: RunContext<K>): Promise<Generation>;
}
