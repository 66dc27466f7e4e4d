// A judge on another machine, for step systems. It is sent text, so it may have any vocabulary. Each request has the
// whole text; servers cache prefixes by themselves. There are two kinds of requests: vLLM's `/pooling`, for models with
// a head (https://docs.vllm.ai/en/latest/models/pooling_models/reward/), and which of two words a language model would
// write next, for every server with OpenAI's completions.
import { checkAborted, OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import type { Judge, JudgeCursor } from '../decode/core/system.ts';
import type { LoadedModel } from '../engine/load/loaded-models.ts';
import { NOTES } from '../judge/input-layout.ts';
import { answerOf } from '../judge/row-score.ts';
import { serverAddress } from './address.ts';
import { Interrupted } from './failures.ts';
import { failed, post, readText, retrying, TIMING, type Timing } from './post.ts';
import type { RemoteJudge } from './server.ts';

/** As many as OpenAI's own servers give. */
const ALTERNATIVES = 5;
/** Of characters: a row of classes for every token of a long context has fewer. */
const LONGEST_ANSWER = 2 ** 22;
/** Probabilities of classes add up to so much more than 1 at most, where a server rounds each to bfloat16. */
const ROUNDING = 2 ** -8;

type Reader = Pick<LoadedModel, 'name' | 'tokenizer'> & { readonly model: Pick<LoadedModel['model'], 'context'> };

/** What is asked for, and the score in what comes back; null where it makes no sense. */
interface Way {
  readonly path: string;
  readonly body: (text: string) => object;
  readonly scoreIn: (answer: unknown) => number | null;
}

/** What a server says may repeat the key. JSON is read to any depth, and written only so deep. */
const quoted = (answer: unknown, key: string | undefined): string => {
  try {
    const text = JSON.stringify(answer);
    return (key ? text.replaceAll(key, '[key]') : text).slice(0, 200);
  } catch {
    return 'nested too deep';
  }
};

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);

/** A text has a row of its own, or a row for each of its tokens or steps, of which the last one is the candidate's. */
const lastRow = (answer: unknown): readonly number[] | null => {
  const rows = (answer as { data?: readonly { data?: unknown }[] } | null)?.data?.[0]?.data;
  const row: unknown = Array.isArray(rows) && Array.isArray(rows.at(-1)) ? rows.at(-1) : rows;
  return isNumbers(row) ? row : null;
};

const expected = (probabilities: readonly number[]): number => {
  const most = Math.max(1, probabilities.length - 1);
  if (probabilities.length === 1) return probabilities[0] as number;
  return probabilities.reduce((sum, p, label) => sum + (p * label) / most, 0);
};

const pooling = ({ model, values = 'probabilities' }: RemoteJudge & { readonly by: 'pooling' }): Way => ({
  path: '/pooling',
  body: (input) => ({ model, input }),
  scoreIn: (answer) => {
    const row = lastRow(answer);
    return row && (values === 'logits' ? answerOf(row).score : expected(row));
  },
});

/** JSON has no -Infinity, the log-probability of what cannot come: some servers write null instead. */
const probability = (logprob: unknown): number => (typeof logprob === 'number' ? Math.exp(logprob) : 0);

/** With a space before it or without. */
const isWord = (token: unknown, word: string): boolean => typeof token === 'string' && token.trim() === word.trim();

interface Next {
  readonly token?: unknown;
  readonly logprob?: unknown;
}
interface Told {
  readonly choices?: readonly {
    readonly logprobs?: {
      readonly top_logprobs?: readonly object[];
      readonly content?: readonly { readonly top_logprobs?: readonly (Next | null)[] }[];
    } | null;
  }[];
}

/** The alternatives in OpenAI's form, or in that of its chats, which `llama-server` writes. */
const alternatives = (answer: unknown): readonly (Next | null)[] => {
  const { top_logprobs: own, content } = (answer as Told | null)?.choices?.[0]?.logprobs ?? {};
  const listed = content?.[0]?.top_logprobs;
  return listed ? [listed].flat() : Object.entries(own?.[0] ?? {}).map(([token, logprob]) => ({ token, logprob }));
};

const wording = ({ model, words = ['-', '+'], question = '' }: RemoteJudge & { readonly by: 'words' }): Way => ({
  path: '/v1/completions',
  body: (text) => ({ model, prompt: text + question, max_tokens: 1, logprobs: ALTERNATIVES, temperature: 0 }),
  scoreIn: (answer) => {
    const next = alternatives(answer);
    const [against, inFavour] = words.map((word) =>
      next.reduce((sum, each) => sum + (isWord(each?.token, word) ? probability(each?.logprob) : 0), 0),
    ) as [number, number];
    const both = against + inFavour;
    return both > 0 && Number.isFinite(both) ? inFavour / both : null;
  },
});

/** `gives`: what it is loaded for. `reader`: whose tokens it will be shown. */
export const openRemoteJudge = (
  source: RemoteJudge,
  { name, tokenizer, model }: Reader,
  gives: Judge['gives'],
  timing: Partial<Timing> = {},
): Judge => {
  if (!tokenizer)
    throw refuse(`${name} has no tokenizer, and a remote judge reads text`, 'Load a model with a tokenizer.');
  const { key, stepEnd = '\n', fallBack } = source;
  const way = source.by === 'pooling' ? pooling(source) : wording(source);
  const address = serverAddress(source, way.path);
  const times = { ...TIMING, ...timing };

  const ask = async (text: string, signal: AbortSignal): Promise<number> => {
    const answer = await retrying(address, times, signal, async () => {
      const late = AbortSignal.timeout(times.first);
      try {
        const response = await post(address, key, way.body(text), AbortSignal.any([signal, late]));
        return JSON.parse(await readText(response, LONGEST_ANSWER)) as unknown;
      } catch (error) {
        checkAborted(signal);
        if (late.aborted) throw failed(address, `no answer within ${times.first / 1000} s`, error);
        if (error instanceof Interrupted || error instanceof OutriderError) throw error;
        if (error instanceof SyntaxError) throw failed(address, 'the answer is no JSON', error);
        throw new Interrupted('the connection broke', { cause: error });
      }
    });
    const score = way.scoreIn(answer);
    if (score === null) throw failed(address, `no score is in the answer: ${quoted(answer, key)}`);
    if (score >= 0 && score <= 1 + ROUNDING) return Math.min(score, 1);
    const hint = 'Where the server gives numbers before the sigmoid or softmax, say so: `values: "logits"`.';
    throw refuse(`${address.href}: a score of ${score} is no probability`, hint);
  };

  const written = (tokens: readonly number[], by: 'draft' | 'target'): string =>
    (gives === 'advantage' ? NOTES[by] : '') + tokenizer.decode(tokens).trimEnd() + stepEnd;

  return {
    family: 'remote',
    gives,
    context: model.context,
    bytes: 0,
    async open({ capacity = model.context } = {}): Promise<JudgeCursor> {
      let question: string | null = null;
      return {
        capacity,
        dispensable: fallBack === 'target',
        forget() {}, // what the server remembers is its own
        ask(asked) {
          question = asked;
        },
        async score(problem, steps, candidates, signal = new AbortController().signal) {
          const kept = steps.map(({ tokens, by }) => written(tokens, by));
          const text = [`${(question ?? tokenizer.decode(problem)).trim()}\n`, ...kept].join('');
          const over = new AbortController();
          const either = AbortSignal.any([signal, over.signal]);
          try {
            return await Promise.all(candidates.map((tokens) => ask(text + written(tokens, 'draft'), either)));
          } finally {
            over.abort(); // where one failed, no other is asked any longer
          }
        },
        [Symbol.dispose]() {},
      };
    },
    [Symbol.dispose]() {},
  };
};
