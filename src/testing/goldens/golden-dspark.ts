// A golden DSpark case (golden/README.md) compared with an adapter's results: logits before and after the correction,
// confidences, and whole runs of the system, with the same drafts, cuts and acceptance lengths.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type Cut, keptDrafts } from '../../decode/speculative/markov-drafter.ts';
import type { Gpu } from '../../gpu/device.ts';
import { DSparkDrafter } from '../../model/drafters/dspark-drafter.ts';
import type { Choice, LanguageModel, MarkovCursor } from '../../model/interface.ts';
import { loadDrafter } from '../../model/load/load-drafter.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { chain, GREEDY, goldenTensor, loadShared, openGolden, relativeError } from './golden.ts';
import { shared } from './shared.ts';

const TOLERANCE = 1e-3;
const TARGET = 'golden/qwen3-tiny-deep';

interface GoldenRun {
  readonly block_size: number;
  readonly cut: {
    readonly rule: Cut['rule'];
    readonly threshold?: number;
    readonly verify_cost?: readonly number[];
  };
  readonly tokens: readonly number[];
  readonly acceptance_lengths: readonly number[];
  readonly verified_drafts: readonly number[];
  readonly drafts: readonly (readonly number[])[];
  readonly confidences?: readonly (readonly number[])[];
}

interface Round {
  readonly block_ids: readonly number[];
  readonly drafts: readonly number[];
  readonly confidences: readonly number[];
  readonly committed?: readonly number[];
}

interface Rows {
  readonly config?: string;
  readonly round1: Round;
  readonly round2: Round;
  readonly block_small?: Round;
  readonly runs: readonly GoldenRun[];
}

interface DSparkCase extends Rows {
  readonly prefix: readonly number[];
  readonly anchor_first?: Rows;
  readonly bonus_anchor?: Rows;
}

const readCase = (name: string): DSparkCase => JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8'));

/** Makes the same drafter as GGUF, with the rows that a config says. */
type Repackaged = (name: string, config: string) => Promise<Uint8Array>;

/** Another form of the same drafter. */
interface Form {
  readonly repackaged?: Repackaged;
  /** The same tensors and config in another layout. */
  readonly changed?: (checkpoint: Checkpoint) => Checkpoint;
}

interface Given extends Form {
  readonly name: string;
  readonly config: string;
}

const load = async (
  gpu: Gpu,
  { name, config, repackaged, changed = (checkpoint) => checkpoint }: Given,
  target: LanguageModel,
): Promise<DSparkDrafter> => {
  const gguf = await repackaged?.(name, config);
  using checkpoint = await openGolden(name, gguf);
  const json = gguf ? checkpoint.config : JSON.parse(readFileSync(shared('golden', name, config), 'utf8'));
  const drafter = await loadDrafter(gpu, changed({ ...checkpoint, config: json }), target);
  if (!(drafter instanceof DSparkDrafter)) throw new Error(`${name} is ${drafter.kind}`);
  return drafter;
};

const cutOf = ({ rule, threshold = 0, verify_cost: costs = [] }: GoldenRun['cut']): Cut =>
  rule === 'schedule' ? { rule, costs } : rule === 'none' ? { rule } : { rule, threshold };

const closeTo = (actual: readonly number[], expected: readonly number[] | undefined): void => {
  expect(actual).toHaveLength(expected?.length ?? 0);
  for (const [i, value] of actual.entries()) expect(value).toBeCloseTo(expected?.[i] as number, 3);
};

const opened = async (target: LanguageModel, drafter: DSparkDrafter, prefix: readonly number[]) => {
  const cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers });
  const block = await drafter.open({ capacity: 128 });
  const last = await cursor.extend(prefix, {
    onPass: (pass) =>
      block.append(
        pass,
        Array.from({ length: pass.rows }, (_, i) => i),
      ),
  });
  return { cursor, block, last };
};

/** Greedy speculation; as the system does it, the block shrinks to the tokens still wanted. */
const checkRun = async (
  target: LanguageModel,
  drafter: DSparkDrafter,
  prefix: readonly number[],
  golden: GoldenRun,
): Promise<void> => {
  const { cursor, block, last } = await opened(target, drafter, prefix);
  using _ = cursor;
  using __ = block;
  const tokens = [((await last.draw(0, GREEDY).read())[0] as Choice).token];
  const seen = { lengths: [] as number[], drafts: [] as number[][], verified: [] as number[] };
  const cut = cutOf(golden.cut);
  const size = Math.min(golden.block_size, drafter.drafts);
  while (tokens.length < golden.tokens.length) {
    const left = golden.tokens.length - tokens.length;
    const anchor = tokens.at(-1) as number;
    const drafted = block.draft(anchor, Math.min(size, left), GREEDY, { confidence: drafter.confident });
    const confidences = await drafted.confidences();
    closeTo(confidences, golden.confidences?.[seen.lengths.length]);
    const kept = keptDrafts(confidences, cut);
    const all = drafted.tokens;
    // The drafts that were cut are named too, so that all of them are read: the verdict is for the path alone.
    const whole = await cursor.forward(chain([anchor, ...all])).verify(null, GREEDY);
    cursor.rewind(prefix.length + tokens.length - 1);
    // The same cut on the device.
    const tree = { ...chain([anchor, ...all]), ...(cut.rule !== 'none' && { limit: drafted.limit(cut) }) };
    const pass = cursor.forward(tree);
    const verdict = await pass.verify(null, GREEDY);
    expect(verdict.tokens).toEqual(whole.tokens.slice(0, kept + 1));
    const { path } = verdict;
    expect(path).toEqual(whole.path.slice(0, kept + 1));
    const committed = verdict.choices.map(({ token }) => token);
    block.append(pass, path);
    tokens.push(...committed.slice(0, left));
    seen.lengths.push(Math.min(committed.length, left));
    seen.drafts.push([...whole.tokens.slice(1)]);
    seen.verified.push(kept);
  }
  expect(tokens).toEqual(golden.tokens);
  expect(seen.lengths).toEqual(golden.acceptance_lengths);
  expect(seen.drafts).toEqual(golden.drafts);
  expect(seen.verified).toEqual(golden.verified_drafts);
};

interface CaseRows {
  readonly form: Form;
  readonly prefix: readonly number[];
  readonly suffix: string;
  readonly committed: readonly number[];
}

/** `suffix`: what the names of the files begin with after `_logits`. */
const checkRows = async (
  gpu: Gpu,
  name: string,
  rows: Rows,
  { prefix, suffix, committed, form }: CaseRows,
): Promise<void> => {
  using target = await loadShared(gpu, TARGET);
  using drafter = await load(gpu, { name, config: rows.config ?? 'config.json', ...form }, target);
  const { cursor, block } = await opened(target, drafter, prefix);
  using _ = cursor;
  using __ = block;
  const check = async (round: Round | undefined, file: string, context: MarkovCursor): Promise<void> => {
    if (!round) return;
    const anchor = round.block_ids[0] as number;
    const count = round.drafts.length;
    const drafted = context.draft(anchor, count, GREEDY, { confidence: true });
    closeTo(await drafted.confidences(), round.confidences);
    const error = async (kind: string, logits: { read(): Promise<Float32Array> }): Promise<number> =>
      relativeError(await logits.read(), goldenTensor(name, `${kind}_logits_${suffix}${file}.f32`));
    expect(await error('corrected', drafted.logits)).toBeLessThan(TOLERANCE);
    expect(await error('base', context.base(anchor, count))).toBeLessThan(TOLERANCE);
  };
  await check(rows.round1, 'round1', block);
  await check(rows.block_small, 'block4', block);
  const pass = cursor.forward(chain(committed));
  block.append(
    pass,
    committed.map((_, i) => i),
  );
  pass.accept(committed.map((_, i) => i));
  await check(rows.round2, 'round2', block);
  for (const run of rows.runs) await checkRun(target, drafter, prefix, run);
};

export const checkDSpark = async (gpu: Gpu, name: string, form: Form = {}): Promise<void> => {
  const golden = readCase(name);
  const { prefix } = golden;
  if (golden.round1)
    return checkRows(gpu, name, golden, { prefix, suffix: '', committed: golden.round2.committed ?? [], form });
  const committed = readCase('dspark-tiny-good').round2.committed ?? [];
  for (const [suffix, rows] of [
    ['anchor_first_', golden.anchor_first],
    ['bonus_anchor_', golden.bonus_anchor],
  ] as const)
    await checkRows(gpu, name, rows as Rows, { prefix, suffix, committed, form });
};
