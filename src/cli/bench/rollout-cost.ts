// Measures what SpecGuard's grounding adds to a draft's time: the same greedy chain on a cursor with rollout and on one
// without, alternately, so that a busy machine disturbs both alike.
import { checkAborted } from '../../base/errors.ts';
import { median } from '../../base/statistics.ts';
import type { Cursor, Drawn, LanguageModel, OpenCursor, Rollout, Sampling } from '../../model/interface.ts';

const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };
/** Tokens that step systems draft between two readbacks. */
const DRAFTS = 8;

export interface RolloutCost {
  /** Medians of writing and reading eight tokens. */
  readonly plain_ms: number;
  readonly rollout_ms: number;
  /** Median of the ratios of neighbouring runs. */
  readonly ratio: number;
}

const draft = async (model: LanguageModel, cursor: Cursor, last: number, grounded: boolean): Promise<number> => {
  const first = cursor.length + 1;
  const start = performance.now();
  const draws: Drawn[] = [];
  for (let i = 0; i <= DRAFTS; i++) {
    const pass = cursor.forward({ tokens: [draws.at(-1)?.token ?? last], parents: [-1] });
    pass.accept([0]);
    if (i < DRAFTS) draws.push(pass.draw(0, GREEDY));
  }
  await model.gather(draws, grounded ? [{ cursor, first, count: DRAFTS }] : []);
  const ms = performance.now() - start;
  cursor.rewind(first - 1);
  return ms;
};

/** After these tokens. */
export const rolloutCost = async (
  model: LanguageModel,
  tokens: readonly number[],
  rollout: Rollout,
  repeats: number,
  signal: AbortSignal,
): Promise<RolloutCost> => {
  const open = async (options: OpenCursor): Promise<Cursor> => {
    const cursor = await model.open({ ...options, capacity: tokens.length + DRAFTS + 1 });
    await cursor.extend(tokens.slice(0, -1), { signal });
    return cursor;
  };
  using plain = await open({});
  using rolled = await open({ rollout });
  rolled.groundOn(tokens.length);
  const last = tokens.at(-1) as number;
  const times: { readonly plain: number; readonly rolled: number }[] = [];
  for (let i = -2; i < repeats; i++) {
    checkAborted(signal);
    const one = async (cursor: Cursor) => draft(model, cursor, last, cursor === rolled);
    const order = i % 2 === 0 ? [plain, rolled] : [rolled, plain];
    const [a, b] = [await one(order[0] as Cursor), await one(order[1] as Cursor)];
    // The first runs warm up.
    if (i >= 0) times.push(i % 2 === 0 ? { plain: a, rolled: b } : { plain: b, rolled: a });
  }
  return {
    plain_ms: median(times.map(({ plain: ms }) => ms)),
    rollout_ms: median(times.map(({ rolled: ms }) => ms)),
    ratio: median(times.map((time) => time.rolled / time.plain)),
  };
};
