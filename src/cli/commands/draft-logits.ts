// Scores the drafts after a sequence and writes the raw numbers, to compare a drafter with other implementations.
// DFlash fills one block; DSpark corrects one greedily from left to right; EAGLE-3 and MTP go on greedily from draft to draft.
import type { BlockDrafter, Cursor, FeatureDrafter, Forward, MarkovDrafter } from '../../model/interface.ts';
import { flag, integer, integers, text, UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { drafterOption, loadTogether, openDevice, precisionOption } from '../device.ts';
import { modelOption } from '../model-source.ts';
import { append, argmax, finite, OutputFiles } from '../raw-output.ts';
import { checkWritable } from '../writable.ts';

interface Drafted {
  /** `[rows, vocabulary]`, of the drafter's own vocabulary. */
  readonly logits: Float32Array;
  readonly vocabulary: number;
  /** The target's token for each entry of it, where it is not the target's own. */
  readonly ids: readonly number[] | null;
  /** What the drafts were, where the largest logits do not say. */
  readonly tokens?: readonly number[];
  readonly confidence?: readonly number[] | null;
}

interface Options {
  readonly size: number;
  readonly signal: AbortSignal;
  /** The target's. */
  readonly vocabulary: number;
  readonly base: boolean;
}

type Taps = Pick<Forward, 'rows' | 'taps'>;

/** The prefix, pass by pass: `hand` gets the rows of each and the sequence's index of the first. */
const prefill = async (
  target: Cursor,
  prefix: readonly number[],
  signal: AbortSignal,
  hand: (pass: Taps, rows: readonly number[], base: number) => void,
): Promise<void> => {
  let base = 0;
  await target.extend(prefix, {
    signal,
    onPass(pass) {
      const rows = Array.from({ length: pass.rows }, (_, i) => i);
      hand(pass, rows, base);
      base += pass.rows;
    },
  });
};

const block = async (
  target: Cursor,
  drafter: BlockDrafter,
  tokens: readonly number[],
  { size, signal, vocabulary: whole }: Options,
): Promise<Drafted> => {
  using cursor = await drafter.open({ capacity: tokens.length - 1 + size });
  await prefill(target, tokens.slice(0, -1), signal, (pass, rows) => cursor.append(pass, rows));
  const scores = cursor.draft(tokens.at(-1) as number, size);
  const vocabulary = drafter.ids?.length ?? whole;
  return { logits: (await scores.logits.read()).subarray(vocabulary), vocabulary, ids: drafter.ids };
};

/** The block of a DSpark drafter, with `base` before its correction. `size` counts the rows of a block. */
const walk = async (
  target: Cursor,
  drafter: MarkovDrafter,
  tokens: readonly number[],
  { size, signal, vocabulary: whole, base }: Options,
): Promise<Drafted> => {
  const drafts = Math.min(size, drafter.drafts);
  using cursor = await drafter.open({ capacity: tokens.length - 1 + drafter.blockSize });
  await prefill(target, tokens.slice(0, -1), signal, (pass, rows) => cursor.append(pass, rows));
  const anchor = tokens.at(-1) as number;
  const { ids, confident } = drafter;
  const block = cursor.draft(anchor, drafts, GREEDY, { confidence: confident });
  const confidence = confident ? await block.confidences() : null;
  const logits = await block.logits.read();
  const vocabulary = ids?.length ?? whole;
  const own = Array.from({ length: drafts }, (_, i) => argmax(logits.subarray(i * vocabulary, (i + 1) * vocabulary)));
  return {
    logits: base ? await cursor.base(anchor, drafts).read() : logits,
    vocabulary,
    ids,
    tokens: own.map((entry) => ids?.[entry] ?? entry),
    confidence,
  };
};

const GREEDY = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };

const chain = async (
  target: Cursor,
  drafter: FeatureDrafter,
  tokens: readonly number[],
  { size, signal }: Options,
): Promise<Drafted> => {
  using cursor = await drafter.open({ capacity: tokens.length - 1 + size });
  await prefill(target, tokens.slice(0, -1), signal, (pass, rows, base) =>
    cursor.append(
      pass,
      rows,
      rows.map((row) => tokens[base + row + 1] as number),
    ),
  );
  const vocabulary = drafter.ids.length;
  const logits = new Float32Array((size - 1) * vocabulary);
  // Each draft's logits give way to the next one's: a chain a depth, and its last logits are kept.
  for (let depth = 1; depth < size; depth++)
    logits.set(await cursor.chain(depth, GREEDY).logits.read(), (depth - 1) * vocabulary);
  return { logits, vocabulary, ids: drafter.ids };
};

const draftWith = (
  target: Cursor,
  drafter: BlockDrafter | MarkovDrafter | FeatureDrafter,
  tokens: readonly number[],
  options: Options,
): Promise<Drafted> => {
  if (drafter.kind === 'dflash') return block(target, drafter, tokens, options);
  return drafter.kind === 'dspark' ? walk(target, drafter, tokens, options) : chain(target, drafter, tokens, options);
};

export const draftLogits = defineCommand({
  name: 'draft-logits',
  summary: 'scores the drafts after a sequence: raw little-endian f32 [B - 1, vocabulary]; of DSpark [B, vocabulary]',
  usage: '[--target M] --drafter M --tokens 1,2,3 --block-size B [--base] [--out FILE]',
  positionals: [],
  options: {
    target: modelOption,
    drafter: drafterOption,
    tokens: integers('1,2,3', 'the token ids so far; the last one is the anchor', { least: 0 }),
    'block-size': integer('B', 'B - 1 tokens are drafted; by DSpark B, or as many as it can', { least: 1 }),
    base: flag('of DSpark: the logits before the correction by the token drafted before'),
    precision: precisionOption,
    out: text('FILE', 'the file to write'),
  },
  async run({ values }, terminal) {
    const { target: model, drafter: named, tokens, 'block-size': size, precision, out } = values;
    if (named === undefined) throw new UsageError('draft-logits needs --drafter M');
    if (!tokens || tokens.length < 2)
      throw new UsageError('draft-logits needs --tokens 1,2,3: a prefix and the anchor');
    if (size === undefined) throw new UsageError('draft-logits needs --block-size B');

    if (out !== undefined) await checkWritable(out);
    using device = await openDevice(terminal);
    const loaded = await loadTogether(device, { model, draft: undefined, drafter: named, precision }, [], terminal);
    const { model: target } = loaded.target;
    const drafter = (loaded.dflash ?? loaded.dspark ?? loaded.eagle3 ?? loaded.mtp)?.model;
    if (!drafter) throw new Error('no drafter was loaded');
    const { vocabulary } = target;
    if (drafter.kind !== 'dspark' && values.base) throw new UsageError(`--base is for DSpark; this is ${drafter.kind}`);
    if (drafter.kind !== 'dspark' && size < 2) throw new UsageError('--block-size 1 leaves nothing to draft');
    if (drafter.kind === 'dspark' && size > drafter.blockSize)
      throw new UsageError(`--block-size ${size}: this drafter was trained for ${drafter.blockSize}`);
    const outside = tokens.find((token) => token >= vocabulary);
    if (outside !== undefined) throw new UsageError(`token ${outside} is outside the vocabulary of ${vocabulary}`);

    using cursor = await target.open({ capacity: tokens.length, tapLayers: drafter.tapLayers });
    const options = { size, signal: terminal.signal, vocabulary, base: values.base ?? false };
    const drafted = await draftWith(cursor, drafter, tokens, options);
    await using files = new OutputFiles(); // an earlier run's file stays where this one is refused
    await append(out === undefined ? undefined : await files.open(out), finite(drafted.logits));
    const rows = drafted.logits.length / drafted.vocabulary;
    const best = Array.from({ length: rows }, (_, row) =>
      argmax(drafted.logits.subarray(row * drafted.vocabulary, (row + 1) * drafted.vocabulary)),
    );
    await terminal.json({
      rows,
      vocabulary: drafted.vocabulary,
      argmax: best,
      tokens: drafted.tokens ?? best.map((entry) => drafted.ids?.[entry] ?? entry),
      ...(drafted.confidence !== undefined && { confidence: drafted.confidence }),
    });
  },
});
