// Calibration of a draft for SpecGuard: what its steps' signals usually are when nobody interferes. The draft alone answers
// the prompts, once for every way of rolling attention out that has a range of its own.
import { type Calibration, type Range, rolloutKey, usualRange } from './decode/calibration.ts';
import type { KnobValue } from './decode/knobs.ts';
import type { Engine } from './engine.ts';
import { OutriderError } from './errors.ts';
import type { Rollout } from './model/model.ts';
import type { Prompt } from './request.ts';

export interface CalibrateOptions {
  readonly prompts: readonly Prompt[];
  /** Layers that the draft has. */
  readonly layers: number;
  readonly maxTokens: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (done: number, all: number) => void;
}

type Way = Required<Rollout>;

/** The last layers of every number that a run may ask for, and what else may be asked of the usual three. */
const waysFor = (layers: number): readonly Way[] => {
  const ways: Way[] = [
    ...([1, 2, 3, 'all'] as const).map((each): Way => ({ layers: each, variant: 'threshold', skip: 0 })),
    { layers: 3, variant: 'threshold', skip: 1 },
    { layers: 3, variant: 'plain', skip: 0 },
    { layers: 3, variant: 'residual', skip: 0 },
  ];
  const keys = ways.map((way) => rolloutKey(way, layers));
  return ways.filter((_, i) => keys.indexOf(keys[i] as string) === i);
};

const knobsFor = ({ layers, variant, skip }: Way): Readonly<Record<string, KnobValue>> => ({
  k: 1,
  tau: 0,
  layers: `${layers}`,
  rollout: variant,
  sink: skip > 0 ? 'left-out' : 'counted',
});

/** The engine's target and draft: both the model that is to be calibrated, since nothing is escalated. */
export const calibrate = async (
  engine: Engine,
  { prompts, layers, maxTokens, signal, onProgress }: CalibrateOptions,
): Promise<Calibration> => {
  const grounding: Record<string, Range> = {};
  let logprob: Range | null = null;
  let steps = 0;
  const ways = waysFor(layers);
  for (const [i, way] of ways.entries()) {
    const seen: { logprob: number[]; grounding: number[] } = { logprob: [], grounding: [] };
    for (const [seed, prompt] of prompts.entries()) {
      onProgress?.(i * prompts.length + seed, ways.length * prompts.length);
      for await (const event of engine.run(
        { prompt, system: 'specguard', knobs: knobsFor(way), seed, maxTokens },
        signal,
      )) {
        if (event.type === 'done' && event.finish_reason === 'aborted')
          throw new OutriderError('aborted', 'aborted by the caller');
        if (event.type !== 'route' || !event.signals) continue;
        seen.logprob.push(event.signals.logprob);
        seen.grounding.push(event.signals.grounding ?? 1);
      }
    }
    const range = usualRange(seen.grounding);
    if (range) grounding[rolloutKey(way, layers)] = range;
    logprob ??= usualRange(seen.logprob);
    steps = seen.logprob.length;
  }
  if (!logprob)
    throw new OutriderError(
      'bad-request',
      `${steps} steps are too few, or too much alike, to say what is usual`,
      'Give more prompts, of the kind that the draft will see.',
    );
  return { version: 1, steps, logprob, grounding };
};
