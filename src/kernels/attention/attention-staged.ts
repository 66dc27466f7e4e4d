// Attention for software adapters: scores, softmax and output, three dispatches without a barrier. Loads cost most
// there, so (row, head) pairs of one kv head share them: four pairs, or up to twelve where the lanes of a subgroup hand
// each other what they loaded. Passes with a chunk boundary past its chunk's edge have pipelines of their own
// (`branched`): as a question at run time it cost lavapipe a tenth of a plain pass's scores.

import outputWgsl from '../../../shaders/attention/attention-output.wgsl?raw';
import outputShuffleWgsl from '../../../shaders/attention/attention-output-shuffle.wgsl?raw';
import scoresWgsl from '../../../shaders/attention/attention-scores.wgsl?raw';
import scoresShuffleWgsl from '../../../shaders/attention/attention-scores-shuffle.wgsl?raw';
import softmaxWgsl from '../../../shaders/attention/attention-softmax.wgsl?raw';
import { defineKernel, type Grid, type Live } from '../../gpu/kernel.ts';
import { type Attention, CHUNK, pairVectorsOf, type Shape, scoring } from './attention-shape.ts';

/** Pair vectors of the largest tile. */
const MOST_VECTORS = 3;

interface Tuning {
  readonly branched: number;
  readonly pairVectors: number;
}

/** A grid of so many chunks and tiles, for the pass that is run: one of the two pipelines of a stage is idle. */
const gridOf = (chunks: number, tiles: number, { keyValueHeads }: Shape, { branched }: Tuning, live: Live): Grid =>
  (branched === 1) === (live.branched ?? false) ? [chunks, keyValueHeads, tiles] : [0];

const tilesOf = (shape: Shape, { pairVectors }: Tuning): number => Math.ceil(pairVectorsOf(shape) / pairVectors);

const scoresKernel = (name: string, wgsl: string) =>
  defineKernel({
    name,
    wgsl,
    bindings: { query: 'read', keys: 'read', rows: 'read', scratch: 'write' },
    uniforms: {
      rows: 'u32',
      heads: 'u32',
      keyValueHeads: 'u32',
      headDim: 'u32',
      capacity: 'u32',
      ring: 'u32',
      scale: 'f32',
      softCap: 'f32',
    },
    tuning: { stored: 0 as number, capped: 0 as number, branched: 0 as number, pairVectors: 1 as number },
    grid: (shape, tuning, live) => gridOf(Math.ceil(live.keys / CHUNK), tilesOf(shape, tuning), shape, tuning, live),
  });

export const attentionScores = scoresKernel('attention-scores', scoresWgsl);
export const attentionScoresShuffle = scoresKernel('attention-scores-shuffle', scoresShuffleWgsl);

export const attentionSoftmax = defineKernel({
  name: 'attention-softmax',
  wgsl: softmaxWgsl,
  bindings: { rows: 'read', scratch: 'update' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', capacity: 'u32' },
  tuning: { branched: 0 as number, pairVectors: 1 as number },
  grid: (shape, tuning, live) => gridOf(Math.ceil(live.keys / CHUNK / 8), pairVectorsOf(shape), shape, tuning, live),
});

const outputKernel = (name: string, wgsl: string) =>
  defineKernel({
    name,
    wgsl,
    bindings: { values: 'read', rows: 'read', scratch: 'read', output: 'write' },
    uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32', ring: 'u32' },
    tuning: { stored: 0 as number, branched: 0 as number, pairVectors: 1 as number },
    grid: (shape, tuning, live) => gridOf(Math.ceil(shape.headDim / 32), tilesOf(shape, tuning), shape, tuning, live),
  });

export const attentionOutput = outputKernel('attention-output', outputWgsl);
export const attentionOutputShuffle = outputKernel('attention-output-shuffle', outputShuffleWgsl);

const PLAIN = { scores: attentionScores, output: attentionOutput };
const SHUFFLE = { scores: attentionScoresShuffle, output: attentionOutputShuffle };

/** Both pipelines of each stage; `stages` and `pairVectors` are those of a pass that is not branched. */
const record =
  (stages: typeof PLAIN, vectorsOf: (shape: Shape) => number): Attention =>
  (plan, { query, keys, values, rows, scratch, output }, shape) => {
    const { stored } = shape;
    const { uniforms, tuning } = scoring(shape);
    for (const [own, branched, pairVectors] of [
      [stages, 0, vectorsOf(shape)],
      [PLAIN, 1, 1],
    ] as const) {
      own.scores(plan, { query, keys, rows, scratch }, { ...shape, ...uniforms }, { ...tuning, branched, pairVectors });
      attentionSoftmax(plan, { rows, scratch }, shape, { branched, pairVectors });
      own.output(plan, { values, rows, scratch, output }, shape, { stored, branched, pairVectors });
    }
  };

export const stagedAttention = record(PLAIN, () => 1);

/** As few tiles as there may be, and of these the smallest. The pass of a prompt has those of sixteen rows. */
export const shuffleAttention = record(SHUFFLE, (shape) => {
  const pairVectors = pairVectorsOf({ ...shape, rows: Math.min(shape.rows, 16) });
  return Math.ceil(pairVectors / Math.ceil(pairVectors / MOST_VECTORS));
});
