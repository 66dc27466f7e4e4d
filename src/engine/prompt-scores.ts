// The log-probability of every token of a prompt, for callers who ask: an extra reading of the prompt, with the logits of
// every row read back.

import { checkAborted } from '../base/errors.ts';
import { logSumExp } from '../base/log-sum-exp.ts';
import { MOST_ROWS } from '../base/pass-rows.ts';
import { chainOf } from '../decode/core/chain.ts';
import type { CachePrecision, Choice, LanguageModel } from '../model/interface.ts';

export interface PromptScore {
  readonly token: number;
  /** Null of the first token, which nothing comes before. */
  readonly logprob: number | null;
  readonly top: readonly Choice[];
}

/** `n`: alternatives of each token. `cache`: the precision at which the answer's rows are kept. */
export const scorePrompt = async (
  model: LanguageModel,
  prompt: readonly number[],
  n: number,
  { cache, signal }: { readonly cache: CachePrecision; readonly signal: AbortSignal },
): Promise<readonly PromptScore[]> => {
  using cursor = await model.open({ capacity: prompt.length, cache });
  const scores: PromptScore[] = [{ token: prompt[0] as number, logprob: null, top: [] }];
  for (let from = 0; from < prompt.length - 1; from += MOST_ROWS) {
    checkAborted(signal);
    const tokens = prompt.slice(from, Math.min(from + MOST_ROWS, prompt.length - 1));
    const pass = cursor.forward(chainOf(tokens));
    const logits = await pass.logits.read();
    const tops = n > 0 ? await pass.top(Array.from(tokens.keys()), n) : [];
    pass.accept(Array.from(tokens.keys()));
    for (const i of tokens.keys()) {
      const row = logits.subarray(i * model.vocabulary, (i + 1) * model.vocabulary);
      const token = prompt[from + i + 1] as number;
      scores.push({ token, logprob: (row[token] as number) - logSumExp(row), top: tops[i] ?? [] });
    }
  }
  return scores;
};
