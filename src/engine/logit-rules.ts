// Reads what a request asks of the logits: biases, penalties, words that are not to be written, and a least length. Each
// value is checked here, and an error names its field.
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import { type DecodingSystem, drawsFromTarget } from '../decode/core/system.ts';
import type { LogitRules } from '../model/interface.ts';
import { inRange } from './in-range.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import type { RunRequest } from './request.ts';

type Ban = LogitRules['bans'][number];

const FIELDS = [
  'repetitionPenalty',
  'presencePenalty',
  'frequencyPenalty',
  'logitBias',
  'minTokens',
  'badWords',
] as const satisfies readonly (keyof RunRequest)[];

const isToken = (id: unknown, vocabulary: number): boolean =>
  typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < vocabulary;

const readBiases = (bias: RunRequest['logitBias'] = {}, vocabulary: number): LogitRules['biases'] =>
  Object.entries(bias).map(([id, value]) => {
    const token = /^\d+$/.test(id) ? Number(id) : Number.NaN;
    if (!isToken(token, vocabulary))
      throw refuse(
        `logitBias: ${JSON.stringify(id)} is no token of the vocabulary of ${vocabulary}`,
        'Its keys are token ids: { "42": -100 }.',
      );
    return { token, bias: inRange(`logitBias[${id}]`, value, -100, 100) };
  });

/** A word is banned as it is split at the beginning of a text and after a space. */
const spellings = (word: string, { name, tokenizer }: LoadedModel): readonly (readonly number[])[] => {
  if (!tokenizer)
    throw refuse(`${name} has no tokenizer, so badWords must be lists of token ids`, 'Give [[15, 27]] for one word.');
  return [word, ` ${word}`].map((text) => tokenizer.encode(text, { plain: true }));
};

const readBadWords = (words: RunRequest['badWords'] = [], target: LoadedModel): readonly Ban[] => {
  const { vocabulary } = target.model;
  const bans = words.flatMap((word: unknown, i) => {
    if (typeof word !== 'string' && !Array.isArray(word))
      throw refuse(`badWords[${i}] must be a text or a list of token ids, not ${shown(word)}`);
    const all = typeof word === 'string' ? (word === '' ? [] : spellings(word, target)) : [word];
    if (all.every(({ length }) => length === 0))
      throw refuse(`badWords[${i}] is empty`, 'Leave it out: a word has at least one token.');
    return all.map((tokens: readonly number[]) => {
      const wrong = tokens.findIndex((id) => !isToken(id, vocabulary));
      if (wrong >= 0)
        throw refuse(`badWords[${i}]: ${shown(tokens[wrong])} is no token of the vocabulary of ${vocabulary}`);
      return { token: tokens.at(-1) as number, after: tokens.slice(0, -1), until: Number.POSITIVE_INFINITY };
    });
  });
  return [...new Map(bans.map((ban) => [[...ban.after, ban.token].join(), ban])).values()];
};

/** Null: the request asks for none, and its runs pay nothing. */
export const readLogitRules = (
  request: RunRequest,
  system: DecodingSystem,
  target: LoadedModel,
  { stopTokens, maxTokens }: { readonly stopTokens: ReadonlySet<number>; readonly maxTokens: number },
): LogitRules | null => {
  const asked = FIELDS.find((name) => request[name] !== undefined);
  if (!asked) return null;
  const { repetitionPenalty = 1, presencePenalty = 0, frequencyPenalty = 0, minTokens = 0 } = request;
  const least = inRange('minTokens', minTokens, 0, Number.MAX_SAFE_INTEGER, true);
  if (least > maxTokens)
    throw refuse(`minTokens is ${least}, and maxTokens only ${maxTokens}`, 'Ask for fewer tokens, or allow more.');
  const rules: LogitRules = {
    repetition: inRange('repetitionPenalty', repetitionPenalty, 0.01, 100),
    presence: inRange('presencePenalty', presencePenalty, -2, 2),
    frequency: inRange('frequencyPenalty', frequencyPenalty, -2, 2),
    biases: readBiases(request.logitBias, target.model.vocabulary).filter(({ bias }) => bias !== 0),
    bans: [
      ...readBadWords(request.badWords, target),
      ...(least > 0 ? [...stopTokens].map((token) => ({ token, after: [], until: least })) : []),
    ],
  };
  const { repetition, presence, frequency, biases, bans } = rules;
  if (repetition === 1 && presence === 0 && frequency === 0 && biases.length + bans.length === 0) return null;
  if (!drawsFromTarget(system))
    throw refuse(
      `${system.id} does not take ${asked}`,
      'Use plain decoding or a speculative system: ensembles and step routers draw from several models.',
      { unsupported: asked },
    );
  return rules;
};
