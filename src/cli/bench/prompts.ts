// A benchmark's prompts, in the shapes that published sets use, and the true answers when a set has them.
import { refuse } from '../../base/refuse.ts';
import type { LoadedModel } from '../../engine/load/loaded-models.ts';
import type { Prompt } from '../../engine/request.ts';
import { someTokens } from '../../engine/verify-cost.ts';
import { contentText } from '../../text/message-content.ts';
import { readMessage } from '../messages.ts';
import { type AnswerForm, givesAnswer, publishedAnswer } from './answers.ts';

export interface BenchPrompt {
  readonly prompt: Prompt;
  /** The exact final answer; null when it is unknown. */
  readonly result: string | null;
  /** How an answer is compared with the result. Default: by the bundled family's last sentence. */
  readonly form?: AnswerForm;
  /** The true answer with its steps, when a set has it. */
  readonly answer?: string;
}

const ask = (content: string): Prompt => ({ messages: [{ role: 'user', content }] });

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** When no set is named. */
export const QUESTIONS = [
  'A cup costs 6 dollars. A book costs 5 dollars. Eva buys 8 cups and 6 books. How many dollars does Eva pay?',
  'Write two sentences about a lighthouse in winter.',
  'Explain in plain words why the sky is blue.',
  'List five things to pack for a walk in the mountains, and say what each is for.',
];

/** Short questions, or token ids for a model without a tokenizer. */
export const defaultPrompts = ({ model, tokenizer }: LoadedModel): readonly BenchPrompt[] =>
  QUESTIONS.map((question, i) => ({
    prompt: tokenizer ? ask(question) : { tokens: someTokens(model.vocabulary, 24, i) },
    result: null,
  }));

/** At most `limit` of them, without the first `offset`. */
export const chosenPrompts = <Prompt>(
  prompts: readonly Prompt[],
  {
    offset = 0,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly offset?: number | undefined; readonly limit?: number | undefined },
): readonly Prompt[] => {
  if (offset >= prompts.length)
    throw refuse(`--offset ${offset} leaves out all ${prompts.length} prompts`, 'Give a smaller --offset.');
  return prompts.slice(offset, offset + limit);
};

/** A model without a chat template continues a question as a text. */
export const fitted = (prompt: Prompt, { tokenizer }: LoadedModel): Prompt => {
  const [message, ...more] = 'messages' in prompt ? prompt.messages : [];
  return message && more.length === 0 && tokenizer?.hasChatTemplate === false ? { text: contentText(message) } : prompt;
};

/** `messages`, `tokens`, or a text under one of the usual names; of `turns` the first. */
const readPrompt = (entry: Readonly<Record<string, unknown>>, where: string): Prompt | null => {
  const { messages, tokens, turns, prompt, question, problem, Body: body, Question: last } = entry;
  if (Array.isArray(messages))
    return { messages: messages.map((each, i) => readMessage(each, `${where}: message ${i}`)) };
  if (Array.isArray(tokens)) return { tokens: tokens as number[] };
  const text = [prompt, question, problem, Array.isArray(turns) ? turns[0] : null].find(isText);
  if (text !== undefined) return ask(text);
  return isText(body) && isText(last) ? ask(`${body.replace(/\.?\s*$/, '.')} ${last}`) : null;
};

const readEntry = (value: unknown, where: string, answers: boolean): BenchPrompt => {
  if (isText(value) && !answers) return { prompt: ask(value), result: null };
  const entry = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const prompt = readPrompt(entry, where);
  if (!prompt)
    throw refuse(
      `${where} has no prompt`,
      'Expected a string, or an object with messages, tokens, prompt, question, problem, turns, or Body and Question.',
    );
  const published = answers && !isText(entry.result) ? publishedAnswer(entry) : null;
  if (published) return { prompt, ...published };
  if (answers && !isText(entry.result))
    throw refuse(
      `${where} has no answer`,
      'Expected "result", "Answer", a "problem" with "answer", or "#### N" in "answer".',
    );
  const answer = isText(entry.answer) ? { answer: entry.answer } : {};
  return { prompt, result: isText(entry.result) ? entry.result : null, ...answer };
};

const parse = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refuse(`${where}: not JSON: ${(cause as Error).message}`, '', { cause });
  }
};

export interface ReadPrompts {
  /** Only entries of this one, where a set has several. */
  readonly category?: string | undefined;
  /** Answers are judged by the set's own: every entry must have one. Default: only by "result", where there is one. */
  readonly answers?: boolean;
}

/** A JSON array, or one JSON value a line. */
export const readPrompts = (
  text: string,
  name: string,
  { category, answers = false }: ReadPrompts = {},
): readonly BenchPrompt[] => {
  const lines = text.split('\n').map((line, i) => [line, `${name}:${i + 1}`] as const);
  const values = text.trimStart().startsWith('[')
    ? (parse(text, name) as unknown[]).map((value, i) => [value, `${name}: entry ${i}`] as const)
    : lines.filter(([line]) => line.trim() !== '').map(([line, where]) => [parse(line, where), where] as const);
  const wanted = values.filter(
    ([value]) => category === undefined || (value as { category?: unknown } | null)?.category === category,
  );
  return wanted.map(([value, where]) => readEntry(value, where, answers));
};

/** Null when the truth is not known. */
export const isRight = ({ result, form = 'sentence' }: BenchPrompt, text: string | null): boolean | null =>
  result === null ? null : givesAnswer(text ?? '', result, form);
