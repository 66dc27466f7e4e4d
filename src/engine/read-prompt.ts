// A prompt as tokens, and what the chat template says about the answer: how calls of tools and reasoning are written in it,
// and which grammar follows from the tools.
import { badConstraint, refuse } from '../base/refuse.ts';
import type { Constraint } from '../constraint/constraint.ts';
import type { Marks } from '../constraint/marks.ts';
import type { ReasoningLimits } from '../constraint/reasoning.ts';
import { toolGrammar } from '../constraint/tool-grammar.ts';
import type { AnswerFormat } from '../text/answer-format.ts';
import type { ChatOptions } from '../text/chat-template.ts';
import { asTexts } from '../text/message-content.ts';
import { gapAfter, type ReasoningFormat, reasoningTags, reasoningVariables } from '../text/reasoning.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { toolConversation } from '../text/tool-calls/conversation.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import type { PromptRequest, RunRequest } from './request.ts';

export interface ReadPrompt {
  readonly tokens: readonly number[];
  /** Null: the request asks for neither tools nor reasoning. */
  readonly format: AnswerFormat | null;
  /** Special tokens that are a part of the answer's text. */
  readonly marks: Marks;
  /** Of the answer after reasoning; null: it has none. */
  readonly constraint: Constraint | null;
  /** Null: reasoning has no budget, and no constrained answer comes after it. */
  readonly reasoning: ReasoningLimits | null;
}

export const needTokenizer = ({ name, tokenizer }: LoadedModel, why: string, hint = ''): Tokenizer => {
  if (!tokenizer) throw refuse(`${name} has no tokenizer, ${why}`, hint);
  return tokenizer;
};

const noMarks: Marks = new Map();

interface Conversation extends PromptRequest {
  readonly prompt: Extract<PromptRequest['prompt'], { messages: unknown }>;
}

/** What the model's chat template is given; `options` may have reasoning switched otherwise than it was asked for. */
const conversationOf = ({ prompt, tools, reasoning }: Conversation, tokenizer: Tokenizer) => {
  const template = tokenizer.chatTemplate(Boolean(tools?.functions.length)) ?? '';
  const { tools: functions, ...conversation } = toolConversation(template, asTexts(prompt.messages), tools);
  const options = (enabled = reasoning?.enabled): ChatOptions => ({
    tools: functions,
    begin: prompt.begin,
    variables: enabled === undefined ? undefined : reasoningVariables(enabled),
  });
  return { ...conversation, template, options };
};

/** The tokens of a conversation alone: what its template does not know of the request, it leaves out. */
export const encodeConversation = (asked: Conversation, tokenizer: Tokenizer): readonly number[] => {
  const { messages, options } = conversationOf(asked, tokenizer);
  return tokenizer.encodeChat(messages, options());
};

/** `constraint`: the request's own. */
export const readPrompt = (asked: PromptRequest, constraint: Constraint | null, target: LoadedModel): ReadPrompt => {
  const { prompt, tools, reasoning } = asked;
  if (!('messages' in prompt)) {
    for (const name of ['tools', 'reasoning'] as const)
      if (asked[name])
        throw refuse(`${name} needs a conversation, and the prompt is none`, 'Give prompt: { messages: […] }.');
    return { tokens: readRaw(prompt, target), format: null, marks: noMarks, constraint, reasoning: null };
  }
  const tokenizer = needTokenizer(target, 'so it cannot read a text', 'Give the prompt as token ids.');
  const { template, family, messages, options } = conversationOf({ ...asked, prompt }, tokenizer);
  const tags = reasoning ? reasoningTags(template) : null;
  if (reasoning && !tags && (reasoning.enabled || reasoning.budget !== undefined))
    throw refuse(
      'reasoning: the chat template of this model has no tags for it',
      'Leave `reasoning` out, or load a model whose template has tags such as <think>.',
      { unsupported: 'reasoning' },
    );
  const tokens = tokenizer.encodeChat(messages, options());
  const text = tags ? tokenizer.chat(messages, options()) : '';
  const format: ReasoningFormat | null = tags && { ...tags, begun: text.trimEnd().endsWith(tags.open) };
  // A template without a switch: the reasoning is ended where it begins.
  const stuck = tags && reasoning?.enabled === false && text === tokenizer.chat(messages, options(true));
  // Where the prompt has closed the reasoning, or none is wanted, a constrained answer opens none.
  const mayThink = stuck || (reasoning?.enabled !== false && tags !== null && !text.trimEnd().endsWith(tags.close));
  const budget = stuck ? 0 : (reasoning?.budget ?? null);
  const own = withTools(asked, constraint, family);
  const shown = [
    ...(tags ? [tags.open, tags.close] : []),
    ...(family ? [...family.open, ...family.close, '[ARGS]', '[CALL_ID]'] : []),
  ];
  return {
    tokens,
    format: tools || reasoning ? { tools: family?.id ?? null, reasoning: format } : null,
    marks: new Map(
      shown.flatMap((mark) => {
        const id = tokenizer.special(mark);
        return id === null ? [] : [[mark, id] as const];
      }),
    ),
    constraint: own,
    reasoning:
      format && tags && mayThink && (own || budget !== null)
        ? { ...format, budget, gap: gapAfter(template, tags) }
        : null,
  };
};

const withTools = (
  { tools }: PromptRequest,
  constraint: Constraint | null,
  family: ReturnType<typeof toolConversation>['family'],
): Constraint | null => {
  if (!tools || !family) return constraint;
  const answer = constraint && 'json_schema' in constraint ? constraint : undefined;
  if (constraint && !answer)
    throw badConstraint(
      'tools and this constraint exclude each other',
      'Give a json_schema, which an answer without calls has, or one of the two alone.',
    );
  const grammar = toolGrammar({ family, tools, answer });
  return grammar === null ? constraint : { grammar };
};

const readRaw = (
  prompt: Exclude<RunRequest['prompt'], { messages: unknown }>,
  target: LoadedModel,
): readonly number[] => {
  if ('tokens' in prompt) {
    const { vocabulary } = target.model;
    const wrong = prompt.tokens.findIndex((token) => !(Number.isInteger(token) && token >= 0 && token < vocabulary));
    if (wrong >= 0) throw refuse(`token ${prompt.tokens[wrong]} is not in the vocabulary of ${vocabulary}`);
    return prompt.tokens;
  }
  const tokenizer = needTokenizer(target, 'so it cannot read a text', 'Give the prompt as token ids.');
  return tokenizer.encode(prompt.text, { special: true, plain: prompt.plain ?? false });
};
