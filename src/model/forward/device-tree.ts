// Trees that a drafter grew on the device. Kernels write the target's rows for them, and the positions of the draws
// that verify them, so the host never waits to learn the tree.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { BUCKETS } from '../../kernels/matmul/matmul.ts';
import { treeDraws } from '../../kernels/tree/tree-draws.ts';
import { PLACE_WORDS, packPlace, treeRows } from '../../kernels/tree/tree-rows.ts';
import { NODE_WORDS } from '../../kernels/verify/verdict.ts';
import type { Arena } from '../arena.ts';
import { lengthOf, type Past } from '../cache/visibility.ts';
import type { DeviceTree } from '../interface.ts';
import { MOST_NODES } from '../limits.ts';

/** What `DeviceTree.device` is. */
export class GrownTree {
  /** As verdict.ts packs them. */
  readonly nodes: Tensor;
  /** Levels, the anchor's included: positions that the tree takes. */
  readonly levels: number;
  readonly #current: () => boolean;

  /** `current` is false when the drafter has grown another tree since. */
  constructor(nodes: Tensor, levels: number, current: () => boolean) {
    this.nodes = nodes;
    this.levels = levels;
    this.#current = current;
  }

  static of({ device }: DeviceTree): GrownTree | null {
    return device instanceof GrownTree && device.#current() ? device : null;
  }
}

export class DeviceTreeRows {
  readonly #gpu: Gpu;
  readonly #place: Tensor;
  readonly #nodes: Tensor;
  readonly #windows: readonly (number | null)[];
  /** By window. */
  readonly #rows: readonly ReadonlyMap<number, Plan>[];
  readonly #draws: Plan;

  constructor(
    gpu: Gpu,
    arena: Arena,
    {
      nodes,
      draws,
      rows,
      windows,
    }: { nodes: Tensor; draws: Tensor; rows: readonly Tensor[]; windows: readonly (number | null)[] },
  ) {
    this.#gpu = gpu;
    this.#windows = windows;
    this.#nodes = nodes;
    const place = arena.storage(PLACE_WORDS * 4, 'place');
    this.#place = place;
    this.#rows = rows.map(
      (output) =>
        new Map(
          BUCKETS.map((bucket) => {
            const plan = new Plan(gpu);
            treeRows(plan, { place, nodes, rows: output }, { rows: bucket });
            return [bucket, plan];
          }),
        ),
    );
    this.#draws = new Plan(gpu);
    treeDraws(this.#draws, { place, nodes, draws }, { nodes: MOST_NODES });
  }

  async ready(): Promise<void> {
    await Promise.all(this.#all.map((plan) => plan.ready()));
  }

  /** Copies the tree to where verification reads it. */
  load({ nodes }: GrownTree, count: number): void {
    this.#gpu.submission.copy({ ...nodes, bytes: count * NODE_WORDS * 4 }, this.#nodes);
  }

  /** The rows of nodes [first, first + count), for every window. */
  fill(past: Past, { first, count, bucket }: { first: number; count: number; bucket: number }): void {
    const { submission } = this.#gpu;
    const { prefix, start, own, state = 0 } = past;
    const place = { first, count, prefix, start, base: start + own, position: lengthOf(past), state };
    this.#windows.forEach((window, w) => {
      submission.upload(this.#place, packPlace({ ...place, window }));
      submission.run(this.#rows[w]?.get(bucket) as Plan, { keys: 0 });
    });
  }

  /** Gives the draws that were just uploaded, one for each node, the positions of their nodes. */
  placeDraws(): void {
    this.#gpu.submission.run(this.#draws, { keys: 0 });
  }

  free(): void {
    for (const plan of this.#all) plan.destroy();
  }

  get #all(): Plan[] {
    return [...this.#rows.flatMap((plans) => [...plans.values()]), this.#draws];
  }
}
