// The rollout state of a cursor's rows, from which their grounding follows: two numbers for each slot and layer that is
// rolled out. The rollout kernel writes them after the layer's attention (kernels/attention/rollout.ts).

import { refuse } from '../../base/refuse.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { AttentionTuning } from '../../kernels/attention/attention.ts';
import type { AttentionShape } from '../../kernels/attention/attention-shape.ts';
import { MOST_HEADS, type RolloutTensors, rollout } from '../../kernels/attention/rollout.ts';
import { type Architecture, attentionLayers } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import type { Rollout } from '../interface.ts';

/** Floats of a slot and level. */
const PAIR = 2;

export class RolloutState {
  /** `[slot][levels][2]`. */
  readonly tensor: Tensor;
  /** Layers rolled out: the last ones that attend. */
  readonly levels: number;
  readonly #layers: readonly number[];
  readonly #variant: Rollout['variant'];
  readonly #skip: number;

  constructor(arena: Arena, { layers, variant, skip = 0 }: Rollout, architecture: Architecture, slots: number) {
    if (layers !== 'all' && !(Number.isInteger(layers) && layers > 0)) throw refuse(`a rollout over ${layers} layers`);
    if (!Number.isInteger(skip) || skip < 0) throw refuse(`a rollout that skips ${skip} positions`);
    const { sizes } = architecture;
    if (sizes.heads > MOST_HEADS)
      throw refuse(`a rollout over ${sizes.heads} heads; the most is ${MOST_HEADS}`, 'Take a smaller draft.');
    const attending = attentionLayers(architecture);
    this.#layers = layers === 'all' ? attending : attending.slice(-layers);
    this.levels = this.#layers.length;
    this.#variant = variant;
    this.#skip = skip;
    const width = PAIR * this.levels;
    this.tensor = { ...arena.storage(slots * width * 4, 'rollout'), shape: [slots, width] };
  }

  /** The index of a row's grounding among the floats of its slot. */
  get grounding(): number {
    return PAIR * this.levels - 1;
  }

  /** After the attention of a layer, with the very same arguments. */
  record(
    plan: Plan,
    tensors: Omit<RolloutTensors, 'rolloutState'>,
    shape: AttentionShape,
    tuning: AttentionTuning,
    layer: number,
  ) {
    const level = this.#layers.indexOf(layer);
    if (level < 0) return;
    const { query, keys, rows, scratch } = tensors;
    rollout(
      plan,
      { query, keys, rows, scratch, rolloutState: this.tensor },
      { ...shape, level, levels: this.levels, skip: this.#skip },
      tuning,
      this.#variant,
    );
  }
}
