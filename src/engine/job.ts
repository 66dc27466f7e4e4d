// Turns a request into a job: every limit that a run could hit half-way is checked here first, and the error has the
// numbers.
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import { type Constraint, checkConstraint } from '../constraint/constraint.ts';
import type { Marks } from '../constraint/marks.ts';
import type { ReasoningLimits } from '../constraint/reasoning.ts';
import { fittedKnobs, type KnobValue, resolveKnobs } from '../decode/core/knobs.ts';
import { missingRoles } from '../decode/core/missing-roles.ts';
import { type DecodingSystem, drawsFromTarget, type Models } from '../decode/core/system.ts';
import type { Limits } from '../decode/core/transcript.ts';
import { memberRoles } from '../decode/ensemble/combination.ts';
import type { LogitRules, Sampling } from '../model/interface.ts';
import type { AnswerFormat } from '../text/answer-format.ts';
import { contentText } from '../text/message-content.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { BUILT_IN } from './built-in.ts';
import { inRange } from './in-range.ts';
import { type LoadedModel, type LoadedModels, modelsFor, readerOf } from './load/loaded-models.ts';
import { checkVocabulary } from './load/vocabulary.ts';
import { readLogitRules } from './logit-rules.ts';
import { needTokenizer, readPrompt } from './read-prompt.ts';
import type { PromptRequest, RunRequest } from './request.ts';

/** A checked request, with every default filled in. */
export interface Job {
  readonly system: DecodingSystem;
  readonly models: Models;
  /** The target's. Null: the run has tokens and no text. */
  readonly tokenizer: Tokenizer | null;
  readonly knobs: Readonly<Record<string, KnobValue>>;
  readonly prompt: readonly number[];
  readonly sampling: Sampling;
  /** How the logits are changed; null: not at all. */
  readonly rules: LogitRules | null;
  readonly limits: Limits;
  /** Alternatives per token. Null when no log-probabilities are wanted. */
  readonly logprobs: number | null;
  /** Alternatives per token of the prompt. Null when its log-probabilities are not wanted. */
  readonly promptLogprobs: number | null;
  readonly constraint: Constraint | null;
  /** The conversation as plain text, for judges that know no chat template; null: the prompt is no conversation. */
  readonly question: string | null;
  /** How the answer begins; the constraint holds for it too. */
  readonly begin: string;
  /** Reasoning comes before the answer, with a budget or in front of a constrained answer. */
  readonly reasoning: ReasoningLimits | null;
  readonly format: AnswerFormat | null;
  /** Special tokens that are a part of the answer's text. */
  readonly marks: Marks;
  /** Tokens of a text to look up; none: there is no such text. */
  readonly document: readonly number[];
  readonly profile: boolean;
  readonly fresh: boolean;
}

const DEFAULT_MAX_TOKENS = 1024;

/** As a text is encoded inside a conversation: without special tokens. */
const encodeDocument = (text: string, target: LoadedModel): readonly number[] =>
  needTokenizer(target, 'so it cannot read a document').encode(text, { special: false, plain: true });

/** The least normal f32. The device takes less for 0, and a draw at 0 is greedy. */
const LEAST_TEMPERATURE = 2 ** -126;

const readSampling = (request: RunRequest): Sampling => {
  const asked = inRange('temperature', request.temperature ?? 0, 0, 100);
  const temperature = asked < LEAST_TEMPERATURE ? 0 : asked;
  const seed = request.seed ?? (temperature === 0 ? 0 : Math.floor(Math.random() * 2 ** 32));
  return {
    temperature,
    topK: inRange('topK', request.topK ?? 0, 0, 2 ** 31, true),
    topP: inRange('topP', request.topP ?? 1, 0, 1),
    minP: inRange('minP', request.minP ?? 0, 0, 1),
    seed: inRange('seed', seed, 0, 2 ** 32 - 1, true),
  };
};

/** Only these systems check every token against a constraint. `field`: of the request, that asks for one. */
export const expectExact = (system: DecodingSystem, field: keyof RunRequest, what: string): void => {
  if (!drawsFromTarget(system))
    throw refuse(`${system.id} does not support ${what}`, 'Use `autoregressive` or a speculative system.', {
      unsupported: field,
    });
};

const readConstraint = ({ constraint }: RunRequest, system: DecodingSystem, target: LoadedModel): Constraint | null => {
  if (!constraint) return null;
  expectExact(system, 'constraint', 'a constraint');
  needTokenizer(target, 'and a constraint is about text');
  return checkConstraint(constraint);
};

/** A system prompt says how to answer, not what: judges are trained without one. */
const questionOf = ({ prompt }: RunRequest): string | null => {
  if (!('messages' in prompt)) return null;
  const said = prompt.messages.flatMap((message) => (message.role === 'system' ? [] : [contentText(message)]));
  return [...said, ...(prompt.begin ? [prompt.begin] : [])].join('\n');
};

/** The loaded models as systems see them. Null when there is no model whose tokens make the text. */
export const modelsOf = (loaded: LoadedModels, asked?: PromptRequest): Models | null => {
  const { remote, textTarget: _, ...here } = loaded;
  const reader = readerOf(loaded);
  if (!reader) return null;
  const models = Object.entries(here).flatMap(([role, there]) => (there ? [[role, there.model] as const] : []));
  const { tokenizer, stopTokens } = reader;
  return {
    ...Object.fromEntries(models),
    target: reader.model,
    ...(remote && tokenizer && { remote: remote.open({ tokenizer, stopTokens }, asked) }),
  };
};

/** An approximate system that never hands a step to the target lets the draft write whole answers. */
const isWrittenByDraft = ({ guarantee, needs, escalates }: DecodingSystem, { by = 'draft' }: Job['knobs']): boolean =>
  guarantee === 'approximate' && needs.includes('draft') && !escalates && by === 'draft';

/**
 * What prompt and answer may take together, and, for people, whose context that is where it is not plain. Every member
 * of an ensemble reads all of both, and so does a target of another vocabulary once a step is escalated. Its own count
 * of their tokens is not known yet, but seldom far off.
 */
const contextOf = (system: DecodingSystem, models: Models, knobs: Job['knobs']): { rows: number; whose: string } => {
  const { target, draft, remote } = models;
  const readers = system.joins
    ? memberRoles(models).map((role) => ({ rows: models[role]?.context, whose: "the ensemble's smallest member" }))
    : isWrittenByDraft(system, knobs)
      ? [{ rows: draft?.context, whose: 'the draft' }]
      : [];
  if (system.escalates && remote) readers.push({ rows: remote.context, whose: remote.name });
  return readers.reduce<{ rows: number; whose: string }>(
    (least, { rows = Infinity, whose }) => (rows < least.rows ? { rows, whose: `, which is that of ${whose}` } : least),
    { rows: target.context, whose: '' },
  );
};

/** `request`: its shape was checked. */
export const readRequest = (request: RunRequest, all: LoadedModels, systems: readonly DecodingSystem[]): Job => {
  const id = request.system ?? 'autoregressive';
  const system = systems.find((known) => known.id === id);
  if (!system && readerOf(all))
    throw refuse(`there is no system "${id}"`, `Systems: ${systems.map((known) => known.id).join(', ')}.`);
  const loaded = system ? modelsFor(system, all) : all;
  const target = readerOf(loaded);
  const models = modelsOf(loaded, request);
  if (!system || !target || !models)
    throw refuse(
      `no model is loaded ${all.draft ? 'as the target' : 'on this machine'}`,
      'Load a target, or a draft for a remote target.',
    );
  if (all.textTarget && !loaded.draft && system.needs.includes('draft') && all.target && all.draft)
    checkVocabulary(all.target, all.draft);
  const missing = missingRoles(system, (role) => loaded[role] !== undefined);
  if (missing.length > 0)
    throw refuse(
      `${id} needs a model for: ${missing.join(', ')}`,
      `Load one under each of these roles${missing.includes('mtp') ? `; mtp: '${BUILT_IN}', if the target has it` : ''}.`,
      { unsupported: 'system' },
    );

  if (system.remote && loaded.remote) needTokenizer(target, 'and a remote target needs one');

  const {
    tokens: prompt,
    format,
    marks,
    constraint,
    reasoning,
  } = readPrompt(request, readConstraint(request, system, target), target);
  if (constraint) expectExact(system, 'tools', 'a constraint'); // the request's own was looked at before
  if (reasoning) expectExact(system, 'reasoning', 'a reasoning budget');
  if (prompt.length === 0) throw refuse('the prompt is empty', 'Give at least one token.');
  const knobs = resolveKnobs({ id, knobs: fittedKnobs(system, models) }, request.knobs);
  const { rows: context, whose } = contextOf(system, models, knobs);
  const room = context - prompt.length;
  const maxTokens = inRange(
    'maxTokens',
    request.maxTokens ?? Math.max(1, Math.min(DEFAULT_MAX_TOKENS, room)),
    request.promptLogprobs === undefined ? 1 : 0,
    Number.MAX_SAFE_INTEGER,
    true,
  );
  if (maxTokens > room)
    throw new OutriderError(
      'bad-request',
      `the prompt's ${prompt.length} tokens and ${maxTokens} new ones exceed the context of ${context}${whose}`,
      'Shorten the prompt, or ask for fewer tokens.',
      { overflow: { requested: prompt.length + maxTokens, context } },
    );

  const stopStrings = request.stop ?? [];
  if (stopStrings.length > 0) needTokenizer(target, 'and a stop string needs one');
  const stopTokens = new Set(request.ignoreEos ? [] : target.stopTokens);
  const rules = readLogitRules(request, system, target, { stopTokens, maxTokens });
  system.check?.({ models, knobs, hasText: target.tokenizer !== null });
  return {
    system,
    models,
    tokenizer: target.tokenizer,
    knobs,
    prompt,
    sampling: readSampling(request),
    rules,
    limits: { maxTokens, minTokens: request.minTokens ?? 0, stopTokens, stopStrings },
    logprobs: request.logprobs === undefined ? null : inRange('logprobs', request.logprobs, 0, 20, true),
    promptLogprobs:
      request.promptLogprobs === undefined ? null : inRange('promptLogprobs', request.promptLogprobs, 0, 20, true),
    constraint,
    question: questionOf(request),
    begin: ('begin' in request.prompt && request.prompt.begin) || '',
    reasoning,
    format,
    marks,
    document: request.document ? encodeDocument(request.document, target) : [],
    profile: request.profile ?? false,
    fresh: request.fresh ?? false,
  };
};
