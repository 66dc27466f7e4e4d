// What the benchmark page takes from here: entries, prompts and the folds from traces to figures, the same as the
// command line's. Nothing in it runs a model.

export type { Spread } from '../../base/statistics.ts';
export { type BenchEntry, baselineOf, PLAIN, readEntry, sameRuns, withBaselines } from './entries.ts';
export { type BenchPrompt, isRight, readPrompts } from './prompts.ts';
export { readSuite, type SuiteName, suiteFile } from './suites.ts';
export { type Sample, type SystemReport, summarise } from './summary.ts';
