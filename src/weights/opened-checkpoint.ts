// What both formats give when they are opened (open.ts, open-gguf.ts).

import type { Checkpoint } from './checkpoint.ts';
import type { ByteSource } from './files/byte-source.ts';
import type { PlacedTensor } from './row-blocks.ts';

type Parts = Omit<Checkpoint, 'bytes' | 'version' | 'tensors' | 'stream' | typeof Symbol.dispose>;

/** An opened checkpoint of either format, before anything was read of its tensors. */
export interface Opened {
  readonly parts: Parts;
  readonly placed: PlacedTensor[];
}

/** `instead`: the file to open where there is none of that name. */
export type Open = (name: string, instead?: string) => Promise<ByteSource>;

/** One file of several: prefix, number, count. */
export const SPLIT = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/;
