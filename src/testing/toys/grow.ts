// Grows a tree of drafts on the device while the host stands in for the drafter, and checks every level on the way.
import { expect } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { packRows, ROW_WORDS, type Row } from '../../kernels/cache/rows.ts';
import type { GrownTree } from '../../kernels/tree/grow-tree.reference.ts';
import {
  BEAM_BYTES,
  CANDIDATE_BYTES,
  MOST_WIDTH,
  packTask,
  SOURCE_BYTES,
  type TreeTask,
  treeBeam,
  treeCandidates,
  treeExpand,
  treeSelect,
} from '../../kernels/tree/grow-tree.ts';
import { NODE_WORDS } from '../../kernels/verify/verdict.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { noise, runKernel, tensorOf } from '../device/run-kernel.ts';

const words = (array: Float32Array | undefined): Uint32Array => new Uint32Array(array?.buffer as ArrayBuffer);

interface Grown extends GrownTree {
  /** Of each node after its parent. */
  readonly logprobs: readonly number[];
  readonly flags: readonly number[];
}

/**
 * Grows a tree on the device, level by level; the host stands in for the drafter, whose logits after a path `logits`
 * gives, and holds each beam's rows against what they should be.
 */
export const grow = async (
  gpu: Gpu,
  task: TreeTask,
  ids: readonly number[],
  logits: (path: readonly number[]) => readonly number[],
  threads: number,
): Promise<Grown> => {
  const { width, levels, base, position, feature, scored, window } = task;
  const [vocabulary, stride] = [ids.length, stride32(ids.length)];
  const constant = { task: tensorOf(gpu, packTask(task)), ids: tensorOf(gpu, Uint32Array.from(ids)) };
  const candidates = tensorOf(gpu, new Uint32Array(CANDIDATE_BYTES / 4));
  const beam = tensorOf(gpu, new Uint32Array(BEAM_BYTES / 4).fill(99));
  const rows = tensorOf(gpu, new Uint32Array(MOST_WIDTH * ROW_WORDS).fill(99));
  const sources = tensorOf(gpu, new Uint32Array(SOURCE_BYTES / 4));
  const nodes = tensorOf(gpu, new Uint32Array(task.nodes * NODE_WORDS));
  const candidate = (all: Uint32Array, i: number) => ({
    token: all[4 * i] as number,
    parent: all[4 * i + 1] as number,
  });
  /** Of a candidate, as entries of the drafter's vocabulary. */
  const pathOf = (all: Uint32Array, i: number): number[] => {
    if (i === 0xffff_ffff) return [];
    const { token, parent } = candidate(all, i);
    return [...pathOf(all, parent), ids.indexOf(token)];
  };
  /** Bits of the beam rows on the path of each candidate that was in a beam, and its row there. */
  const members = new Map<number, { readonly mask: bigint; readonly row: number }>();
  let grown: (readonly number[])[] = [[]];
  let scores: number[] = [];
  for (let level = 1; level <= levels; level++) {
    const data = new Float32Array(MOST_WIDTH * stride).fill(Number.NaN); // of rows that are not there
    grown.forEach((path, r) => {
      data.set(logits(path), (level === 1 ? scored : r) * stride);
    });
    const all = tensorOf(gpu, data);
    const [made, chosen, next, from] = await runKernel(gpu, [candidates, beam, rows, sources], (plan) => {
      const uniforms = { level, rows: level === 1 ? 1 : MOST_WIDTH, vocabulary, stride };
      treeExpand(plan, { ...constant, logits: all, beam, candidates }, uniforms, { threads });
      if (level < levels) treeBeam(plan, { ...constant, candidates, beam, rows, sources }, { level, rows: MOST_WIDTH });
    });
    const written = words(made);
    scores = Array.from({ length: treeCandidates(task) }, (_, i) => (made as Float32Array)[4 * i + 3] as number);
    if (level === levels) break;
    const expected: Row[] = Array.from({ length: width }, (_, r) => {
      const index = words(chosen)[4 * r] as number;
      const { token, parent } = candidate(written, index);
      const before = members.get(parent);
      expect(words(from)[r], `level ${level}, row ${r}`).toBe(before?.row ?? feature);
      const bit = (level - 1) * width + r;
      const mask = (before?.mask ?? 0n) | (1n << BigInt(bit));
      members.set(index, { mask, row: r });
      const own = position + level - 1;
      const lowest = window === 0 ? 0 : Math.max(0, own - window + 1);
      const inWindow = mask & ~((1n << BigInt(Math.max(0, lowest - position) * width)) - 1n);
      return {
        token,
        position: own,
        slot: base + bit,
        prefix: base,
        first: Math.min(lowest, base),
        start: 0,
        end: 0,
        base,
        maskLow: Number(inWindow & 0xffff_ffffn),
        maskHigh: Number(inWindow >> 32n),
        alive: 1,
        ringEntry: 0,
        chunkBoundary: 0,
      };
    });
    expect(words(next), `rows of level ${level}`).toEqual(packRows(expected, MOST_WIDTH));
    grown = expected.map((_, r) => pathOf(written, words(chosen)[4 * r] as number));
  }
  const [result] = await runKernel(gpu, [nodes], (plan) => treeSelect(plan, { ...constant, candidates, nodes }, {}));
  const packed = words(result);
  const field = (at: number) =>
    Array.from({ length: task.nodes }, (_, i) => (packed[i * NODE_WORDS + at] as number) | 0);
  expect(field(1)).toEqual([task.ringEntry, ...field(1).slice(1).fill(0)]);
  const [tokens, parents, flags] = [field(0), field(2), field(5)];
  const logprobs = Array.from({ length: task.nodes }, (_, i) => (result as Float32Array)[i * NODE_WORDS + 4] as number);
  const kept = new Set(scores.toSorted((a, b) => b - a).slice(0, task.nodes - 1));
  return { tokens, parents, flags, logprobs, scores: [0, ...scores.filter((score) => kept.has(score))] };
};

export const logSoftmax = (row: readonly number[]): number[] => {
  const top = Math.max(...row);
  const sum = top + Math.log(row.reduce((total, x) => total + Math.exp(x - top), 0));
  return row.map((x) => x - sum);
};

/** Logits that depend on the whole path. */
export const pathLogits = (vocabulary: number) => (path: readonly number[]) => {
  const random = noise(path.reduce((hash, token) => hash * 31 + token + 1, 7) % 1_000_003);
  return Array.from({ length: vocabulary }, () => Math.fround(2 * random()));
};
