// A golden DFlash case (golden/README.md) compared with an adapter's results: fused features, draft logits, and whole
// runs with the same drafts and the same acceptance length in every round.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { rowsOf } from '../../model/arena.ts';
import { DFlashDrafter } from '../../model/drafters/dflash-drafter.ts';
import { unpad } from '../../model/forward/pass.ts';
import type { BlockCursor, BlockDrafter, Choice, Cursor, LanguageModel } from '../../model/interface.ts';
import { loadDrafter } from '../../model/load/load-drafter.ts';
import { chain, GREEDY, goldenTensor, loadShared, openGolden, relativeError } from './golden.ts';
import { shared } from './shared.ts';

const TOLERANCE = 1e-3;
const TARGET = 'golden/qwen3-tiny-deep';

interface GoldenRun {
  readonly block_size: number;
  readonly tokens: readonly number[];
  readonly acceptance_lengths: readonly number[];
  readonly drafts: readonly (readonly number[])[];
}

interface DFlashCase {
  readonly prefix: readonly number[];
  readonly round1: { readonly drafts: readonly number[]; readonly block_ids: readonly number[] };
  readonly round2: { readonly committed: readonly number[]; readonly block_ids: readonly number[] };
  readonly runs: readonly GoldenRun[];
}

const readCase = (name: string): DFlashCase => JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8'));

const loadDFlash = async (gpu: Gpu, name: string, target: LanguageModel, gguf?: Uint8Array): Promise<DFlashDrafter> => {
  using checkpoint = await openGolden(name, gguf);
  const drafter = await loadDrafter(gpu, checkpoint, target);
  if (!(drafter instanceof DFlashDrafter)) throw new Error(`${name} is ${drafter.kind}`);
  return drafter;
};

/** Prompt into both cursors, the drafter fed pass by pass. */
const prefill = async (target: Cursor, block: BlockCursor, tokens: readonly number[], chunk = 16) =>
  target.extend(tokens, {
    chunk,
    onPass: (pass) =>
      block.append(
        pass,
        Array.from({ length: pass.rows }, (_, i) => i),
      ),
  });

const argmax = (row: Float32Array): number => row.indexOf(Math.max(...row));

const draftsOf = (logits: Float32Array, vocabulary: number): number[] =>
  Array.from({ length: logits.length / vocabulary }, (_, i) =>
    argmax(logits.subarray(i * vocabulary, (i + 1) * vocabulary)),
  );

/** Greedy speculation to `count` tokens; drafts are read from the verdict, the block shrinks to the budget left. */
const run = async (
  target: LanguageModel,
  drafter: BlockDrafter,
  prompt: readonly number[],
  { count, blockSize }: { readonly count: number; readonly blockSize: number },
) => {
  using cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers });
  using block = await drafter.open({ capacity: 128 });
  const first = await (await prefill(cursor, block, prompt)).draw(0, GREEDY).read();
  const tokens = [(first[0] as Choice).token];
  const lengths: number[] = [];
  const drafts: number[][] = [];
  while (tokens.length < count) {
    const size = Math.min(blockSize, count - tokens.length + 1);
    const anchor = tokens.at(-1) as number;
    const scores = block.draft(anchor, size);
    const drawn = Array.from({ length: size - 1 }, (_, j) => scores.draw(j + 1, GREEDY));
    const pass = cursor.forward(chain([anchor, ...drawn.map(({ token }) => token)]));
    const verdict = await pass.verify(null, GREEDY);
    block.append(pass, verdict.path);
    const committed = verdict.choices.map(({ token }) => token).slice(0, count - tokens.length);
    tokens.push(...committed);
    lengths.push(committed.length);
    drafts.push(verdict.tokens.slice(1));
  }
  return { tokens, lengths, drafts };
};

/** `gguf`: the same drafter as GGUF. */
export const checkDFlash = async (gpu: Gpu, name: string, gguf?: Uint8Array): Promise<void> => {
  const golden = readCase(name);
  using target = await loadShared(gpu, TARGET);
  using drafter = await loadDFlash(gpu, name, target, gguf);
  expect(drafter).toMatchObject({ blockSize: 8, tapLayers: [1, 3, 5], context: 512 });
  using cursor = await target.open({ capacity: 128, tapLayers: drafter.tapLayers });
  using block = await drafter.open({ capacity: 128 });
  await prefill(cursor, block, golden.prefix);
  expect([cursor.length, block.length]).toEqual([19, 19]);

  /** Draft logits of rows 1 …, and the drafts. */
  const drafted = async (anchor: number, size: number) => {
    const scores = block.draft(anchor, size);
    const logits = (await scores.logits.read()).slice(target.vocabulary);
    const drawn = Array.from({ length: size - 1 }, (_, j) => scores.draw(j + 1, GREEDY));
    const choices = await Promise.all(drawn.map((draw) => draw.read()));
    expect(choices.map(([choice]) => choice?.token)).toEqual(draftsOf(logits, target.vocabulary));
    return logits;
  };
  // Rows 16 to 18 waited for the first draft; the sixteen before were fused as soon as they were there.
  block.draft(0, 1);
  const fused = gpu.submission.read(rowsOf(drafter.network.scratch.features?.fused as Tensor, 3));
  gpu.flush();
  const { hidden } = drafter.architecture.sizes;
  const last = goldenTensor(name, 'fused.f32').slice(16 * hidden);
  expect(relativeError(unpad(await fused, 3, hidden), last)).toBeLessThan(TOLERANCE);

  const anchor = golden.round1.block_ids[0] as number;
  const expected = (file: string) => goldenTensor(name, `${file}.f32`);
  const error = async (file: string, size: number, from = anchor): Promise<number> =>
    relativeError(await drafted(from, size), expected(file));
  expect(await error('draft_logits_round1', 8)).toBeLessThan(TOLERANCE);
  expect(await error('draft_logits_block4', 4)).toBeLessThan(TOLERANCE);
  // The rows of a block are gone when the next one is drafted.
  expect(await error('draft_logits_round1', 8)).toBeLessThan(TOLERANCE);

  const pass = cursor.forward(chain(golden.round2.committed));
  block.append(pass, [0, 1, 2]);
  pass.accept([0, 1, 2]);
  expect(await error('draft_logits_round2', 8, golden.round2.block_ids[0])).toBeLessThan(TOLERANCE);

  for (const { block_size: blockSize, tokens, acceptance_lengths, drafts } of golden.runs) {
    const ours = await run(target, drafter, golden.prefix, { count: tokens.length, blockSize });
    expect(ours.tokens).toEqual(tokens);
    expect(ours.lengths).toEqual(acceptance_lengths);
    expect(ours.drafts).toEqual(drafts);
  }
};
