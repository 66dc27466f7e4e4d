// Attention for adapters that are CPUs in disguise: scores, softmax and output, three dispatches without a barrier. Loads
// cost most there, so (row, head) pairs of one kv head share them: four, or up to twelve where lanes can hand each other what
// they loaded. Rows with a `cut` have kernels of their own: asked at run time it costs lavapipe a tenth of a plain pass's
// scores.

import output from '../../../shaders/attention/attention-output.wgsl?raw';
import shuffleOutput from '../../../shaders/attention/attention-output-shuffle.wgsl?raw';
import scores from '../../../shaders/attention/attention-scores.wgsl?raw';
import shuffleScores from '../../../shaders/attention/attention-scores-shuffle.wgsl?raw';
import softmax from '../../../shaders/attention/attention-softmax.wgsl?raw';
import keyed from '../../../shaders/include/attention-keys.wgsl?raw';
import tile from '../../../shaders/include/attention-tile.wgsl?raw';
import visibility from '../../../shaders/include/rows.wgsl?raw';
import { defineKernel, type Grid, type Live } from '../../gpu/kernel.ts';
import { type Attention, CHUNK, quartetsOf, type Shape } from './attention-shape.ts';

interface Source {
  /** Of pairs, in a tile. */
  readonly quartets: number;
  readonly head: string;
  readonly scores: string;
  readonly output: string;
}

const stages = ({ quartets, ...own }: Source) => {
  const common = `${own.head}${visibility}const quartets = ${quartets}u;\n${tile}`;
  const tiles = (shape: Shape): number => Math.ceil(quartetsOf(shape) / quartets);
  /** The live pass picks one of the two. */
  const when = (branched: number, live: Live, ...grid: [number, number, number]): Grid =>
    (branched === 1) === (live.branched ?? false) ? grid : [0];
  return {
    scores: defineKernel({
      name: 'attention-scores',
      wgsl: common + keyed + own.scores,
      bindings: { query: 'read', keys: 'read', rows: 'read', scratch: 'write' },
      uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32', scale: 'f32' },
      tuning: { half: 0, branched: 0 as number },
      grid: (shape, { branched }, live) =>
        when(branched, live, Math.ceil(live.keys / CHUNK), shape.keyValueHeads, tiles(shape)),
    }),
    softmax: defineKernel({
      name: 'attention-softmax',
      wgsl: common + softmax,
      bindings: { rows: 'read', scratch: 'update' },
      uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', capacity: 'u32' },
      tuning: { branched: 0 as number },
      grid: (shape, { branched }, live) =>
        when(branched, live, Math.ceil(live.keys / CHUNK / 8), shape.keyValueHeads, quartetsOf(shape)),
    }),
    output: defineKernel({
      name: 'attention-output',
      wgsl: common + own.output,
      bindings: { values: 'read', rows: 'read', scratch: 'read', output: 'write' },
      uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32' },
      tuning: { half: 0, branched: 0 as number },
      grid: (shape, { branched }, live) =>
        when(branched, live, Math.ceil(shape.headDim / 32), shape.keyValueHeads, tiles(shape)),
    }),
  };
};

type Stages = ReturnType<typeof stages>;

export const laneStages = stages({ quartets: 1, head: '', scores, output });
export const shuffleStages = [1, 2, 3].map((quartets) =>
  stages({ quartets, head: 'enable subgroups;\n', scores: shuffleScores, output: shuffleOutput }),
);

const record =
  (plain: (shape: Shape) => Stages): Attention =>
  (plan, { query, keys, values, rows, scratch, output }, { half, ...shape }) => {
    const { headDim, ...rest } = shape;
    const scale = Math.LOG2E / Math.sqrt(headDim);
    for (const [branched, own] of [plain(shape), laneStages].entries()) {
      own.scores(plan, { query, keys, rows, scratch }, { ...shape, scale }, { half, branched });
      own.softmax(plan, { rows, scratch }, rest, { branched });
      own.output(plan, { values, rows, scratch, output }, shape, { half, branched });
    }
  };

export const lanesAttention = record(() => laneStages);

/** In as few tiles as there may be, and of these the smallest. */
export const shuffleAttention = record((shape) => {
  const quartets = quartetsOf(shape);
  const tiles = Math.ceil(quartets / shuffleStages.length);
  return shuffleStages[Math.ceil(quartets / tiles) - 1] as Stages;
});
