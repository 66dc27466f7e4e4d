// Figures of a system over many prompts, as functions of which prompts are counted: the report has each one for all
// prompts, and its 95 % interval over prompts drawn anew (base/statistics.ts).
import { type Interval, intervals, median, type Statistic, shareOfDraws } from '../../base/statistics.ts';

/** What one run adds to a figure; null: nothing. */
type Measured<Run> = (run: Run) => number | null;

interface OfPrompt {
  readonly prompt: number;
}

/** The prompts of some runs. A figure of other runs on the same prompts may be made of them too. */
export class Prompts {
  readonly #prompts: readonly number[];

  constructor(runs: readonly OfPrompt[]) {
    this.#prompts = [...new Set(runs.map(({ prompt }) => prompt))];
  }

  /** The sum over all runs on the drawn prompts. */
  total<Run extends OfPrompt>(runs: readonly Run[], measured: Measured<Run>): Statistic {
    const sums = Float64Array.from(this.#values(runs, measured), (values) => values.reduce((a, b) => a + b, 0));
    return (drawn) => {
      let sum = 0;
      for (let i = 0; i < drawn.length; i++) sum += sums[drawn[i] as number] as number;
      return sum;
    };
  }

  median<Run extends OfPrompt>(runs: readonly Run[], measured: Measured<Run>): Statistic {
    const each = this.#values(runs, measured);
    return (drawn) => {
      const values: number[] = [];
      for (let i = 0; i < drawn.length; i++) values.push(...(each[drawn[i] as number] as number[]));
      return values.length === 0 ? null : median(values);
    };
  }

  /** All prompts once. */
  value(statistic: Statistic): number | null {
    return statistic(this.#prompts.map((_, i) => i));
  }

  intervals<Name extends string>(
    statistics: Readonly<Record<Name, Statistic>>,
  ): Readonly<Record<Name, Interval | null>> {
    return intervals(this.#prompts.length, statistics);
  }

  /** How sure it is, from 0 to 1, that the figure is at least so much. */
  sureOf(statistic: Statistic, least: number): number | null {
    return shareOfDraws(this.#prompts.length, statistic, least);
  }

  #values<Run extends OfPrompt>(runs: readonly Run[], measured: Measured<Run>): readonly number[][] {
    const places = new Map(this.#prompts.map((prompt, i) => [prompt, i]));
    const values = this.#prompts.map((): number[] => []);
    for (const run of runs) {
      const value = measured(run);
      if (value !== null) values[places.get(run.prompt) ?? -1]?.push(value);
    }
    return values;
  }
}

/** Null where the whole is nothing. */
export const quotient =
  (part: Statistic, whole: Statistic): Statistic =>
  (drawn) => {
    const [a, b] = [part(drawn), whole(drawn)];
    return a !== null && b ? a / b : null;
  };
