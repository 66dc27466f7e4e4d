// The interfaces of decoding systems. A system is one file: its facts, its knobs, and `start`, which reads the prompt
// and returns a round. A round commits at least one token; the engine owns the loop, stopping, aborting and text.
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
  MarkovCursor,
  MarkovDrafter,
  OpenCursor,
  OpenEnsemble,
  Sampling,
} from '../../model/interface.ts';
import type { Emit, Escalates, EventOf, Role, Source } from '../../trace/index.ts';
import type { ConstrainedText } from './constrained-text.ts';
import { fittedKnobs, type Knobs, type KnobValue, type KnobValues } from './knobs.ts';
import type { RemoteTarget } from './remote-target.ts';
import type { Timings } from './timings.ts';

/** Predicts how many tokens a block of each size would commit. It is no language model, so it has no cursor. */
export interface BlockPolicy extends Disposable {
  readonly vocabulary: number;
  /** Ascending; 1 is plain decoding. */
  readonly blockSizes: readonly number[];
  /** Expected acceptance length τ for each block size, in their order. `logits`: the prompt's last row. */
  predict(logits: Float32Array): Promise<readonly number[]>;
}

/** Embeds texts: similar meanings get similar vectors. */
export interface SentenceEncoder extends Disposable {
  readonly bytes: number;
  /** A unit vector for each text. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** A step of an answer, and the model that wrote it. */
export interface JudgedStep {
  readonly tokens: readonly number[];
  readonly by: 'draft' | 'target';
}

/** Scores steps of a text: a reward model, a router that predicts whether the target would do better, or a language model. */
export interface Judge extends Disposable {
  readonly family: string;
  /** What a score is: the reward of a step, or the probability that the target's step would be better. */
  readonly gives: 'reward' | 'advantage';
  /** Its input shows where each step ends, or who wrote it: the tokens of prompt and answer are not all that it reads. */
  readonly needsSteps?: boolean;
  /** It reads the hidden states that the draft's cursor keeps of its text (`pool`), not the text. */
  readonly readsDraft?: boolean;
  /** The most tokens that it can read, including those of its own input layout. */
  readonly context: number;
  /** On the device. */
  readonly bytes: number;
  /**
   * `capacity`: tokens of the texts to judge; the judge adds room for its layout. Default: its context. `cache`: of the
   * draft's keys and values, where the judge lets the draft read a text. Default: f32.
   */
  open(options?: Pick<OpenCursor, 'capacity' | 'cache'>): Promise<JudgeCursor>;
}

/** Keeps what it has read from run to run, so that only new rows cost time. */
export interface JudgeCursor extends Disposable {
  readonly capacity: number;
  /** True: when the judge fails, the run goes on without it, and the target writes the remaining steps. */
  readonly dispensable?: boolean;
  /** Drops everything that it has read. */
  forget(): void;
  /**
   * What was asked, without the target's chat template, from now on; null: the prompt is all there is. A judge that was
   * trained on plain problems reads it in the prompt's place.
   */
  ask?(question: string | null): void;
  /**
   * A probability for each candidate as the step after `steps`. `problem`: the prompt, in the target's vocabulary.
   * `written`: the draft's cursor, where it has written the one candidate after all that is before it.
   */
  score(
    problem: readonly number[],
    steps: readonly JudgedStep[],
    candidates: readonly (readonly number[])[],
    signal?: AbortSignal,
    written?: Cursor,
  ): Promise<readonly number[]>;
}

/** Further members of an ensemble: `also-1`, `also-2`, … */
export type AlsoRole = `also-${number}`;
/** Roles of language models that write. */
export type WriterRole = 'target' | 'draft' | AlsoRole;

/** The loaded models, by role. */
export interface Models {
  readonly target: LanguageModel;
  readonly draft?: LanguageModel;
  readonly [also: AlsoRole]: LanguageModel | undefined;
  readonly dflash?: BlockDrafter;
  readonly dspark?: MarkovDrafter;
  readonly eagle3?: FeatureDrafter;
  readonly mtp?: FeatureDrafter;
  readonly policy?: BlockPolicy;
  readonly prm?: Judge;
  readonly router?: Judge;
  /** Compares candidate steps. */
  readonly sentences?: SentenceEncoder;
  /**
   * Writes steps in place of the target. Where no local target is loaded, `target` is the draft, which reads the text.
   */
  readonly remote?: RemoteTarget;
}
/** What a model is loaded for. */
export type ModelRole = keyof Models;

/** The cursors of the models that read a text. */
export interface Cursors {
  readonly target: Cursor;
  readonly draft: Cursor;
  readonly [also: AlsoRole]: Cursor;
  readonly dflash: BlockCursor;
  readonly dspark: MarkovCursor;
  readonly eagle3: FeatureCursor;
  readonly mtp: FeatureCursor;
  readonly prm: JudgeCursor;
  readonly router: JudgeCursor;
}

/** Prompt and committed tokens. Only the engine extends it. */
export interface Sequence {
  readonly tokens: readonly number[];
  /** How many more tokens may be committed, by the request and the context. */
  readonly budget: number;
  readonly sampling: Sampling;
  /** What drafts are drawn with. Their noise is their own, or the target's where only its very draws are kept. */
  readonly drafting: Sampling;
  /** What the answer is constrained to; the target's cursor keeps to it. Null: nothing. */
  readonly constraint: ConstrainedText | null;
  /** Tokens of the prompt: the answer is after them. */
  readonly promptLength: number;
  /**
   * How many alternatives to score at each committed position. More than 0 costs a round one more readback. Null: no
   * probabilities are wanted.
   */
  readonly alternatives: number | null;
}

/** A token's log-probability, and the most probable alternatives. */
export interface Score {
  readonly logprob: number;
  readonly top: readonly Choice[];
}

/** What the models of an ensemble gave a token. */
export interface Vote {
  /** The ensemble's probability of the committed token. */
  readonly r: number;
  /** Each member's most probable token, and what it gave the committed one. */
  readonly own: readonly {
    readonly by: Role;
    readonly token: number;
    readonly probability: number;
    readonly committed: number;
  }[];
}

/**
 * What a round commits. Every list has one entry a token; `scores` where the system knows the target's probabilities.
 */
export interface Commit {
  readonly tokens: readonly number[];
  readonly source: readonly Source[];
  readonly scores: readonly Score[] | null;
  /** Ensembles: the member that drafted each token (null: it was drawn from r), and the members' votes. */
  readonly by?: readonly (Role | null)[];
  readonly votes?: readonly Vote[];
  /** The answer ends here, as at a limit; `complete`: as its constraint wants it. */
  readonly last?: true | 'complete';
  /** Step systems: the step that goes on after these tokens. It is told where the answer ends with them. */
  readonly unfinished?: Omit<EventOf<'step'>, 'at'>;
}

/** What a round is given. */
export interface RoundContext {
  readonly sequence: Sequence;
  /** Counts from 1. The first token, drawn from the prompt's last row, belongs to no round. */
  readonly round: number;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Commits at least one token. */
export type Round = (context: RoundContext) => Promise<Commit>;

/** A run that has read its prompt. `first` is null for systems that work step by step: they begin with a round. */
export interface Generation {
  readonly first: Commit | null;
  readonly round: Round;
  /**
   * Settings that the system has chosen for the whole answer: nested in another, it is started with them again for each
   * step.
   */
  readonly chosen?: Readonly<Record<string, KnobValue>>;
}

/** What a system is started with. */
export interface RunContext<K extends Knobs = Knobs> {
  readonly models: Models;
  /** At first the prompt. */
  readonly sequence: Sequence;
  readonly knobs: KnobValues<K>;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** How long this system's rounds took, in this and earlier runs on these models. */
  readonly timings: Timings;
  /** The device is a software adapter, where each row of a pass costs more. */
  readonly software: boolean;
  /** Nothing that is remembered of earlier texts may be used: a benchmark repeats its prompts. */
  readonly fresh?: boolean;
  /** A text that is no part of the sequence and may be quoted in it. */
  readonly document?: readonly number[];
  /** The text of a single token; null where the models have no tokenizer. */
  readonly tokenText: ((token: number) => string) | null;
  /** The tokens of a text that continues these; null where the models have no tokenizer. */
  readonly retokenise: ((before: readonly number[], text: string) => readonly number[]) | null;
  /** Each of them ends an answer. */
  readonly stopTokens: ReadonlySet<number>;
  /**
   * For a system nested in a step router: the step that was refused. Proposed as a draft, its beginning is often kept.
   */
  readonly refused?: readonly number[];
  /** A JSON file in the folder of the draft's weights; null where there is none. */
  sidecar(file: string): Promise<unknown>;
  /**
   * This role's cursor. It may already hold the first rows of the prompt from an earlier message of the conversation,
   * but never all of them. Between rounds it must hold committed tokens only, because the next run may begin there.
   */
  open<Role extends keyof Cursors>(role: Role, options?: OpenOptions): Promise<Cursors[Role]>;
  /** These models as one ensemble, in this order; kept open from run to run, as cursors are. */
  join(members: readonly WriterRole[], combination: Combination, options?: OpenEnsemble): Promise<Ensemble>;
}

/** What is known of a run before it begins. */
export interface PlannedRun<K extends Knobs = Knobs> extends Pick<RunContext<K>, 'models' | 'knobs'> {
  /** Its tokens have texts: the models have a tokenizer. */
  readonly hasText: boolean;
}

export interface OpenOptions extends Pick<OpenCursor, 'tapLayers' | 'nodes' | 'forks' | 'rollout' | 'pool'> {
  /** Rows that may be needed beyond the answer's end: a step is written whole, even where the budget cuts it. */
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

/** Whether every token is drawn from the target's own logits: constraints and penalties hold there, and nowhere else. */
export const drawsFromTarget = ({ group }: Pick<SystemFacts, 'group'>): boolean =>
  group === 'baseline' || group === 'speculative';

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
  /**
   * Id of the system whose output an exact one has, and whose speed it is measured against. Default: plain decoding.
   */
  readonly baseline?: string;
  readonly needs: readonly ModelRole[];
  /** Optional models: where they are loaded, the system is faster or better. */
  readonly uses?: readonly ModelRole[];
  /** Optional models that do the same work: the first of them that there is. */
  readonly usesOneOf?: readonly ModelRole[];
  /** By a role that it needs: another that serves in its place. */
  readonly instead?: Readonly<Partial<Record<ModelRole, ModelRole>>>;
  /** An ensemble: where further members (`also-1`, …) are loaded, it needs no draft. */
  readonly joins?: true;
  /** With a remote target it needs no local one. */
  readonly remote?: true;
  /**
   * It can write the escalated steps of a step system: where its models are loaded, or only where a knob asks for it.
   */
  readonly writesSteps?: 'by-default' | 'on-request';
  /** Step routers: does a score above the threshold escalate a step, or one below it? */
  readonly escalates?: Escalates;
  /** Step routers: the knob that holds the threshold. */
  readonly threshold?: string;
  /** It uses the usual range of the draft's signals, which `Engine.calibrate` measures. */
  readonly calibrated?: true;
  /** Pages build their controls from these. */
  readonly knobs: Knobs;
}

/** Settings under which the contract tests run a system. */
export interface Variant {
  readonly knobs: Readonly<Record<string, KnobValue>>;
  /**
   * True: drafts are drawn from the drafter's distribution, so a sampled run has its baseline's distribution. False:
   * the target's own draw decides, so a sampled run has its baseline's very tokens.
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
  /** Refuses settings that no range can rule out, such as those that do not go together, before the run begins. */
  check?(run: PlannedRun<K>): void;
  /** Reads the prompt, and gives back what decodes round by round. */
  start(run: RunContext<K>): Promise<Generation>;
}

/** A system without its functions. `models`: with the knobs as these models have them. */
export const describeSystem = (
  { start: _start, check: _check, variants: _variants, fit, ...facts }: DecodingSystem,
  models?: Models,
): SystemFacts => (models && fit ? { ...facts, knobs: fittedKnobs({ knobs: facts.knobs, fit }, models) } : facts);
