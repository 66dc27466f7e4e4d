// The vocabulary that decoding systems are written in. A system is one file that starts a `Round`, and a round commits
// at least one token; the engine owns the loop, stopping, aborting and text.
import type {
  BlockCursor,
  BlockDrafter,
  Choice,
  Combination,
  Cursor,
  Ensemble,
  FeatureCursor,
  FeatureDrafter,
  LanguageModel,
  OpenCursor,
  OpenEnsemble,
  Sampling,
} from '../../model/interface.ts';
import type { Emit, Escalates, Role, Source } from '../../trace/index.ts';
import { fittedKnobs, type Knobs, type KnobValue, type KnobValues } from './knobs.ts';
import type { RemoteTarget } from './remote-target.ts';
import type { Timings } from './timings.ts';

/** Predicts what a block of each size would commit; no language model, so it has no cursor. */
export interface BlockPolicy extends Disposable {
  readonly vocabulary: number;
  /** Ascending; 1 is plain decoding. */
  readonly blockSizes: readonly number[];
  /** Expected acceptance length τ for each block size, in their order. `logits`: the prompt's last row. */
  predict(logits: Float32Array): Promise<readonly number[]>;
}

/** Places texts so that those which mean alike are near each other. */
export interface SentenceEncoder extends Disposable {
  readonly bytes: number;
  /** A unit vector for each text. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** A step of an answer, and who wrote it. */
export interface JudgedStep {
  readonly tokens: readonly number[];
  readonly by: 'draft' | 'target';
}

/** Scores steps of a text: a process reward model, or a router that predicts whether the target would do better. */
export interface Judge extends Disposable {
  readonly family: string;
  /** The reward of a step; or how likely the target's step would be the better one. */
  readonly gives: 'reward' | 'advantage';
  /** Most tokens that it can read, those of its own layout included. */
  readonly context: number;
  /** On the device. */
  readonly bytes: number;
  /** `capacity`: tokens of the texts to be judged; it makes room itself for what its layout adds. Default: its context. */
  open(options?: { readonly capacity?: number }): Promise<JudgeCursor>;
}

/** It keeps what it has read, from run to run: only rows that it has not seen cost anything. */
export interface JudgeCursor extends Disposable {
  readonly capacity: number;
  /** When it fails, the run is to go on without it: the target writes the steps that nobody can judge. */
  readonly dispensable?: boolean;
  /** What it has read is of no use any more. */
  forget(): void;
  /** A probability for each candidate as the step after `steps`. `problem`: the prompt, in the target's vocabulary. */
  score(
    problem: readonly number[],
    steps: readonly JudgedStep[],
    candidates: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<readonly number[]>;
}

/** Members of an ensemble beside the target: `also-1`, `also-2`, … */
export type AlsoRole = `also-${number}`;
/** Roles of language models. */
export type WriterRole = 'target' | 'draft' | AlsoRole;

/** What may be loaded, by what it is there for. */
export interface Models {
  readonly target: LanguageModel;
  readonly draft?: LanguageModel;
  readonly [also: AlsoRole]: LanguageModel | undefined;
  readonly dflash?: BlockDrafter;
  readonly eagle3?: FeatureDrafter;
  readonly policy?: BlockPolicy;
  readonly prm?: Judge;
  readonly router?: Judge;
  /** Compares candidate steps. */
  readonly sentences?: SentenceEncoder;
  /** Writes steps in the target's place. Where no target is loaded beside it, `target` is the draft: it reads the text. */
  readonly remote?: RemoteTarget;
}
/** What a model is loaded for. */
export type ModelRole = keyof Models;

/** What a role's model is seen through, where it reads a text. */
export interface Cursors {
  readonly target: Cursor;
  readonly draft: Cursor;
  readonly [also: AlsoRole]: Cursor;
  readonly dflash: BlockCursor;
  readonly eagle3: FeatureCursor;
  readonly prm: JudgeCursor;
  readonly router: JudgeCursor;
}

/** Prompt and committed tokens: a live view that only the engine extends. */
export interface Sequence {
  readonly tokens: readonly number[];
  /** Tokens that may still be committed: what the request and the context leave. */
  readonly budget: number;
  readonly sampling: Sampling;
  /**
   * How many alternatives to score at each committed position; they cost a round one more readback, so 0 unless asked for.
   * Null: no probabilities are wanted at all.
   */
  readonly alternatives: number | null;
}

/** How probable a token was, and what else could have been there. */
export interface Score {
  readonly logprob: number;
  readonly top: readonly Choice[];
}

/** What the models of an ensemble said of a token. */
export interface Vote {
  /** Of the committed token. */
  readonly r: number;
  /** By member. */
  readonly own: readonly {
    readonly by: Role;
    readonly token: number;
    readonly probability: number;
    readonly committed: number;
  }[];
}

/** One entry a token in each list; `scores` where the system knows the target's probabilities. */
export interface Commit {
  readonly tokens: readonly number[];
  readonly source: readonly Source[];
  readonly scores: readonly Score[] | null;
  /** Of an ensemble: who proposed each token (null: nobody, it was drawn from r), and what every member said of it. */
  readonly by?: readonly (Role | null)[];
  readonly votes?: readonly Vote[];
  /** The answer ends here, as at a limit: the system has nothing to add. */
  readonly last?: true;
}

/** What a round knows. */
export interface RoundContext {
  readonly sequence: Sequence;
  /** From 1; the first token, drawn from the prompt's last row, belongs to no round. */
  readonly round: number;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Commits at least one token. */
export type Round = (context: RoundContext) => Promise<Commit>;

/** A generation under way. Systems that work step by step have no first token. */
export interface Generation {
  readonly first: Commit | null;
  readonly round: Round;
}

/** What a system starts a run with. */
export interface RunContext<K extends Knobs = Knobs> {
  readonly models: Models;
  /** The prompt, to begin with. */
  readonly sequence: Sequence;
  readonly knobs: KnobValues<K>;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** How long this system's rounds took so far, in this and earlier runs on these models. */
  readonly timings: Timings;
  /** The text of a token by itself; null where the models came without a tokenizer. */
  readonly tokenText: ((token: number) => string) | null;
  /** What ends an answer. */
  readonly stopTokens: ReadonlySet<number>;
  /** Of a system nested in another: what was refused as the text's next step. It may be drafted, as it often begins well. */
  readonly refused?: readonly number[];
  /** A JSON file that lies beside the draft's weights; null where there is none. */
  sidecar(file: string): Promise<unknown>;
  /**
   * This role's cursor. It may hold the first rows of the prompt already, from an earlier turn of the conversation;
   * never all of them. Between rounds it must hold committed tokens only, because the next run may begin there.
   */
  open<Role extends keyof Cursors>(role: Role, options?: OpenOptions): Promise<Cursors[Role]>;
  /** These models as one ensemble, by identity; kept from run to run, as cursors are. */
  join(members: readonly WriterRole[], combination: Combination, options?: OpenEnsemble): Promise<Ensemble>;
}

export interface OpenOptions extends Pick<OpenCursor, 'tapLayers' | 'nodes' | 'forks' | 'rollout' | 'pool'> {
  /** Rows that may be needed beyond the answer's end: a step is written whole, also where the budget cuts it. */
  readonly ahead?: number;
}

/** Which kind of system it is; lists are sorted by it. */
export type SystemGroup = keyof typeof SYSTEM_GROUPS;

/** Groups of systems and their titles, in the order of lists. */
export const SYSTEM_GROUPS = {
  baseline: 'Plain decoding',
  speculative: 'Speculative decoding',
  ensemble: 'Ensembles of models',
  'step-level': 'Step-level routing',
  comparison: 'For comparison with step-level routing',
} as const;

/** What a system says of itself, as plain data: command line, pages, tests and documents read it here. */
export interface SystemFacts {
  readonly id: string;
  readonly title: string;
  /** One plain sentence: how it decodes. */
  readonly summary: string;
  readonly group: SystemGroup;
  /** Address of the paper; '' where there is none. */
  readonly paper: string;
  /** exact: its baseline's distribution, and its tokens at temperature 0. The contract tests hold a system to it. */
  readonly guarantee: 'exact' | 'approximate';
  /** Id of the system whose output an exact one has, and whose speed it is measured against. Default: plain decoding. */
  readonly baseline?: string;
  readonly needs: readonly ModelRole[];
  /** What makes it faster, or better, where it is loaded. */
  readonly uses?: readonly ModelRole[];
  /** Joins models to an ensemble: members that were named (`also-1`, …) take the place of the draft it would need. */
  readonly joins?: true;
  /** With a remote target it runs without a local one. */
  readonly remote?: true;
  /** It can write the escalated steps of a step system: where its models are loaded, or only where a knob asks for it. */
  readonly writesSteps?: 'by-default' | 'on-request';
  /** Step routers: does a score above the threshold escalate a step, or one below it? */
  readonly escalates?: Escalates;
  /** Step routers: the knob that holds the threshold. */
  readonly threshold?: string;
  /** It goes by what is usual for the draft's steps, which `Engine.calibrate` measures. */
  readonly calibrated?: true;
  /** Pages build their controls from these. */
  readonly knobs: Knobs;
}

/** Settings under which the contract tests run a system. */
export interface Variant {
  readonly knobs: Readonly<Record<string, KnobValue>>;
  /**
   * True: drafts are drawn from the drafter's distribution, so a sampled run has its baseline's distribution. False: the
   * target's own draw decides, so a sampled run has its baseline's very tokens.
   */
  readonly drawn: boolean;
}

/** One decoding system: one file, one default export. */
export interface DecodingSystem<K extends Knobs = Knobs> extends SystemFacts {
  readonly knobs: K;
  readonly threshold?: Extract<keyof K, string>;
  /** Every way in which it drafts and verifies. Default: its initial settings, with drafts that are drawn. */
  readonly variants?: readonly Variant[];
  /** The knobs for these very models, where they narrow a range or know a better initial value. */
  fit?(models: Models): Knobs;
  /** Reads the prompt, and gives back what decodes round by round. */
  start(run: RunContext<K>): Promise<Generation>;
}

/** A system without its functions. `models`: with the knobs as these models have them. */
export const describeSystem = (
  { start: _start, variants: _variants, fit, ...facts }: DecodingSystem,
  models?: Models,
): SystemFacts => (models && fit ? { ...facts, knobs: fittedKnobs({ knobs: facts.knobs, fit }, models) } : facts);
