// The sampled tokens of ensemble systems follow r, which is enumerated, for two to four models, weighted and
// contrastive.
import { describe, expect, it } from 'vitest';
import ensemble from '../../systems/ensemble.ts';
import ensembleParallel from '../../systems/ensemble-parallel.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { samplingDistance } from './ensemble-contract.ts';
import { RUNS } from './system-contract.ts';

/** As in system-contract.test.ts. */
const MARGIN = 1.5;

/** In one submit or in several: the same draws (ensemble-contract.test.ts). */
const ENSEMBLES = SYSTEMS.filter(({ baseline, id }) => baseline === ensemble.id && id !== ensembleParallel.id);
const TRIALS = [2, 3, 4].flatMap((members) =>
  (['weighted', 'contrastive'] as const).map((combine) => ({ members, knobs: { combine } })),
);

describe.each(ENSEMBLES.map((system) => ({ system, id: system.id })))('$id', { timeout: 900_000 }, ({ system }) => {
  it.each(TRIALS)(`follows r: three tokens, ${RUNS} seeds, %j`, async (trial) => {
    const { totalVariation, noise } = await samplingDistance(system, RUNS, trial);
    expect(totalVariation).toBeLessThan(MARGIN * noise);
  });
});
