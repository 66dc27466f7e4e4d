// The comparison of two results: for every row that both have, the ratio of the second to the first.
import type { Spread } from '../../../src/cli/bench/report.ts';
import type { ResultFile } from './result-file.ts';

export interface ComparedRow {
  readonly title: string;
  /** Tokens per second of each, and the ratio of the second to the first; null if either is missing. */
  readonly first: number | null;
  readonly second: number | null;
  readonly speed: number | null;
  readonly speedups: readonly [number | null, number | null];
  readonly memory: number | null;
  /** The ranges of tokens per second do not overlap, so the difference is larger than the spread. */
  readonly apart: boolean;
}

export interface Comparison {
  /** How the two measurements differ in what was measured, as sentences. */
  readonly differences: readonly string[];
  readonly rows: readonly ComparedRow[];
}

const ratio = (a: number | null | undefined, b: number | null | undefined): number | null => (a && b ? b / a : null);

const apart = (a: Spread | null | undefined, b: Spread | null | undefined): boolean =>
  !!a && !!b && (a.max < b.min || b.max < a.min);

const differences = (a: ResultFile, b: ResultFile): string[] => {
  const compared = [
    ['Outrider', a.software.outrider, b.software.outrider],
    ['Device', a.device?.description, b.device?.description],
    ['Browser', a.software.browser, b.software.browser],
    ['Model', a.plan.model, b.plan.model],
    ['Precision', a.plan.precision || 'as in the file', b.plan.precision || 'as in the file'],
    ['Suite', a.plan.suite, b.plan.suite],
    ['Prompts', a.plan.prompts.length, b.plan.prompts.length],
    ['Token limit', a.plan.max_tokens, b.plan.max_tokens],
    ['Temperature', a.plan.temperature, b.plan.temperature],
  ] as const;
  const plain = compared.flatMap(([what, first, second]) =>
    first === second ? [] : [`${what}: first ${first ?? 'unknown'}, second ${second ?? 'unknown'}`],
  );
  const prompts = ({ plan }: ResultFile): string => JSON.stringify(plan.prompts.map(({ prompt }) => prompt));
  const others = a.plan.prompts.length === b.plan.prompts.length && prompts(a) !== prompts(b);
  return others ? [...plain, 'Prompts: different texts'] : plain;
};

export const compare = (a: ResultFile, b: ResultFile): Comparison => {
  const systems = [...new Set([...a.rows, ...b.rows].map(({ system }) => system))];
  const rows = systems.map((system): ComparedRow => {
    const [first, second] = [a, b].map(({ rows: all }) => all.find((row) => row.system === system));
    const [before, after] = [first?.tokens_per_second, second?.tokens_per_second];
    return {
      title: (first ?? second)?.title ?? system,
      first: before?.median ?? null,
      second: after?.median ?? null,
      speed: ratio(before?.median, after?.median),
      speedups: [first?.speedup?.median ?? null, second?.speedup?.median ?? null],
      memory: ratio(first?.peak_bytes, second?.peak_bytes),
      apart: apart(before, after),
    };
  });
  return { differences: differences(a, b), rows };
};
