// A config that ties the head to the embedding, and a checkpoint that holds both. Many publish the one matrix twice; where
// the two differ the config is wrong, and the head counts, as in transformers.
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type { Architecture } from '../architecture.ts';

const firstRows = async (
  checkpoint: Checkpoint,
  tensor: string,
  signal: AbortSignal | undefined,
): Promise<Float32Array> => {
  for await (const block of checkpoint.stream({ signal, wanted: (name) => name === tensor })) return block.decode();
  return new Float32Array();
};

/**
 * The architecture, whose head is its own if the checkpoint has another than the embedding. The first few megabytes of
 * both tell: training changes every row of a head.
 */
export const withOwnHead = async (
  architecture: Architecture,
  checkpoint: Checkpoint,
  signal?: AbortSignal,
): Promise<Architecture> => {
  const { head, names } = architecture;
  const [embedding, own] = [names.embedding ?? '', names.head ?? ''];
  if (head !== 'tied' || !checkpoint.tensors.has(own) || !checkpoint.tensors.has(embedding)) return architecture;
  const rows = await firstRows(checkpoint, embedding, signal);
  const others = await firstRows(checkpoint, own, signal);
  const same = others.every((value, i) => i >= rows.length || value === rows[i]);
  return same ? architecture : { ...architecture, head: 'own' };
};
