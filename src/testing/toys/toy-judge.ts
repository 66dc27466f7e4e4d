// A judge without weights: its score of a step is a number from 0 to 1 that depends on the whole text, on who wrote
// each step, and on the step itself. So a test notices when a judge is shown anything else.
import type { Judge, JudgedStep } from '../../decode/core/system.ts';

type Told = Parameters<Awaited<ReturnType<Judge['open']>>['score']>;

export interface ToyJudge extends Judge {
  /** Every step that it was asked about. */
  readonly asked: number;
}

/** The CPU reference of its score, for one candidate. */
export const toyScore = (
  gives: Judge['gives'],
  problem: readonly number[],
  steps: readonly JudgedStep[],
  candidate: readonly number[],
): number => {
  const told = [
    gives === 'reward' ? 1 : 2,
    ...problem,
    ...steps.flatMap(({ by, tokens }) => [-by.length, ...tokens]),
    -1,
  ];
  let key = 7;
  for (const value of [...told, ...candidate]) {
    key = Math.imul(key ^ (value + 1), 0x9e3779b1);
    key = Math.imul(key ^ (key >>> 15), 0x85ebca6b);
  }
  return ((key ^ (key >>> 13)) >>> 0) / 2 ** 32;
};

export const toyJudge = (gives: Judge['gives'], context = 4096): ToyJudge => {
  let asked = 0;
  return {
    family: 'toy',
    gives,
    context,
    bytes: 0,
    get asked() {
      return asked;
    },
    async open({ capacity = context } = {}) {
      return {
        capacity,
        forget() {},
        async score(...[problem, steps, candidates]: Told) {
          const longest = Math.max(...candidates.map((tokens) => tokens.length));
          const read = [problem, ...steps.map(({ tokens }) => tokens)].reduce(
            (sum, part) => sum + part.length,
            longest,
          );
          if (read > capacity) throw new Error(`toy judge: ${read} tokens exceed ${capacity}`);
          asked += candidates.length;
          // It takes its time, as a device does.
          await new Promise((resolve) => setImmediate(resolve));
          return candidates.map((candidate) => toyScore(gives, problem, steps, candidate));
        },
        [Symbol.dispose]() {},
      };
    },
    [Symbol.dispose]() {},
  };
};
