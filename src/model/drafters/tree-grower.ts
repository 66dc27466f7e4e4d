// Grows trees of drafts on the device (kernels/tree/grow-tree.ts): the plans that run
// between the passes of an EAGLE-3 drafter, one set for each level.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { gatherRows } from '../../kernels/cache/gather-rows.ts';
import { BUCKETS, type Bucket } from '../../kernels/matmul/matmul.ts';
import { sampleTuning } from '../../kernels/sampling/sample.ts';
import {
  BEAM_BYTES,
  CANDIDATE_BYTES,
  MOST_WIDTH,
  packTask,
  SOURCE_BYTES,
  TASK_WORDS,
  type TreeTask,
  treeBeam,
  treeExpand,
  treeSelect,
} from '../../kernels/tree/grow-tree.ts';
import { NODE_WORDS } from '../../kernels/verify/verdict.ts';
import { type Arena, rowsOf } from '../arena.ts';
import type { Network } from '../forward/interpreter.ts';
import { MOST_NODES } from '../limits.ts';

/** The paper's trees have 7 or 8. */
export const MOST_LEVELS = 10;

/** By number of rows. */
type Sizes = ReadonlyMap<Bucket, Plan>;

interface Level {
  /** The candidates after the rows that were scored. */
  readonly expand: Sizes;
  /** The rows of the next pass. */
  readonly beam: Sizes;
}

export class TreeGrower {
  /** The tree that was grown last. */
  readonly nodes: Tensor;
  readonly #gpu: Gpu;
  readonly #task: Tensor;
  readonly #levels: readonly Level[];
  readonly #features: Sizes;
  readonly #select: Plan;

  constructor({ gpu, architecture, scratch }: Network, arena: Arena, ids: Tensor) {
    this.#gpu = gpu;
    const { vocabulary, hidden: width } = architecture.sizes;
    const { logits, stream, picked, everyIndex } = scratch;
    const rowTensor = scratch.rows[0] as Tensor;
    const task = arena.storage(TASK_WORDS * 4, 'tree task');
    const candidates = arena.storage(CANDIDATE_BYTES, 'candidates');
    const beam = arena.storage(BEAM_BYTES, 'beam');
    const sources = arena.storage(SOURCE_BYTES, 'sources');
    this.#task = task;
    this.nodes = arena.storage(MOST_NODES * NODE_WORDS * 4, 'drafted tree');
    const sizes = (record: (plan: Plan, rows: Bucket) => void): Sizes =>
      new Map(
        BUCKETS.map((bucket) => {
          const plan = new Plan(gpu);
          record(plan, bucket);
          return [bucket, plan];
        }),
      );
    const stride = logits.shape.at(-1) as number;
    this.#levels = Array.from({ length: MOST_LEVELS }, (_, i) => ({
      expand: sizes((plan, rows) =>
        treeExpand(
          plan,
          { task, logits, ids, beam, candidates },
          { level: i + 1, rows, vocabulary, stride },
          sampleTuning(gpu),
        ),
      ),
      beam: sizes((plan, rows) =>
        treeBeam(plan, { task, candidates, beam, rows: rowTensor, sources }, { level: i + 1, rows }),
      ),
    }));
    // Features of the next pass, from where the last one left them; a kernel cannot move rows within one buffer.
    this.#features = sizes((plan, rows) => {
      gatherRows(plan, { input: stream, indices: sources, output: rowsOf(picked, rows) }, { rows, width });
      gatherRows(plan, { input: picked, indices: everyIndex, output: rowsOf(stream, rows) }, { rows, width });
    });
    this.#select = new Plan(gpu);
    treeSelect(this.#select, { task, candidates, nodes: this.nodes }, {});
  }

  async ready(): Promise<void> {
    await Promise.all(this.#plans.map((plan) => plan.ready()));
  }

  begin(task: TreeTask): void {
    this.#gpu.submission.upload(this.#task, packTask(task));
  }

  /** Candidates after the rows that the pass of this level has scored. */
  expand(level: number, rows: Bucket): void {
    this.#gpu.submission.run(this.#levels[level - 1]?.expand.get(rows) as Plan, { keys: 0 });
  }

  /** Rows and features of the pass after the best of this level. */
  advance(level: number, rows: Bucket): void {
    this.#gpu.submission.run(this.#levels[level - 1]?.beam.get(rows) as Plan, { keys: 0 });
    this.#gpu.submission.run(this.#features.get(rows) as Plan, { keys: 0 });
  }

  select(): void {
    this.#gpu.submission.run(this.#select, { keys: 0 });
  }

  free(): void {
    for (const plan of this.#plans) plan.destroy();
  }

  get #plans(): Plan[] {
    const levels = this.#levels.flatMap(({ expand, beam }) => [...expand.values(), ...beam.values()]);
    return [...levels, ...this.#features.values(), this.#select];
  }
}

/** Beams that a level may have, and drafts that a tree may keep. */
export const MOST_TREE = { width: MOST_WIDTH, nodes: MOST_NODES - 1 } as const;
