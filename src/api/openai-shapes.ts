// A choice under way and a finished answer, as the chat and the text interface spell them.
import type { TokenLogprob } from '../trace/index.ts';
import type { Piece, Reasoning, Report, ToolCall, Usage } from './completion.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatLogprobs,
  ChatToolCall,
  Completion,
  CompletionChunk,
  CompletionLogprobs,
  FinishReason,
} from './openai-types.ts';

/** A token and its log-probability; null of the first token of an echoed prompt, which only a text completion has. */
export type Scored = Omit<TokenLogprob, 'logprob'> & { readonly logprob: number | null };

/** What happens to a choice, before it has either interface's shape. */
export type Step = { readonly index: number } & (
  | { readonly type: 'begun' }
  | (Omit<Piece, 'logprobs'> & { readonly logprobs: readonly Scored[] | null })
  | Reasoning
  | ToolCall
  | { readonly type: 'end'; readonly finish_reason: FinishReason; readonly report: Report }
);

/** What comes before the body of every answer and of every chunk. */
export interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface Choice {
  readonly index: number;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ChatToolCall[];
  readonly logprobs: readonly Scored[] | null;
  readonly finish_reason: FinishReason;
  readonly report: Report;
}

/** How one of the two interfaces spells a step, the usage after the last, and a whole answer. */
export interface Shape<Whole, Chunk> {
  readonly prefix: string;
  /** The parameter that has the question. */
  readonly asks: 'messages' | 'prompt';
  chunk(head: Head, step: Step): Chunk | null;
  usage(head: Head, usage: Usage): Chunk;
  whole(head: Head, choices: readonly Choice[], usage: Usage): Whole;
}

const encoder = new TextEncoder();

const scored = ({ text, logprob }: { readonly text: string | null; readonly logprob: number | null }) => ({
  token: text ?? '',
  logprob: logprob ?? 0,
  bytes: text === null || text.includes('\uFFFD') ? null : [...encoder.encode(text)],
});

const chatLogprobs = (tokens: readonly Scored[] | null): ChatLogprobs | null =>
  tokens && {
    content: tokens.map((token) => ({ ...scored(token), top_logprobs: token.top.map(scored) })),
    refusal: null,
  };

const completionLogprobs = (tokens: readonly Scored[] | null): CompletionLogprobs | null =>
  tokens && {
    tokens: tokens.map(({ text }) => text ?? ''),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(topByText),
  };

/** The sampled token too, however unlikely. Of tokens with one text, as bytes that are no character, the likeliest. */
const topByText = ({ top, text, logprob }: Scored): Readonly<Record<string, number>> | null => {
  if (logprob === null) return null;
  const choices = new Map<string, number>();
  for (const choice of [...top, { text, logprob }])
    if (!choices.has(choice.text ?? '')) choices.set(choice.text ?? '', choice.logprob);
  return Object.fromEntries(choices);
};

type Delta = ChatCompletionChunk['choices'][number]['delta'];

const deltaOf = (step: Exclude<Step, { readonly type: 'end' }>): Delta => {
  if (step.type === 'begun') return { role: 'assistant', content: '' };
  if (step.type === 'piece') return { content: step.text };
  if (step.type === 'reasoning') return { reasoning_content: step.text };
  if (step.type === 'arguments') return { tool_calls: [{ index: step.call, function: { arguments: step.text } }] };
  return {
    tool_calls: [{ index: step.call, id: step.id, type: 'function', function: { name: step.name, arguments: '' } }],
  };
};

export const CHAT: Shape<ChatCompletion, ChatCompletionChunk> = {
  prefix: 'chatcmpl',
  asks: 'messages',
  chunk(head, step) {
    const { index } = step;
    const object = 'chat.completion.chunk';
    if (step.type === 'end') {
      const { finish_reason, report } = step;
      return { ...head, object, choices: [{ index, delta: {}, logprobs: null, finish_reason }], outrider: report };
    }
    const logprobs = step.type === 'piece' ? chatLogprobs(step.logprobs) : null;
    return { ...head, object, choices: [{ index, delta: deltaOf(step), logprobs, finish_reason: null }] };
  },
  usage: (head, usage) => ({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
  whole: (head, choices, usage) => ({
    ...head,
    object: 'chat.completion',
    choices: choices.map(({ index, text, reasoning, calls, logprobs, finish_reason }) => ({
      index,
      message: {
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        refusal: null,
        ...(reasoning !== '' && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      logprobs: chatLogprobs(logprobs),
      finish_reason,
    })),
    usage,
    outrider: choices.map(({ report }) => report),
  }),
};

export const TEXT: Shape<Completion, CompletionChunk> = {
  prefix: 'cmpl',
  asks: 'prompt',
  chunk(head, step) {
    if (step.type === 'begun') return null; // there is no role to announce
    const { index } = step;
    const object = 'text_completion';
    if (step.type === 'piece') {
      const logprobs = completionLogprobs(step.logprobs);
      return { ...head, object, choices: [{ index, text: step.text, logprobs, finish_reason: null }] };
    }
    if (step.type !== 'end') return null; // a text has neither reasoning nor calls
    const { finish_reason, report } = step;
    return { ...head, object, choices: [{ index, text: '', logprobs: null, finish_reason }], outrider: report };
  },
  usage: (head, usage) => ({ ...head, object: 'text_completion', choices: [], usage }),
  whole: (head, choices, usage) => ({
    ...head,
    object: 'text_completion',
    choices: choices.map(({ index, text, logprobs, finish_reason }) => ({
      index,
      text,
      logprobs: completionLogprobs(logprobs),
      finish_reason,
    })),
    usage,
    outrider: choices.map(({ report }) => report),
  }),
};
