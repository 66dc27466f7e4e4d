// Measures the time of a pass over M rows against that of one row. When the curve is flat, accepted drafts cost
// nothing; when it grows like M, speculation loses.
import { checkAborted } from '../base/errors.ts';
import { median } from '../base/statistics.ts';
import { chainOf } from '../decode/core/chain.ts';
import type { Cursor, LanguageModel, Sampling } from '../model/interface.ts';

const ROWS = [1, 2, 4, 8, 12, 16] as const;
const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };
/** Rows that the cache holds when a pass is timed. */
const PREFIX = 32;

/** Token ids for what is only timed: any ids serve, and these are the same on every run. */
export const someTokens = (vocabulary: number, count: number, salt = 0): number[] =>
  Array.from({ length: count }, (_, i) => (i * 7919 + salt * 104_729 + 17) % vocabulary);

export interface VerifyCost {
  /** T(M)/T(1) by M. */
  readonly relative: Readonly<Record<string, number>>;
  /** T(M) in milliseconds, the readback of the verdict included. */
  readonly milliseconds: Readonly<Record<string, number>>;
}

const time = async (cursor: Cursor, tokens: readonly number[]): Promise<number> => {
  const start = performance.now();
  const pass = cursor.forward(chainOf(tokens));
  await pass.draw(tokens.length - 1, GREEDY).read();
  return performance.now() - start;
};

/** Medians over `repeats` rounds in which every M is timed once, so that a disturbance hits all alike. */
export const verifyCost = async (model: LanguageModel, repeats: number, signal?: AbortSignal): Promise<VerifyCost> => {
  using cursor = await model.open({ capacity: Math.min(model.context, PREFIX + 16) });
  await cursor.extend(someTokens(model.vocabulary, PREFIX));
  const times = new Map(ROWS.map((rows) => [rows, [] as number[]]));
  for (let i = -1; i < repeats; i++) {
    for (const [rows, list] of times) {
      checkAborted(signal);
      const ms = await time(cursor, someTokens(model.vocabulary, rows));
      if (i >= 0) list.push(ms); // the first round warms up
    }
  }
  const medians = [...times].map(([rows, list]) => [`${rows}`, median(list)] as const);
  const one = medians[0]?.[1] ?? 1;
  return {
    relative: Object.fromEntries(medians.map(([rows, ms]) => [rows, ms / one])),
    milliseconds: Object.fromEntries(medians),
  };
};
