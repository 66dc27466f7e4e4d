// The left-to-right part of a DSpark draft: each row's logits are corrected by the token that was drawn before it. The
// tokens stay on the device, so a whole walk is recorded at once, four dispatches a row for the plain head.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import { packRows, ROW_WORDS } from '../../kernels/cache/rows.ts';
import { DRAFT_LIMIT, draftLimit, LIMIT_RULES, MOST_LIMITED } from '../../kernels/markov/draft-limit.ts';
import { addRow, markovGate, markovInput, markovRecur, NO_PART } from '../../kernels/markov/markov-heads.ts';
import { embed } from '../../kernels/matmul/embed.ts';
import { type Matrix, matmul } from '../../kernels/matmul/matmul.ts';
import { spreadLogits } from '../../kernels/sampling/spread-logits.ts';
import type { MarkovHeads } from '../architecture.ts';
import { type Arena, rowsOf } from '../arena.ts';
import { type Network, outputsOf } from '../forward/interpreter.ts';
import { unpad } from '../forward/pass.ts';
import type { DraftLimit } from '../interface.ts';
import { type NamedToken, tokenRingOf } from '../sampling/token-ring.ts';

interface WalkTensors {
  /** The row that names the token before. */
  readonly token: Tensor;
  readonly embedded: Tensor;
  readonly state: Tensor;
  /** Input of the gate or of the joint projection, what that gives, and what goes into the last matrix. */
  readonly joined: Tensor;
  readonly gates: Tensor;
  readonly gated: Tensor;
  readonly bias: Tensor;
  /** Input of the confidence head and what it gives, for all rows. */
  readonly judged: Tensor;
  readonly confidence: Tensor;
  /** By what rule drafts are verified, and how many nodes that leaves. */
  readonly rule: Tensor;
  readonly limit: Tensor;
}

const need = <T>(weight: T | undefined): T => {
  if (weight === undefined) throw new Error('a Markov head without its weights');
  return weight;
};

const ROW = { position: 0, slot: 0, prefix: 0, first: 0, start: 0, end: 0, base: 0 } as const;

export class MarkovWalk {
  readonly #gpu: Gpu;
  readonly #network: Network;
  readonly #heads: MarkovHeads;
  readonly #tensors: WalkTensors;
  /** By row of the block: the embedding of the token before, and the correction that follows from it. */
  readonly #corrections: readonly Plan[];
  /** By row: its part of the confidence head's input. */
  readonly #judging: readonly Plan[];
  readonly #confidence: Plan;
  readonly #limit: Plan;

  constructor(network: Network, arena: Arena, heads: MarkovHeads) {
    const { gpu, architecture } = network;
    this.#gpu = gpu;
    this.#network = network;
    this.#heads = heads;
    const { hidden, vocabulary } = architecture.sizes;
    const rank = heads.markov?.rank ?? 1;
    const row = (width: number, label: string): Tensor => arena.activation(1, width, label);
    this.#tensors = {
      token: arena.storage(ROW_WORDS * 4, 'token before'),
      embedded: row(rank, 'markov embedding'),
      state: row(rank, 'markov state'),
      joined: row(hidden + 2 * rank, 'markov input'),
      gates: row(3 * rank, 'markov gates'),
      gated: row(rank, 'markov gated'),
      bias: row(vocabulary, 'markov bias'),
      judged: arena.activation(MOST_ROWS, hidden + rank, 'confidence input'),
      confidence: arena.activation(MOST_ROWS, 1, 'confidence'),
      rule: arena.storage(DRAFT_LIMIT.words * 4, 'limit by'),
      limit: arena.storage(4, 'limit'),
    };
    const plans = (record: (plan: Plan, row: number) => void): Plan[] =>
      Array.from({ length: MOST_ROWS }, (_, at) => {
        const plan = new Plan(gpu);
        record(plan, at);
        return plan;
      });
    this.#corrections = heads.markov ? plans((plan, at) => this.#recordCorrection(plan, at)) : [];
    this.#judging = heads.confidence ? plans((plan, at) => this.#recordJudged(plan, at)) : [];
    this.#confidence = new Plan(gpu);
    this.#limit = new Plan(gpu);
    if (heads.confidence) {
      this.#recordConfidence(this.#confidence);
      const { rule: job, confidence, limit } = this.#tensors;
      draftLimit(this.#limit, { job, confidence, limit }, { stride: confidence.shape.at(-1) as number });
    }
  }

  async ready(): Promise<void> {
    await Promise.all(this.#plans.map((plan) => plan.ready()));
  }

  /** Before the first row of a block. */
  begin(): void {
    if (this.#heads.markov?.kind !== 'rnn') return;
    const { state } = this.#tensors;
    this.#gpu.submission.upload(state, new Float32Array(state.bytes / 4));
  }

  /** Corrects the logits of a row, by the token before the one that it drafts. */
  correct(row: number, before: NamedToken): void {
    const plan = this.#corrections[row];
    if (!plan) return;
    const rows = [{ ...ROW, ...before, maskLow: 0, maskHigh: 0, chunkBoundary: 0, alive: 1 }];
    this.#gpu.submission.upload(this.#tensors.token, packRows(rows, 1));
    this.#gpu.submission.run(plan, { keys: 0 });
  }

  /** Keeps what the confidence head reads of this row; after `correct`. */
  judge(row: number): void {
    const plan = this.#judging[row];
    if (plan) this.#gpu.submission.run(plan, { keys: 0 });
  }

  /** What the confidence head says of rows [first, first + count), before the sigmoid. A submit and a readback. */
  async readConfidence(first: number, count: number): Promise<Float32Array> {
    const { submission } = this.#gpu;
    submission.run(this.#confidence, { keys: 0 });
    const data = submission.read(rowsOf(this.#tensors.confidence, count, first));
    this.#gpu.flush();
    return unpad(await data, count, 1);
  }

  /** Leaves how many nodes of a block are verified, the anchor counted; after the last `judge`. */
  limit(
    by: DraftLimit,
    { first, count, divisors }: { first: number; count: number; divisors: readonly number[] | null },
  ): Tensor {
    const { submission } = this.#gpu;
    const { rule, limit } = this.#tensors;
    const [threshold, costs] = by.rule === 'schedule' ? [0, by.costs] : [by.threshold, []];
    const job = {
      rule: LIMIT_RULES.indexOf(by.rule),
      first,
      count,
      threshold,
      divisors: Array.from({ length: MOST_LIMITED }, (_, i) => divisors?.[i] ?? 1),
      costs: Array.from({ length: MOST_LIMITED + 1 }, (_, i) => costs[i] ?? 1),
    };
    submission.run(this.#confidence, { keys: 0 });
    submission.upload(rule, DRAFT_LIMIT.pack([job]));
    submission.run(this.#limit, { keys: 0 });
    return limit;
  }

  free(): void {
    for (const plan of this.#plans) plan.destroy();
  }

  get #plans(): readonly Plan[] {
    return [...this.#corrections, ...this.#judging, this.#confidence, this.#limit];
  }

  #recordCorrection(plan: Plan, row: number): void {
    const { gpu, architecture, weights, scratch, tuning, reduced } = this.#network;
    const { token, embedded, gated, bias } = this.#tensors;
    const { from, to } = weights.markov;
    embed(plan, { rows: token, tokenRing: tokenRingOf(gpu).tensor, matrix: need(from), output: embedded }, { rows: 1 });
    const plain = this.#heads.markov?.kind === 'vanilla';
    if (!plain) this.#recordGates(plan, row);
    const input = plain ? embedded : gated;
    matmul(plan, { input, matrix: need(to), output: bias }, { rows: 1, epilogue: 'store' }, tuning);
    const { logits, scores } = scratch;
    const [partStride, stride] = [logits, scores].map(({ shape }) => shape.at(-1)) as [number, number];
    addRow(plan, { bias, rows: logits }, { row, columns: architecture.sizes.vocabulary, stride: partStride });
    if (!reduced) return;
    const uniforms = { first: row, rows: 1, vocabulary: outputsOf(this.#network), partStride, stride };
    spreadLogits(plan, { part: logits, index: reduced.index, logits: scores }, uniforms);
  }

  /** What a gated or a recurrent head makes of the hidden state and the embedding. */
  #recordGates(plan: Plan, row: number): void {
    const { weights, tuning } = this.#network;
    const { hidden } = this.#network.architecture.sizes;
    const { kind, rank } = this.#heads.markov as NonNullable<MarkovHeads['markov']>;
    const { embedded, state, joined, gates, gated } = this.#tensors;
    const recurrent = kind === 'rnn';
    const at = recurrent
      ? { stateAt: 0, embeddedAt: rank, hiddenAt: 2 * rank, columns: hidden + 2 * rank }
      : { hiddenAt: 0, embeddedAt: hidden, stateAt: NO_PART, columns: hidden + rank };
    this.#recordInput(plan, { row, to: 0, ...at }, joined);
    const matrix: Matrix = need(weights.markov.gate);
    matmul(
      plan,
      { input: joined, matrix, bias: need(weights.markov.gateBias), output: gates },
      { rows: 1, epilogue: 'store' },
      tuning,
    );
    if (recurrent) markovRecur(plan, { joint: gates, state, output: gated }, { rank });
    else markovGate(plan, { gates, embedded, output: gated }, { rank });
  }

  #recordInput(
    plan: Plan,
    place: Readonly<Record<'row' | 'to' | 'hiddenAt' | 'embeddedAt' | 'stateAt' | 'columns', number>>,
    output: Tensor,
  ): void {
    const { embedded, state } = this.#tensors;
    const { scratch, architecture } = this.#network;
    const { hidden } = architecture.sizes;
    const rank = this.#heads.markov?.rank ?? 0;
    markovInput(plan, { hidden: scratch.normed, embedded, state, output }, { ...place, hidden, rank });
  }

  #recordJudged(plan: Plan, row: number): void {
    const { hidden } = this.#network.architecture.sizes;
    const withToken = this.#heads.confidence === 'hidden and token';
    const columns = hidden + (withToken ? (this.#heads.markov?.rank ?? 0) : 0);
    const embeddedAt = withToken ? hidden : NO_PART;
    this.#recordInput(plan, { row, to: row, hiddenAt: 0, embeddedAt, stateAt: NO_PART, columns }, this.#tensors.judged);
  }

  #recordConfidence(plan: Plan): void {
    const { weights, tuning } = this.#network;
    const { judged: input, confidence: output } = this.#tensors;
    const matrix = need(weights.markov.confidence);
    const bias = need(weights.markov.confidenceBias);
    matmul(plan, { input, matrix, bias, output }, { rows: MOST_ROWS, epilogue: 'store' }, tuning);
  }
}
