// The states of a cache's recurrent layers: one for the cursor and one for each of its forks. A pass leaves a state
// where the committed rows end, because what the state takes of a row stays at the row's slot: the next pass of the same
// sequence applies the rows that were kept since, and then no longer needs to know which were dropped. For a rewind
// past that, two earlier states are kept; from the newer one that is early enough, or from nothing, the slots give the
// state again. Either way a state is made of the same rows in the same order, so it has the same bits.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { MOVE, packMoves } from '../../kernels/cache/compact.ts';
import { moveRows } from '../../kernels/cache/kept-rows.ts';
import { STATE_SPAN } from '../../kernels/delta-net/delta-rule.ts';
import { type DeltaShape, stateWords } from '../../kernels/delta-net/delta-shape.ts';
import type { Architecture } from '../architecture.ts';
import type { Arena } from '../arena.ts';
import { lengthOf, type Past } from './visibility.ts';

/** Rows between two states that are kept, at least. */
const INTERVAL = 32;
const KEPT = 2;

interface Sequence {
  /** Rows that its state has taken. */
  applied: number;
  /** The kept states, oldest first. */
  kept: { readonly length: number; readonly index: number }[];
}

/** States of a layer: each sequence's, those that are kept of it, and the working state of a pass. */
const statesOf = (forks: number): number => (1 + forks) * (1 + KEPT) + 1;

/** Bytes of the states of one layer. */
export const layerStateBytes = (shape: DeltaShape, forks: number): number => statesOf(forks) * stateWords(shape) * 4;

/** Bytes of the list of spans and of the list of moves; 0 in a model without recurrent layers. */
export const stateScratch = ({ blocks }: Architecture, forks: number) => {
  const recurrent = blocks.some(({ mixer }) => mixer.kind === 'delta-net');
  const bytes = (words: number): number => (recurrent ? Math.ceil(((1 + forks) * words) / 4) * 16 : 0);
  return { spans: bytes(STATE_SPAN.words), moves: bytes(MOVE.words) } as const;
};

export class RecurrentStates {
  /** For delta-rule.ts: what each sequence's state lacks. */
  readonly spans: Tensor;
  readonly count: number;
  readonly #gpu: Gpu;
  readonly #sequences: readonly Sequence[];
  readonly #moves: Tensor;
  /** Copies states, in every layer. */
  readonly #copying: Plan;

  constructor(gpu: Gpu, arena: Arena, architecture: Architecture, forks: number) {
    this.#gpu = gpu;
    this.count = statesOf(forks);
    const { spans, moves } = stateScratch(architecture, forks);
    this.spans = arena.storage(spans, 'spans');
    this.#moves = arena.storage(moves, 'moves of states');
    this.#copying = new Plan(gpu);
    this.#sequences = Array.from({ length: 1 + forks }, () => ({ applied: 0, kept: [] }));
  }

  /** The states of one layer more. */
  add(states: Tensor, shape: DeltaShape): void {
    const tensors = { store: states, moves: this.#moves };
    moveRows(this.#copying, tensors, { count: this.#sequences.length, width: stateWords(shape) });
  }

  async ready(): Promise<void> {
    await this.#copying.ready();
  }

  free(): void {
    this.#copying.destroy();
  }

  /** Before a pass of these sequences: it applies what their states lack. */
  advance(pasts: readonly Past[]): void {
    const spans = this.#still();
    for (const past of pasts) {
      this.#goBack(past);
      const { prefix, start, state = 0 } = past;
      const sequence = this.#sequence(state);
      const newest = sequence.kept.at(-1)?.length ?? 0;
      if (sequence.applied - newest >= INTERVAL) this.#keep(state);
      const end = lengthOf(past);
      spans[state] = { next: sequence.applied, end, prefix, start, begins: sequence.applied === 0 ? 1 : 0 };
      sequence.applied = end;
    }
    this.#gpu.submission.upload(this.spans, STATE_SPAN.pack(spans, spans.length));
  }

  /** Before the further passes of a tree of more than 16 nodes: nothing is left to apply. */
  hold(): void {
    const spans = this.#still();
    this.#gpu.submission.upload(this.spans, STATE_SPAN.pack(spans, spans.length));
  }

  /** The forks begin with the state of the cursor that they are made of. */
  fork(parent: Past, forks: readonly number[]): void {
    this.#goBack(parent);
    this.#take(parent.state ?? 0, forks);
  }

  /** The cursor goes on with a fork's state. */
  adopt(fork: Past): void {
    this.#goBack(fork);
    const root = this.#sequence(0);
    const { kept } = root;
    this.#take(fork.state ?? 0, [0]);
    root.kept = kept;
  }

  /** Where rows that a state has taken were dropped: an earlier state, or none. */
  #goBack(past: Past): void {
    const { state = 0 } = past;
    const sequence = this.#sequence(state);
    const length = lengthOf(past);
    sequence.kept = sequence.kept.filter((kept) => kept.length <= length);
    if (sequence.applied <= length) return;
    const newest = sequence.kept.at(-1);
    if (newest) this.#copy(newest.index, [state]);
    sequence.applied = newest?.length ?? 0;
  }

  /** Keeps a sequence's state as it is, in place of the oldest one. */
  #keep(state: number): void {
    const sequence = this.#sequence(state);
    const first = this.#sequences.length + state * KEPT;
    const used = sequence.kept.slice(1 - KEPT);
    const index = Array.from({ length: KEPT }, (_, i) => first + i).find((i) => used.every((kept) => kept.index !== i));
    this.#copy(state, [index as number]);
    sequence.kept = [...used, { length: sequence.applied, index: index as number }];
  }

  #take(from: number, to: readonly number[]): void {
    const { applied } = this.#sequence(from);
    for (const state of to) Object.assign(this.#sequence(state), { applied, kept: [] });
    this.#copy(from, to);
  }

  #copy(from: number, to: readonly number[]): void {
    const moves = to.map((state) => ({ from, to: state }));
    this.#gpu.submission.upload(this.#moves, packMoves(moves, this.#sequences.length));
    this.#gpu.submission.run(this.#copying, { keys: 0 });
  }

  #still() {
    return this.#sequences.map(({ applied }) => ({ next: applied, end: applied, prefix: 0, start: 0, begins: 0 }));
  }

  #sequence(state: number): Sequence {
    const sequence = this.#sequences[state];
    if (!sequence) throw new Error(`state ${state} of ${this.#sequences.length}`);
    return sequence;
  }
}
