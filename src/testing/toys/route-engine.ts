// An engine of toys with everything that step systems need: two models of one vocabulary, drafters for the nested
// system, and judges.

import type { BlockPolicy, DecodingSystem, SentenceEncoder } from '../../decode/core/system.ts';
import { CALIBRATION_FILE } from '../../decode/steps/calibration.ts';
import { createEngine } from '../../engine/engine.ts';
import type { Sidecar } from '../../engine/load/sidecar.ts';
import type { RunRequest } from '../../engine/request.ts';
import { SYSTEMS } from '../../systems/index.ts';
import type { EventOf, TraceEvent } from '../../trace/index.ts';
import { toyLoaded } from '../contract/system-contract.ts';
import { toyBlockDrafter, toyFeatureDrafter, toyMarkovDrafter } from './toy-drafters.ts';
import { toyJudge } from './toy-judge.ts';
import { toyModel } from './toy-model.ts';
import { ToyTokenRing } from './toy-token-ring.ts';

const VOCABULARY = 12;
const SHARPNESS = 5;
export const DELIMITER = 3;
export const STOP = 7;
export const TARGET = { vocabulary: VOCABULARY, sharpness: SHARPNESS };
export const DRAFT = { ...TARGET, noise: SHARPNESS / 2, seed: 1 };

const POLICY: BlockPolicy = {
  vocabulary: VOCABULARY,
  blockSizes: [2, 4, 6],
  predict: async (logits) => [1.5, 2, 2 + Math.abs((logits[0] ?? 0) % 1)],
  [Symbol.dispose]: () => {},
};

interface Toy {
  readonly stopTokens?: readonly number[];
  readonly context?: number;
  readonly draftContext?: number;
  readonly judgeContext?: number;
  readonly sentences?: SentenceEncoder;
  /** Files in the draft's folder. */
  readonly sidecar?: Sidecar;
}

export const routeEngine = async ({
  stopTokens = [],
  context = 4096,
  draftContext = context,
  judgeContext = 4096,
  sidecar,
  sentences,
}: Toy = {}) => {
  const engine = createEngine({ systems: SYSTEMS });
  const tokenRing = new ToyTokenRing();
  const judges = { prm: toyJudge('reward', judgeContext), router: toyJudge('advantage', judgeContext) };
  const models = {
    target: toyModel({ ...TARGET, context, tokenRing }),
    draft: toyModel({ ...DRAFT, context: draftContext, tokenRing }),
  };
  await engine.load({
    target: toyLoaded(models.target, stopTokens),
    draft: { ...toyLoaded(models.draft), ...(sidecar && { sidecar }) },
    dflash: { name: 'toy block', model: toyBlockDrafter({ ...TARGET, noise: 1, seed: 2, context, tokenRing }) },
    dspark: { name: 'toy walk', model: toyMarkovDrafter({ ...TARGET, noise: 1, seed: 4, context, tokenRing }) },
    eagle3: { name: 'toy features', model: toyFeatureDrafter({ ...TARGET, noise: 1, seed: 3, context, tokenRing }) },
    mtp: { name: 'toy layer', model: toyFeatureDrafter({ ...TARGET, noise: 1, seed: 5, context, tokenRing }, 'mtp') },
    // Which size is chosen depends on the clock, and must not matter.
    policy: { name: 'toy policy', model: POLICY },
    prm: { name: 'toy rewards', model: judges.prm },
    router: { name: 'toy router', model: judges.router },
    ...(sentences && { sentences: { name: 'toy sentences', model: sentences } }),
  });
  const run = async (
    { id }: Pick<DecodingSystem, 'id'>,
    request: Partial<RunRequest>,
    signal?: AbortSignal,
  ): Promise<TraceEvent[]> => {
    const events: TraceEvent[] = [];
    const { knobs, ...rest } = request;
    const steps = Object.hasOwn(SYSTEMS.find((known) => known.id === id)?.knobs ?? {}, 'delimiter');
    const all = { ...(steps && { delimiter: DELIMITER }), ...knobs };
    const asked = { prompt: { tokens: PROMPT }, maxTokens: 60, system: id, ...rest, knobs: all };
    for await (const event of engine.run(asked, signal)) events.push(event);
    return events;
  };
  return { engine, run, judges, models };
};

/** Next to a model: one calibration, or none. */
export const sidecarWith = (calibration: unknown = null): Sidecar => {
  const files = new Map([[CALIBRATION_FILE, calibration]]);
  return {
    read: async (file) => files.get(file) ?? null,
    write: async (file, value) => files.set(file, value).has(file),
  };
};

export const PROMPT = [4, 1, 9];
export const GREEDY = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 } as const;
export const SAMPLED = { ...GREEDY, temperature: 0.8, topK: 9, seed: 11 } as const;
/** A seed draws the same from nested plain decoding only; greedy, any exact system will do. */
export const PLAIN = { inner: 'autoregressive' } as const;

export const stepsOf = (events: readonly TraceEvent[]) =>
  events.filter((event): event is EventOf<'step'> => event.type === 'step');
export const routesOf = (events: readonly TraceEvent[]) =>
  events.filter((event): event is EventOf<'route'> => event.type === 'route');
