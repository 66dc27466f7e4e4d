// The figures of each prompt: an oracle would choose the best system (or block size) for each from them.
import { type Spread, spread } from '../../base/statistics.ts';
import { measure, type TraceEvent } from '../../trace/index.ts';

export interface PromptReport {
  readonly prompt: number;
  readonly tokens: Spread | null;
  /** Reading the prompt; `decode_ms` is the rest of the answer. */
  readonly prefill_ms: Spread | null;
  readonly decode_ms: Spread | null;
  readonly tokens_per_second: Spread | null;
  readonly tokens_per_round: Spread | null;
  /** The size that a policy chose; null without a policy. */
  readonly block_size: number | null;
  /** The share of its runs whose answer is right; null where the truth is not known. */
  readonly right: number | null;
}

interface Asked {
  readonly prompt: number;
  readonly events: readonly TraceEvent[];
  readonly right: boolean | null;
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;

export const byPrompt = (samples: readonly Asked[]): readonly PromptReport[] =>
  [...new Set(samples.map(({ prompt }) => prompt))]
    .sort((a, b) => a - b)
    .map((prompt) => {
      const mine = samples.filter((sample) => sample.prompt === prompt);
      const metrics = mine.map(({ events }) => measure(events));
      const sizes = mine.flatMap(({ events }) => events.flatMap((e) => (e.type === 'block-size' ? [e.size] : [])));
      return {
        prompt,
        tokens: spread(metrics.map((m) => m.tokens)),
        prefill_ms: spread(metrics.map((m) => m.prefill_ms)),
        decode_ms: spread(metrics.map((m) => m.decode_ms)),
        tokens_per_second: spread(metrics.flatMap((m) => m.tokens_per_second ?? [])),
        tokens_per_round: spread(metrics.flatMap((m) => m.tokens_per_round ?? [])),
        block_size: sizes[0] ?? null,
        right: mean(mine.flatMap(({ right }) => (right === null ? [] : [Number(right)]))),
      };
    });
