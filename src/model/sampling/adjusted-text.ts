// The rules that change a run's logits, on the device for one cursor: what stays the same all the run is there from the
// start, and each pass brings what its text has gained. A run without rules makes none of this.
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { Plan } from '../../gpu/plan.ts';
import {
  ADJUST_JOB,
  adjustLogits,
  isPenalised,
  longestBan,
  packRules,
  TOKEN_COUNT,
} from '../../kernels/sampling/adjust-logits.ts';
import { sampleTuning } from '../../kernels/sampling/sample.ts';
import { type DraftNode, packNodes } from '../../kernels/verify/verdict.ts';
import { Arena } from '../arena.ts';
import type { TextRules } from '../interface.ts';
import { MOST_NODES } from '../limits.ts';
import { tokenRingOf } from './token-ring.ts';

/** Rows that a dispatch adjusts at most. */
const ROWS = [1, 16, MOST_NODES] as const;
/** Entries of the counts that are uploaded together. */
const BLOCK = 256;

/** What a pass has left: its rows are those of these nodes, from `first` on. */
export interface AdjustedRows {
  readonly rows: number;
  readonly first: number;
  /** Absolute position of node 0. */
  readonly base: number;
  /** Null: a kernel has written them where verification reads them. */
  readonly nodes: readonly DraftNode[] | null;
}

export interface AdjustedTextParts {
  readonly rules: TextRules;
  /** Tokens that the text can hold, or the vocabulary: the smaller of both. */
  readonly room: number;
  /** Where verification reads a draft's nodes. */
  readonly nodes: Tensor;
  /** Every tensor that passes of this cursor leave logits in. */
  readonly logits: readonly Tensor[];
}

export class AdjustedText {
  readonly #gpu: Gpu;
  readonly #rules: TextRules;
  readonly #arena: Arena;
  readonly #nodes: Tensor;
  readonly #tensors: { readonly job: Tensor; readonly counts: Tensor; readonly texts: Tensor };
  readonly #plans = new Map<GPUBuffer, readonly Plan[]>();
  /** As on the device, and the entry of each token. */
  readonly #counts: Uint32Array<ArrayBuffer>;
  readonly #entries = new Map<number, number>();
  /** Blocks of the counts that the device does not have yet. */
  readonly #changed = new Set<number>();
  /** Tokens of the text that have been counted. */
  #counted = 0;

  private constructor(gpu: Gpu, { rules, room, nodes, logits }: AdjustedTextParts) {
    this.#gpu = gpu;
    this.#rules = rules;
    this.#nodes = nodes;
    this.#arena = new Arena(gpu);
    this.#counts = new Uint32Array(Math.ceil(room / BLOCK) * BLOCK * TOKEN_COUNT.words);
    const packed = packRules(rules.rules);
    const filled = (data: Uint32Array<ArrayBuffer>, label: string): Tensor => {
      const tensor = this.#arena.storage(Math.max(16, data.byteLength), label);
      gpu.device.queue.writeBuffer(tensor.buffer, tensor.offset, data);
      return tensor;
    };
    const biases = filled(packed.biases, 'biases');
    const bans = filled(packed.bans, 'bans');
    const texts = filled(packed.texts, 'texts of bans');
    this.#count();
    this.#changed.clear();
    const counts = filled(this.#counts, 'counts of tokens');
    const job = this.#arena.storage(ADJUST_JOB.words * 4, 'rules of logits');
    this.#tensors = { job, counts, texts };
    const tokenRing = tokenRingOf(gpu).tensor;
    for (const tensor of logits) {
      const plans = ROWS.map((rows) => {
        const plan = new Plan(gpu);
        const tensors = { ...this.#tensors, nodes, tokenRing, biases, bans, logits: tensor };
        adjustLogits(plan, tensors, { rows, stride: tensor.shape.at(-1) as number }, sampleTuning(gpu));
        return plan;
      });
      this.#plans.set(tensor.buffer, plans);
    }
  }

  static async open(gpu: Gpu, parts: AdjustedTextParts): Promise<AdjustedText> {
    const text = await gpu.allocating('the rules of logits', () => new AdjustedText(gpu, parts));
    try {
      await Promise.all([...text.#plans.values()].flat().map((plan) => plan.ready()));
    } catch (error) {
      text[Symbol.dispose]();
      throw error;
    }
    return text;
  }

  /** Committed tokens: a row at a later position follows drafts. */
  get length(): number {
    return this.#rules.tokens().length;
  }

  /** Records the change of the newest pass's logits into the open submission. */
  adjust(logits: Tensor, { rows, first, base, nodes }: AdjustedRows): void {
    const plan = this.#plans.get(logits.buffer)?.[ROWS.findIndex((most) => most >= rows)];
    if (!plan) throw new Error(`rules for ${rows} rows of logits that were not prepared`);
    const { submission } = this.#gpu;
    const { rules, prompt } = this.#rules;
    const text = this.#rules.tokens();
    this.#count();
    for (const block of this.#changed) {
      const words = BLOCK * TOKEN_COUNT.words;
      const { counts } = this.#tensors;
      const part = { ...counts, offset: counts.offset + block * words * 4, bytes: words * 4 };
      submission.upload(part, this.#counts.subarray(block * words, (block + 1) * words));
    }
    this.#changed.clear();
    const tail = text.slice(text.length - Math.min(text.length, longestBan(rules)));
    if (tail.length > 0) submission.upload(this.#tensors.texts, Uint32Array.from(tail));
    if (nodes) submission.upload(this.#nodes, packNodes(nodes));
    const job = {
      rows,
      first,
      base,
      length: text.length,
      generated: text.length - prompt,
      tail: tail.length,
      counted: isPenalised(rules) ? this.#entries.size : 0,
      biases: rules.biases.length,
      bans: rules.bans.length,
      penalised: Number(isPenalised(rules)),
      repetition: rules.repetition,
      presence: rules.presence,
      frequency: rules.frequency,
    };
    submission.upload(this.#tensors.job, ADJUST_JOB.pack([job]));
    submission.run(plan, { keys: 0 });
  }

  /** What was recorded must have been submitted. */
  [Symbol.dispose](): void {
    for (const plan of [...this.#plans.values()].flat()) plan.destroy();
    this.#plans.clear();
    this.#arena.free();
  }

  /** Counts what the text has gained. */
  #count(): void {
    const { rules, prompt } = this.#rules;
    const text = this.#rules.tokens();
    if (!isPenalised(rules)) return;
    for (; this.#counted < text.length; this.#counted++) {
      const token = text[this.#counted] as number;
      const entry = this.#entries.get(token) ?? this.#entries.size;
      this.#entries.set(token, entry);
      const at = entry * TOKEN_COUNT.words;
      this.#counts[at] = token;
      this.#counts[at + 1] = (this.#counts[at + 1] as number) + Number(this.#counted >= prompt);
      this.#changed.add(Math.floor(entry / BLOCK));
    }
  }
}
