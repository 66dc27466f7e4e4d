// What a judge's head says of a text in its own tokens, without any layout: for people to read, and for comparisons
// with other implementations.
import type { LoadSourceOptions } from '../engine/load/loaded-models.ts';
import type { Gpu } from '../gpu/device.ts';
import { loadScored } from '../model/load/load-judge.ts';
import { probed } from '../weights/files/probed.ts';
import { fileSet, openCheckpoint, type Source } from '../weights/open.ts';
import { isOnnx, readNetwork } from './onnx-judge.ts';
import { answerOf } from './row-score.ts';

export interface Probabilities {
  /** Of the classes; null of a value, whose one probability is the reward. */
  readonly labels: readonly string[] | null;
  /** At each position asked for. */
  readonly at: readonly (readonly number[])[];
}

const pick = (rows: readonly ArrayLike<number>[], positions: readonly number[]) =>
  positions.map((position) => answerOf(rows[position] as ArrayLike<number>).probabilities);

export const probabilitiesOf = async (
  gpu: Gpu,
  source: Source,
  tokens: readonly number[],
  positions: readonly number[],
  options: Pick<LoadSourceOptions, 'precision' | 'signal' | 'store'>,
): Promise<Probabilities> => {
  const { signal, store } = options;
  using files = probed(fileSet(source, { signal, store }));
  if (await isOnnx(files, signal)) {
    using network = (await readNetwork(files, { signal })).network;
    const { rows, width, data } = await network.run(tokens);
    // Of a network that answers once, the answer is the last token's.
    const row = (position: number): number => (rows === 1 ? 0 : position);
    const found = tokens.map((_, i) => data.subarray(row(i) * width, (row(i) + 1) * width));
    const labels = Array.from({ length: width }, (_, i) => `LABEL_${i}`);
    return { labels: width > 1 ? labels : null, at: pick(found, positions) };
  }
  using checkpoint = await openCheckpoint({ kind: 'folder', files }, { signal });
  const loaded = await loadScored(gpu, checkpoint, options);
  using model = loaded.model;
  using cursor = await model.open(tokens.length);
  return {
    labels: loaded.kind === 'classes' ? loaded.labels : null,
    at: pick(await cursor.read(tokens, signal), positions),
  };
};
