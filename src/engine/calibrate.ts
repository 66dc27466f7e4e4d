// Calibrates a draft for SpecGuard: the usual range of its step signals. The draft alone answers the prompts, once for
// each variant of attention rollout that has a range of its own. The result is stored next to the draft
// (load/sidecar.ts).
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { KnobValue } from '../decode/core/knobs.ts';
import { CALIBRATION_FILE, type Calibration, type Range, rolloutKey, usualRange } from '../decode/steps/calibration.ts';
import type { Rollout } from '../model/interface.ts';
import type { TraceEvent } from '../trace/index.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import type { Prompt, RunRequest } from './request.ts';

/** What to calibrate on. */
export interface CalibrateOptions {
  /** A few dozen, of the kind that the draft will see. */
  readonly prompts: readonly Prompt[];
  /** Of one answer. Default: as for a run. */
  readonly maxTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the answers written and the answers in all. */
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
}

/** What a calibration found. */
export interface Calibrated {
  readonly calibration: Calibration;
  /** True when the next load of the model will find it; false when it lasts until then. */
  readonly kept: boolean;
}

type Way = Required<Rollout>;

/** Every number of last layers that a run may ask for; for the default of three, the other variants too. */
const waysFor = (layers: number): readonly Way[] => {
  const ways: Way[] = [
    ...([1, 2, 3, 'all'] as const).map((each): Way => ({ layers: each, variant: 'threshold', skip: 0 })),
    { layers: 3, variant: 'threshold', skip: 1 },
    { layers: 3, variant: 'plain', skip: 0 },
    { layers: 3, variant: 'residual', skip: 0 },
    { layers: 3, variant: 'renormalised', skip: 0 },
  ];
  const keys = ways.map((way) => rolloutKey(way, layers));
  return ways.filter((_, i) => keys.indexOf(keys[i] as string) === i);
};

/** A threshold of 0 keeps every step: the target is never asked. β below 1 reads the grounding too. */
const knobsFor = ({ layers, variant, skip }: Way): Readonly<Record<string, KnobValue>> => ({
  k: 1,
  beta: 0.5,
  tau: 0,
  layers: `${layers}`,
  rollout: variant,
  sink: skip > 0 ? 'left-out' : 'counted',
});

/** `draft`: as it is now. After a lost device it is another one, from the same sources. */
interface Drafting {
  readonly draft: LoadedModel | undefined;
  readonly sources: object | null;
}

/** `run`: the engine's. */
export const calibrate = async (
  run: (request: RunRequest, signal?: AbortSignal) => AsyncIterable<TraceEvent>,
  drafting: () => Drafting,
  { prompts, maxTokens, signal, onProgress }: CalibrateOptions,
): Promise<Calibrated> => {
  if (!Array.isArray(prompts)) throw refuse(`prompts must be a list of prompts, not ${shown(prompts)}`);
  const { draft, sources } = drafting();
  if (!draft) throw refuse('no draft is loaded, so there is none to calibrate', 'Load a model as draft.');
  const { layers } = draft.model;
  const grounding: Record<string, Range> = {};
  let logprob: Range | null = null;
  let steps = 0;
  const ways = waysFor(layers);
  for (const [i, way] of ways.entries()) {
    const seen: { logprob: number[]; grounding: number[] } = { logprob: [], grounding: [] };
    for (const [seed, prompt] of prompts.entries()) {
      onProgress?.(i * prompts.length + seed, ways.length * prompts.length);
      const now = drafting();
      if (now.draft !== draft && now.sources !== sources)
        throw refuse('the draft was loaded anew while it was calibrated', 'Start the calibration again.');
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
      `${steps} steps are too few, or too similar, for a usual range`,
      'Give more prompts, of the kind that the draft will see.',
    );
  const calibration: Calibration = { version: 1, steps, logprob, grounding };
  return { calibration, kept: (await drafting().draft?.sidecar?.write(CALIBRATION_FILE, calibration)) ?? false };
};
