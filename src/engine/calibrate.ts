// Calibration of a draft for SpecGuard: what its steps' signals usually are when nobody interferes. The draft alone answers
// the prompts, once for every way of rolling attention out that has a range of its own; the result is kept beside it.
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import type { KnobValue } from '../decode/core/knobs.ts';
import { CALIBRATION_FILE, type Calibration, type Range, rolloutKey, usualRange } from '../decode/steps/calibration.ts';
import type { Rollout } from '../model/interface.ts';
import type { TraceEvent } from '../trace/index.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import type { Prompt, RunRequest } from './request.ts';

/** What to calibrate on. */
export interface CalibrateOptions {
  /** Of the kind that the draft will see: a few dozen. */
  readonly prompts: readonly Prompt[];
  /** Of an answer. Default: as a run's. */
  readonly maxTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Answers written, and answers to be written. */
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
}

/** What a calibration found. */
export interface Calibrated {
  readonly calibration: Calibration;
  /** It will be there when the model is loaded the next time; otherwise until then. */
  readonly kept: boolean;
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

/** A threshold of 0 keeps every step: the target is never asked. */
const knobsFor = ({ layers, variant, skip }: Way): Readonly<Record<string, KnobValue>> => ({
  k: 1,
  tau: 0,
  layers: `${layers}`,
  rollout: variant,
  sink: skip > 0 ? 'left-out' : 'counted',
});

/** `run`: the engine's. `draftOf`: its draft as it is now. */
export const calibrate = async (
  run: (request: RunRequest, signal?: AbortSignal) => AsyncIterable<TraceEvent>,
  draftOf: () => LoadedModel | undefined,
  { prompts, maxTokens, signal, onProgress }: CalibrateOptions,
): Promise<Calibrated> => {
  const draft = draftOf();
  if (!draft) throw refuse('there is no draft to calibrate', 'Load one under that role.');
  const { layers } = draft.model;
  const grounding: Record<string, Range> = {};
  let logprob: Range | null = null;
  let steps = 0;
  const ways = waysFor(layers);
  for (const [i, way] of ways.entries()) {
    const seen: { logprob: number[]; grounding: number[] } = { logprob: [], grounding: [] };
    for (const [seed, prompt] of prompts.entries()) {
      onProgress?.(i * prompts.length + seed, ways.length * prompts.length);
      if (draftOf() !== draft) throw refuse('the models changed while the draft was calibrated', 'Start again.');
      const limit = maxTokens === undefined ? {} : { maxTokens };
      const request = { prompt, system: 'specguard', knobs: knobsFor(way), seed, ...limit };
      for await (const event of run(request, signal)) {
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
    throw refuse(
      `${steps} steps are too few, or too much alike, to say what is usual`,
      'Give more prompts, of the kind that the draft will see.',
    );
  const calibration: Calibration = { version: 1, steps, logprob, grounding };
  return { calibration, kept: (await draft.sidecar?.write(CALIBRATION_FILE, calibration)) ?? false };
};
