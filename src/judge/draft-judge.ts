// A judge of a few layers on top of the draft: it reads the hidden states that the draft has of its own text, so nothing
// is read a second time, and judges a step by its least likely token. Of a text that is not the draft's (the target's
// steps for the oracle, drawn answers) it lets the draft read a copy.
import { checkAborted } from '../base/errors.ts';
import { bad, refuse } from '../base/refuse.ts';
import { commonPrefix } from '../decode/core/common-prefix.ts';
import { rewindTo } from '../decode/core/prefix-cache.ts';
import type { Judge, JudgeCursor, JudgedStep } from '../decode/core/system.ts';
import type { Gpu } from '../gpu/device.ts';
import type { CachePrecision, Cursor, LanguageModel } from '../model/interface.ts';
import type { StateCursor } from '../model/judges/state-model.ts';
import type { LoadModelOptions } from '../model/load/checkpoint-tensors.ts';
import { loadStateModel } from '../model/load/load-judge.ts';
import { Transformer } from '../model/transformer.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import { checkRoom, checkScores, type VocabularyJudge } from './judge-cursor.ts';
import { leastLogprob, rewardOf } from './likelihood.ts';

export const loadDraftJudge = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  draft: LanguageModel | undefined,
  gives: Judge['gives'],
  options: LoadModelOptions,
): Promise<VocabularyJudge> => {
  const { name } = checkpoint;
  if (!(draft instanceof Transformer))
    throw refuse(`${name} reads the hidden states of its draft, and no draft is loaded`, 'Load both.');
  const model = await loadStateModel(gpu, checkpoint, options);
  const [width, needed] = [draft, model].map(({ architecture }) => architecture.sizes.hidden);
  if (width !== needed) {
    model[Symbol.dispose]();
    throw bad(
      `${name} reads hidden states of ${needed} numbers, and the draft's have ${width}`,
      'Load the draft that it was trained on.',
    );
  }
  return {
    family: model.architecture.family,
    gives,
    readsDraft: true,
    vocabulary: model.architecture.sizes.vocabulary,
    tokenizer: null,
    sharesVocabulary: true,
    context: model.context,
    bytes: model.bytes,
    async open({ capacity = model.context, cache } = {}) {
      const cursor = await model.open(Math.min(model.context, draft.context, capacity));
      return new DraftJudgeCursor(cursor, { draft, gives, capacity, cache });
    },
    [Symbol.dispose]: () => model[Symbol.dispose](),
  };
};

interface DraftJudgeOptions {
  readonly draft: LanguageModel;
  readonly gives: Judge['gives'];
  readonly capacity: number;
  /** As the draft's own cursor has it: a text's rows are the same, by this copy or by the draft itself. */
  readonly cache: CachePrecision | undefined;
}

class DraftJudgeCursor implements JudgeCursor {
  readonly capacity: number;
  readonly #cursor: StateCursor;
  readonly #options: DraftJudgeOptions;
  /** Those whose rows the cursor holds. */
  #tokens: readonly number[] = [];
  /** Reads what the draft has not written; null until then. */
  #copy: { readonly cursor: Cursor; tokens: readonly number[] } | null = null;

  constructor(cursor: StateCursor, options: DraftJudgeOptions) {
    this.#cursor = cursor;
    this.#options = options;
    this.capacity = options.capacity;
  }

  forget(): void {
    this.#tokens = [];
    this.#cursor.rewind(0);
    if (this.#copy) this.#copy.tokens = [];
  }

  async score(
    problem: readonly number[],
    steps: readonly JudgedStep[],
    candidates: readonly (readonly number[])[],
    signal?: AbortSignal,
    written?: Cursor,
  ): Promise<readonly number[]> {
    const context = [...problem, ...steps.flatMap(({ tokens }) => tokens)];
    const scores: number[] = [];
    for (const candidate of candidates) {
      checkAborted(signal);
      const text = [...context, ...candidate];
      checkRoom(text.length, this.#cursor.capacity);
      const states = written ?? (await this.#read(text.slice(0, -1), signal));
      scores.push(rewardOf(await this.#least(context.length, text, states), this.#options.gives));
    }
    return scores;
  }

  /** A row tells of the token after it, so the step's rows begin with the last token before the step. */
  async #least(begin: number, text: readonly number[], states: Cursor): Promise<number> {
    const first = begin - 1;
    const known = Math.min(commonPrefix(this.#tokens, text), first);
    this.#tokens = []; // until all is read: a pass may fail
    this.#cursor.rewind(Math.min(this.#cursor.length, known));
    const rows = await this.#cursor.score(states, first, text.length - 1);
    const least = leastLogprob(rows, text.slice(begin));
    checkScores([least]);
    this.#tokens = text.slice(0, -1);
    return least;
  }

  /** The draft's cursor of a text that it has not written, or not here. */
  async #read(text: readonly number[], signal: AbortSignal | undefined): Promise<Cursor> {
    const { draft, capacity, cache } = this.#options;
    const options = { capacity: Math.min(draft.context, capacity), pool: true, ...(cache && { cache }) };
    this.#copy ??= { cursor: await draft.open(options), tokens: [] };
    const { cursor, tokens } = this.#copy;
    const known = Math.min(commonPrefix(tokens, text), cursor.length, text.length - 1);
    this.#copy.tokens = [];
    rewindTo(cursor, known);
    await cursor.extend(text.slice(cursor.length), signal ? { signal } : {});
    this.#copy.tokens = text;
    return cursor;
  }

  [Symbol.dispose](): void {
    this.#cursor[Symbol.dispose]();
    this.#copy?.cursor[Symbol.dispose]();
  }
}
