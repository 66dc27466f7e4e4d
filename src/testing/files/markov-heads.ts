// The bundled DFlash drafter with random Markov and confidence heads: a DSpark drafter for the tests on a device. Its
// rows draft as DFlash's do, and the small heads change some of the drafts.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Source } from '../../weights/open.ts';

const RANK = 8;

const noise = (count: number, seed: number, spread: number): Float32Array<ArrayBuffer> => {
  let state = seed * 2654435761;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 8) / 2 ** 24 - 0.5) * 2 * spread;
  });
};

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** `folder`: the DFlash drafter. */
export const withMarkovHeads = (folder: string): Extract<Source, { readonly kind: 'bytes' }> => {
  const config = JSON.parse(readFileSync(resolve(folder, 'config.json'), 'utf8'));
  const file = readFileSync(resolve(folder, 'model.safetensors'));
  const length = Number(file.readBigUInt64LE(0));
  const header: Record<string, Entry> = JSON.parse(file.subarray(8, 8 + length).toString());
  const { hidden_size: hidden, vocab_size: vocabulary } = config;
  const heads: Readonly<Record<string, { readonly shape: readonly number[]; readonly spread: number }>> = {
    'markov_head.markov_w1.weight': { shape: [vocabulary, RANK], spread: 1 },
    'markov_head.markov_w2.weight': { shape: [vocabulary, RANK], spread: 1 },
    'confidence_head.proj.weight': { shape: [1, hidden + RANK], spread: 0.2 },
    'confidence_head.proj.bias': { shape: [1], spread: 2 },
  };
  const parts: Uint8Array[] = [file.subarray(8 + length)];
  let end = file.length - 8 - length;
  for (const [i, [name, { shape, spread }]] of Object.entries(heads).entries()) {
    const values = noise(
      shape.reduce((a, b) => a * b),
      i + 1,
      spread,
    );
    header[name] = { dtype: 'F32', shape, data_offsets: [end, end + values.byteLength] };
    parts.push(new Uint8Array(values.buffer));
    end += values.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const size = new Uint8Array(new BigUint64Array([BigInt(text.byteLength)]).buffer);
  const { taps_before_norm: _, ...dflash } = config.dflash_config;
  const own = {
    ...dflash,
    projector_type: 'dspark',
    markov_rank: RANK,
    markov_head_type: 'vanilla',
    enable_confidence_head: true,
    confidence_head_with_markov: true,
  };
  const dspark = { ...config, architectures: ['DSparkDraftModel'], dflash_config: own };
  return {
    kind: 'bytes',
    files: new Map([
      ['config.json', new TextEncoder().encode(JSON.stringify(dspark))],
      ['model.safetensors', Buffer.concat([size, text, ...parts])],
    ]),
  };
};
