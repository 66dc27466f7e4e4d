// The exports for the benchmark page: entries, prompts and the folds from traces to figures, as the command line has
// them. None of them runs a model.

export type { Spread } from '../../base/statistics.ts';
export { type BenchEntry, baselineOf, PLAIN, readEntry, sameRuns, withBaselines } from './entries.ts';
export { type BenchPrompt, isRight, readPrompts } from './prompts.ts';
export { readSuite, type SuiteName, suiteFile } from './suites.ts';
export { type Sample, type SystemReport, summarise } from './summary.ts';
