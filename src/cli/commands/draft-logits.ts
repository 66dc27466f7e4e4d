// Scores the drafts after a sequence and writes the raw numbers, to compare a drafter with other implementations.
// DFlash fills one block; EAGLE-3 goes on greedily from draft to draft.
import type { BlockDrafter, Cursor, FeatureDrafter, Forward } from '../../model/interface.ts';
import { integer, integers, text, UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { auxiliaryOptions, loadTogether, openDevice, precisionOption } from '../device.ts';
import { modelOption } from '../model-source.ts';
import { append, argmax, finite, OutputFiles } from '../raw-output.ts';

interface Drafted {
  /** `[rows, vocabulary]`, of the drafter's own vocabulary. */
  readonly logits: Float32Array;
  readonly vocabulary: number;
  /** The target's token for each entry of it, where it is not the target's own. */
  readonly ids: readonly number[] | null;
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
  { size, signal, vocabulary }: { size: number; signal: AbortSignal; vocabulary: number },
): Promise<Drafted> => {
  using cursor = await drafter.open({ capacity: tokens.length - 1 + size });
  await prefill(target, tokens.slice(0, -1), signal, (pass, rows) => cursor.append(pass, rows));
  const scores = cursor.draft(tokens.at(-1) as number, size);
  return { logits: (await scores.logits.read()).subarray(vocabulary), vocabulary, ids: null };
};

const GREEDY = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };

const chain = async (
  target: Cursor,
  drafter: FeatureDrafter,
  tokens: readonly number[],
  { size, signal }: { size: number; signal: AbortSignal },
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

export const draftLogits = defineCommand({
  name: 'draft-logits',
  summary: 'scores the drafts after a sequence: raw little-endian f32 [B - 1, vocabulary]',
  usage: '[--target M] --drafter M --tokens 1,2,3 --block-size B [--out FILE]',
  positionals: [],
  options: {
    target: modelOption,
    drafter: auxiliaryOptions.drafter,
    tokens: integers('1,2,3', 'the token ids so far; the last one is the anchor', { least: 0 }),
    'block-size': integer('B', 'B - 1 tokens are drafted', { least: 2 }),
    precision: precisionOption,
    out: text('FILE', 'the file to write'),
  },
  async run({ values }, terminal) {
    const { target: model, drafter: named, tokens, 'block-size': size, precision, out } = values;
    if (named === undefined) throw new UsageError('draft-logits needs --drafter M');
    if (!tokens || tokens.length < 2)
      throw new UsageError('draft-logits needs --tokens 1,2,3: a prefix and the anchor');
    if (size === undefined) throw new UsageError('draft-logits needs --block-size B');

    using device = await openDevice(terminal);
    const loaded = await loadTogether(device, { model, draft: undefined, drafter: named, precision }, [], terminal);
    const { model: target } = loaded.target;
    const drafter = (loaded.dflash ?? loaded.eagle3)?.model;
    if (!drafter) throw new Error('no drafter was loaded');
    const { vocabulary } = target;
    const outside = tokens.find((token) => token >= vocabulary);
    if (outside !== undefined) throw new UsageError(`token ${outside} is outside the vocabulary of ${vocabulary}`);

    await using files = new OutputFiles();
    const file = out === undefined ? undefined : await files.open(out);
    using cursor = await target.open({ capacity: tokens.length, tapLayers: drafter.tapLayers });
    const options = { size, signal: terminal.signal, vocabulary };
    const drafted =
      drafter.kind === 'dflash'
        ? await block(cursor, drafter, tokens, options)
        : await chain(cursor, drafter, tokens, options);
    await append(file, finite(drafted.logits));
    const best = Array.from({ length: size - 1 }, (_, row) =>
      argmax(drafted.logits.subarray(row * drafted.vocabulary, (row + 1) * drafted.vocabulary)),
    );
    await terminal.json({
      rows: size - 1,
      vocabulary: drafted.vocabulary,
      argmax: best,
      tokens: best.map((entry) => drafted.ids?.[entry] ?? entry),
    });
  },
});
