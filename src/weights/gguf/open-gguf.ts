// A GGUF checkpoint, in one file or split into several: header, configuration and tokenizer are all in its metadata.
import { OutriderError } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import { elementType } from '../element-types.ts';
import type { ByteSource } from '../files/byte-source.ts';
import { type Open, type Opened, SPLIT } from '../opened-checkpoint.ts';
import { blockDecoders as decoders } from './block-decoders.ts';
import { blockRepackers as repackers } from './block-repackers.ts';
import { ggufConfig, ggufFamily } from './config.ts';
import { type GgufHeader, readGguf } from './container.ts';
import { huggingFaceName, orderOf } from './names.ts';
import { ggufTokenizer } from './tokenizer.ts';

/** An error about the metadata of a file also says of which. */
export const inFile = <T>(name: string, read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof OutriderError)) throw cause;
    throw new OutriderError(cause.code, `${name}: ${cause.message}`, cause.hint, { cause });
  }
};

export const openGguf = async (name: string, open: Open, signal: AbortSignal | undefined): Promise<Opened> => {
  const first = await open(name);
  const header = await readGguf(first, signal);
  const files: { source: ByteSource; header: GgufHeader }[] = [{ source: first, header }];
  const [, prefix, , count] = SPLIT.exec(name) ?? [];
  // A file that was merged from several keeps the count, as 0.
  const parts = Number(header.metadata.get('split.count') || 1);
  if (parts !== Number(count ?? 1)) throw bad(`${name}: its metadata counts ${parts} files, its name ${count ?? 1}`);
  for (let part = 2; part <= parts; part++) {
    first.release?.();
    const source = await open(`${prefix}-${String(part).padStart(5, '0')}-of-${count}.gguf`);
    files.push({ source, header: await readGguf(source, signal) });
    source.release?.();
  }
  const tensors = files.flatMap((file) => file.header.tensors);
  const whole = { metadata: header.metadata, tensors };
  const family = inFile(name, () => ggufFamily(header.metadata));
  const config = inFile(name, () => ggufConfig(whole));
  const names = new Set(tensors.map(({ name }) => name));
  const blocks = { decoders, repackers };
  const placed = files.flatMap(({ source, header: { tensors } }) =>
    tensors.map(({ name: ggml, type, shape, start, bytes }) => {
      const name = huggingFaceName(ggml, names, family, config.num_hidden_layers as number);
      const elements = elementType(type)?.elements ?? 1;
      const order = orderOf(name, elements, family, config);
      // Other columns share a scale once they are moved, and a second rounding would add up. Blocks of 256 (all that
      // published models bring here) are kept as halves, shorter ones exactly.
      const moved = order?.kind === 'groups' && order.axis === 'values';
      const info = { name, type, shape, bytes, ...(moved && { readAs: elements === 256 ? 'F16' : 'F32' }) };
      return { info, source, start, order, blocks };
    }),
  );
  const tokenizer = async () => inFile(name, () => ggufTokenizer(header.metadata));
  const generation = async () => ({}); // what ends a text is among the tokenizer's fields
  return { parts: { format: 'gguf', name, config, tokenizer, generation }, placed };
};
