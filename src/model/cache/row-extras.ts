// What some cursors keep of each row beside keys and values: what it is grounded on, its hidden state. A chunk of its
// own, which only caches with `rollout` or `pool` load.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import { moveRows } from '../../kernels/cache/kept-rows.ts';
import type { Sizes } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import type { CacheOptions } from './kv-cache.ts';
import { Pool } from './pooled-states.ts';
import { RolloutState } from './rollout-state.ts';

export class RowExtras {
  readonly rolloutState: RolloutState | null;
  readonly pool: Pool | null;

  constructor(gpu: Gpu, arena: Arena, sizes: Sizes, { rollout, pool }: CacheOptions, slots: number) {
    this.rolloutState = rollout ? new RolloutState(arena, rollout, sizes, slots) : null;
    this.pool = pool ? new Pool(gpu, arena, slots, sizes.hidden) : null;
  }

  /** They move as keys and values do (kernels/cache/compact.ts). */
  recordMoves(plan: Plan, moves: Tensor, count: number): void {
    for (const store of [this.rolloutState?.tensor, this.pool?.tensor])
      if (store) moveRows(plan, { store, moves }, { count, width: store.shape.at(-1) as number });
  }

  async ready(): Promise<void> {
    await this.pool?.ready();
  }

  free(): void {
    this.pool?.free();
  }
}
