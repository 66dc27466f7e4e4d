// Scores every row of a sequence, or of a tree after a committed prefix, and writes the raw numbers: how the engine is
// compared with other implementations, and how anybody checks that the result does not depend on the rows of a pass.

import { checkAborted } from '../../base/errors.ts';
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Cursor, DeviceTensor, Forward } from '../../model/interface.ts';
import { integer, integers, text, UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { kvOption, loadOnDevice, openDevice, precisionOption } from '../device.ts';
import { modelOption } from '../model-source.ts';
import { append, argmax, finite, OutputFiles } from '../raw-output.ts';
import { checkWritable } from '../writable.ts';

const chain = (length: number): number[] => Array.from({ length }, (_, i) => i - 1);

export const logits = defineCommand({
  name: 'logits',
  summary: 'scores every row: raw little-endian f32 [rows, vocabulary]',
  usage: '[--model M] --tokens 1,2,3 [--parents -1,0,0 [--prefix-length P]] [--chunk N] [--taps 1,4] [--out FILE]',
  positionals: [],
  options: {
    model: modelOption,
    tokens: integers('1,2,3', 'the token ids to score', { least: 0 }),
    parents: integers('-1,0,0', 'the tokens are a tree: the parent of each node, -1 for the root', { least: -1 }),
    'prefix-length': integer('P', 'the first P tokens are committed; the tree, and the rows written, come after', {
      least: 0,
    }),
    chunk: integer('N', `rows a pass, 1 to ${MOST_ROWS}; the result does not depend on it`, {
      least: 1,
      most: MOST_ROWS,
    }),
    precision: precisionOption,
    kv: kvOption,
    taps: integers('1,4', 'also write the residual stream after these layers (0-based) to FILE.tap-ID', { least: 0 }),
    out: text('FILE', 'where to write'),
  },
  async run({ values }, terminal) {
    const { tokens, parents, taps = [], out, chunk = MOST_ROWS } = values;
    const prefixLength = values['prefix-length'] ?? 0;
    if (!tokens?.length) throw new UsageError('logits needs --tokens 1,2,3');
    if (prefixLength >= tokens.length) throw new UsageError(`--prefix-length ${prefixLength} leaves no row to score`);
    if (taps.length > 0 && out === undefined) throw new UsageError('--taps needs --out FILE');
    const prefix = tokens.slice(0, prefixLength);
    const rest = tokens.slice(prefixLength);
    if (parents && parents.length !== rest.length)
      throw new UsageError(`--parents: ${parents.length} parents for a tree of ${rest.length} tokens`);
    const orphan = parents?.findIndex((parent, node) => parent >= node) ?? -1;
    if (parents && orphan >= 0)
      throw new UsageError(`node ${orphan} names ${parents[orphan]} as its parent; an earlier node or -1 is allowed`);

    if (out !== undefined) await checkWritable(out);
    using device = await openDevice(terminal);
    const { model } = await loadOnDevice(device, values, terminal);
    const outside = tokens.findIndex((token) => token >= model.vocabulary);
    if (outside >= 0) throw new UsageError(`token ${tokens[outside]} is outside the vocabulary of ${model.vocabulary}`);

    using cursor = await model.open({
      capacity: tokens.length,
      tapLayers: taps,
      cache: values.kv ?? 'f32',
      ...(parents ? { nodes: rest.length } : { length: tokens.length }),
    });
    // After what may be refused: the files of an earlier run stay then.
    await using files = new OutputFiles();
    const file = out === undefined ? undefined : await files.open(out);
    const tapFiles = await Promise.all(taps.map((tap) => files.open(`${out}.tap-${tap}`)));
    const best: number[] = [];
    const record = async (forward: Forward): Promise<void> => {
      const scores = finite(await forward.logits.read());
      for (let row = 0; row < forward.rows; row++)
        best.push(argmax(scores.subarray(row * model.vocabulary, (row + 1) * model.vocabulary)));
      await append(file, scores);
      for (const [i, tapFile] of tapFiles.entries())
        await append(tapFile, await (forward.taps[i] as DeviceTensor).read());
    };

    if (prefix.length > 0) await cursor.extend(prefix, { signal: terminal.signal, ...(values.chunk ? { chunk } : {}) });
    if (parents) await record(cursor.forward({ tokens: rest, parents }));
    else await scoreChain(cursor, rest, chunk, record, terminal.signal);
    await terminal.json({ rows: best.length, vocabulary: model.vocabulary, argmax: best });
  },
});

const scoreChain = async (
  cursor: Cursor,
  tokens: readonly number[],
  chunk: number,
  record: (forward: Forward) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  for (let start = 0; start < tokens.length; start += chunk) {
    checkAborted(signal);
    const part = tokens.slice(start, start + chunk);
    const forward = cursor.forward({ tokens: part, parents: chain(part.length) });
    await record(forward);
    forward.accept(part.map((_, i) => i));
  }
};
