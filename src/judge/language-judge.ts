// A language model of the target's vocabulary as a judge, without a head or training of its own: a step is as good as its
// least likely token. A small model that has learned the task sees a wrong token by what it would have written itself.
import { PROMPT_ROWS } from '../base/pass-rows.ts';
import { commonPrefix } from '../decode/core/common-prefix.ts';
import { rewindTo } from '../decode/core/prefix-cache.ts';
import type { Judge, JudgeCursor, JudgedStep } from '../decode/core/system.ts';
import type { Gpu } from '../gpu/device.ts';
import { chain } from '../model/check-tree.ts';
import type { Cursor } from '../model/interface.ts';
import type { LoadModelOptions } from '../model/load/checkpoint-tensors.ts';
import { loadModel } from '../model/load/load-model.ts';
import { loadTokenizer } from '../text/tokenizer.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import { checkRoom, checkScores, type VocabularyJudge } from './judge-cursor.ts';
import { leastLogprob, rewardOf } from './likelihood.ts';

export const loadLanguageJudge = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  gives: Judge['gives'],
  options: LoadModelOptions,
): Promise<VocabularyJudge> => {
  const files = await checkpoint.tokenizer(options.signal);
  const tokenizer = files && (await loadTokenizer(files));
  const model = await loadModel(gpu, checkpoint, options);
  return {
    family: model.family,
    gives,
    vocabulary: model.vocabulary,
    tokenizer,
    sharesVocabulary: true,
    context: model.context,
    bytes: model.bytes,
    async open({ capacity = model.context } = {}) {
      const cursor = await model.open({ capacity: Math.min(model.context, capacity), nodes: PROMPT_ROWS });
      return new LikelihoodCursor(cursor, { vocabulary: model.vocabulary, gives, capacity });
    },
    [Symbol.dispose]: () => model[Symbol.dispose](),
  };
};

interface LikelihoodOptions {
  readonly vocabulary: number;
  readonly gives: Judge['gives'];
  readonly capacity: number;
}

class LikelihoodCursor implements JudgeCursor {
  readonly capacity: number;
  readonly #cursor: Cursor;
  readonly #options: LikelihoodOptions;
  /** Those whose rows the cursor holds. */
  #tokens: readonly number[] = [];

  constructor(cursor: Cursor, options: LikelihoodOptions) {
    this.#cursor = cursor;
    this.#options = options;
    this.capacity = options.capacity;
  }

  forget(): void {
    this.#tokens = [];
    this.#cursor.rewind(0);
  }

  async score(
    problem: readonly number[],
    steps: readonly JudgedStep[],
    candidates: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<readonly number[]> {
    const context = [...problem, ...steps.flatMap(({ tokens }) => tokens)];
    const scores: number[] = [];
    for (const candidate of candidates) {
      scores.push(rewardOf(await this.#least(context, candidate, signal), this.#options.gives));
    }
    return scores;
  }

  async #least(context: readonly number[], step: readonly number[], signal: AbortSignal | undefined): Promise<number> {
    const text = [...context, ...step];
    checkRoom(text.length, this.#cursor.capacity);
    // A row tells of the token after it, so the step's rows begin with the last token before the step.
    const first = context.length - 1;
    const known = Math.min(commonPrefix(this.#tokens, text), first);
    this.#tokens = []; // until all is read: a pass may fail
    rewindTo(this.#cursor, known);
    if (this.#cursor.length < first)
      await this.#cursor.extend(text.slice(this.#cursor.length, first), signal ? { signal } : {});
    let least = 0;
    for (let from = first; from < text.length - 1; from += PROMPT_ROWS) {
      const rows = text.slice(from, Math.min(from + PROMPT_ROWS, text.length - 1));
      const pass = this.#cursor.forward(chain(rows));
      const logits = await pass.logits.read();
      pass.accept(Array.from(rows.keys()));
      const { vocabulary: width } = this.#options;
      const scored = Array.from(rows, (_, i) => logits.subarray(i * width, (i + 1) * width));
      least = Math.min(least, leastLogprob(scored, text.slice(from + 1)));
    }
    checkScores([least]);
    this.#tokens = text.slice(0, -1);
    return least;
  }

  [Symbol.dispose](): void {
    this.#cursor[Symbol.dispose]();
  }
}
