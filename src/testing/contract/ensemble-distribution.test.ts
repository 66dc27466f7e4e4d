// The sampled tokens of ensemble systems follow r, which is enumerated, for two to four models, weighted and
// contrastive. ensemble-contract.test.ts has every system with all of them, at temperature 0.
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

/** Every size and both combinations: of one system the first trial and every other one, of the next system the rest. */
const trialsOf = (index: number) =>
  process.env.OUTRIDER_FULL === '1' ? TRIALS : TRIALS.filter((_, i) => (i + (i >> 1) + index) % 2 === 0);

describe.each(ENSEMBLES.map((system, i) => ({ system, id: system.id, trials: trialsOf(i) })))(
  '$id',
  { timeout: 900_000 },
  ({ system, trials }) => {
    it.each(trials)(`follows r: three tokens, ${RUNS} seeds, %j`, async (trial) => {
      const { totalVariation, noise } = await samplingDistance(system, RUNS, trial);
      expect(totalVariation).toBeLessThan(MARGIN * noise);
    });
  },
);
