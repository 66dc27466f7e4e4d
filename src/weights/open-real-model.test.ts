// A whole real model through the loader on the host: how long it takes and how much memory it holds.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DiskFolder } from '../testing/files/disk-folder.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { processorLimit } from '../testing/slowness.ts';
import { type Checkpoint, matrixShape } from './checkpoint.ts';
import { folderSource } from './files/folder.ts';
import { Store } from './files/store.ts';
import { openCheckpoint } from './open.ts';
import { matrixLayout } from './quantize/device-layout.ts';
import { MatrixPacker, type Precision, storedFormat } from './quantize/quantize.ts';

const MIB = 2 ** 20;
const smollm2 = async (): Promise<Checkpoint> =>
  openCheckpoint(await folderSource(shared('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf')));

/** Packs every matrix, one after the other, as an upload does. */
const packAll = async (checkpoint: Checkpoint, precision: Precision | undefined) => {
  let packed = 0;
  let largest = 0;
  let peak = 0;
  let packer: MatrixPacker | null = null;
  for await (const block of checkpoint.stream()) {
    const { name, type, shape } = block.tensor;
    if (shape.length === 2) {
      const { rows, columns } = matrixShape(shape);
      const embedding = name === 'model.embed_tokens.weight';
      if (block.firstRow === 0)
        packer = new MatrixPacker(matrixLayout(storedFormat(type, precision, embedding), rows, columns));
      if (!packer?.putRaw(block.firstRow, block.repacker(packer.layout.format), block.raw))
        packer?.put(block.firstRow, block.decode());
      const bytes = packer ? packer.layout.weightBytes + packer.layout.scaleBytes : 0;
      largest = Math.max(largest, bytes);
      if (block.firstRow + block.rows === rows) packed += bytes;
    }
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  }
  return { packed, largest, peak };
};

/** Q4_1 and Q8_0 take on the device what they take in the file. */
const packedBytes = ({ tensors }: Checkpoint, precision: Precision | undefined): number => {
  const matrices = [...tensors.values()].filter(({ shape }) => shape.length === 2);
  const weights = matrices.reduce((sum, { shape }) => sum + (shape[0] as number) * (shape[1] as number), 0);
  return precision === 'q8' ? (weights / 32) * 34 : matrices.reduce((sum, { bytes }) => sum + bytes, 0);
};

describe.skipIf(noShared)('SmolLM2-135M from its GGUF', () => {
  // Processor time in ms. Measured: as in the file and q4 130 to 180, q8 1100 to 1430 (the more, the busier the
  // machine).
  it.each<[Precision | undefined, number]>([
    [undefined, 2000],
    ['q8', 4000],
    ['q4', 2000],
  ])('streams and packs (precision %s) within 64 MiB and the largest tensor', async (precision, limit) => {
    using checkpoint = await smollm2();
    let least = Number.POSITIVE_INFINITY;
    // What else runs takes its share of caches and clocks: one try of three that is quick enough shows it.
    for (let tries = 0; tries < 3 && least >= limit; tries++) {
      const before = process.memoryUsage().arrayBuffers;
      const start = process.cpuUsage();
      const { packed, largest, peak } = await packAll(checkpoint, precision);
      const { user, system } = process.cpuUsage(start);
      least = Math.min(least, (user + system) / 1000);
      const held = peak - before;
      console.log(
        `SmolLM2 as ${precision ?? 'in the file'}: ${(packed / 1e6).toFixed(1)} MB packed in ${least.toFixed(0)} ms of processor time; ` +
          `at most ${(held / MIB).toFixed(1)} MiB held, ${(largest / MIB).toFixed(1)} MiB of it the largest tensor`,
      );
      expect(packed).toBe(packedBytes(checkpoint, precision));
      expect(held).toBeLessThan(64 * MIB + largest);
    }
    expect(least).toBeLessThan(processorLimit(least, limit));
  });

  it('comes over HTTP into the store in one request, and from there without any, in as little memory', async () => {
    const name = 'SmolLM2-135M-Instruct.Q4_1.gguf';
    await using server = await serveFiles({
      [name]: readFileSync(shared('models/smollm2-135m-instruct', name)),
    });
    const folder = mkdtempSync(join(tmpdir(), 'outrider-load-'));
    try {
      for (const kind of ['over HTTP', 'from the store']) {
        const before = process.memoryUsage().arrayBuffers;
        const store = new Store(new DiskFolder(folder));
        let arrived = 0;
        const source = { kind: 'url', url: server.address + name } as const;
        using checkpoint = await openCheckpoint(source, { store, onProgress: (bytes) => (arrived = bytes) });
        const { largest, peak } = await packAll(checkpoint, undefined);
        console.log(`SmolLM2 ${kind}: at most ${((peak - before) / MIB).toFixed(1)} MiB held`);
        expect(peak - before).toBeLessThan(64 * MIB + largest);
        expect(server.requests).toHaveLength(1);
        expect(arrived).toBe(kind === 'over HTTP' ? server.files.get(name)?.length : 0);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('opens by its header alone, and streams only what is wanted', async () => {
    using checkpoint = await smollm2();
    const names: string[] = [];
    let bytes = 0;
    const wanted = (name: string): boolean => name.startsWith('model.layers.7.');
    for await (const block of checkpoint.stream({ wanted, onProgress: (sum) => (bytes = sum) }))
      names.push(block.tensor.name);
    expect(new Set(names).size).toBe(9);
    expect(bytes).toBe(
      [...checkpoint.tensors.values()].filter(({ name }) => wanted(name)).reduce((sum, t) => sum + t.bytes, 0),
    );
  });

  it('stops between rowBlocks when aborted', async () => {
    using checkpoint = await smollm2();
    const controller = new AbortController();
    let rowBlocks = 0;
    const read = async (): Promise<void> => {
      for await (const _ of checkpoint.stream({ signal: controller.signal })) if (++rowBlocks === 3) controller.abort();
    };
    await expect(read()).rejects.toMatchObject({ code: 'aborted' });
    expect(rowBlocks).toBe(3);
  });
});
