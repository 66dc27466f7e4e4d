// One model's cached view of one sequence. The cursor knows which slots hold its past; a forward pass writes the slots
// behind it and is forgotten unless a path is accepted. No other file does cache arithmetic.

import { checkAborted } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import type { Move } from '../../kernels/cache/compact.ts';
import type { Cursor, DeviceTree, ExtendOptions, Forward, Token, Tree, Verdict } from '../interface.ts';
import { type Cache, forkSlots, MOST_NODES, MOST_ROWS } from './kv-cache.ts';
import { depths, lengthOf, type Past } from './visibility.ts';

/** What a cursor needs of its model. */
export interface Runner {
  readonly vocabulary: number;
  /** Scores trees that lie in one cache. */
  forward(batch: readonly { readonly cursor: Cursor; readonly tree: Tree }[]): readonly Forward[];
  /** Scores a tree that only the device knows. */
  forwardDeviceTree(cursor: CachedCursor, tree: DeviceTree): Forward;
  /** Runs one chunk of a prompt without scoring any row. */
  prefill(cursor: CachedCursor, tree: Tree, onPass: ExtendOptions['onPass']): Promise<void>;
  /** Runs the last chunk and scores its last row. */
  finish(cursor: CachedCursor, tree: Tree, onPass: ExtendOptions['onPass']): Forward;
  /** The cursor that owned this cache is gone. */
  closed(cache: Cache): void;
}

const chainsOnly = () => refuse('a cursor opened with `rollout` scores chains only');

export const chain = (tokens: readonly Token[]): Tree => ({ tokens, parents: tokens.map((_, i) => i - 1) });

export class CachedCursor implements Cursor {
  readonly cache: Cache;
  readonly capacity: number;
  readonly #runner: Runner;
  readonly #parent: CachedCursor | null;
  #past: Past;
  /** Counts the passes and the changes of the past: an older pass cannot be accepted any more. */
  #version = 0;
  readonly #forks = new Set<CachedCursor>();
  #sources: number | undefined;
  /** A verdict is awaited: how far the past reaches is not known yet. */
  #deciding = false;
  #disposed = false;

  constructor(runner: Runner, cache: Cache, capacity: number, fork?: { parent: CachedCursor; past: Past }) {
    this.#runner = runner;
    this.cache = cache;
    this.capacity = capacity;
    this.#parent = fork?.parent ?? null;
    this.#past = fork?.past ?? { prefix: 0, start: 0, own: 0 };
  }

  get length(): number {
    return lengthOf(this.#past);
  }

  get past(): Past {
    return this.#past;
  }

  /** Rows that those of coming passes are grounded on; undefined = all. */
  get sources(): number | undefined {
    return this.#sources;
  }

  /** The slot of the next row. */
  get next(): number {
    return this.#past.start + this.#past.own;
  }

  forward(tree: Tree | DeviceTree): Forward {
    if (!('tokens' in tree)) return this.#runner.forwardDeviceTree(this, tree);
    return this.#runner.forward([{ cursor: this, tree }])[0] as Forward;
  }

  async extend(tokens: readonly number[], options: ExtendOptions = {}): Promise<Forward> {
    const { signal, onProgress, onPass } = options;
    const chunk = Math.min(options.chunk ?? MOST_ROWS, MOST_ROWS);
    if (tokens.length === 0) throw refuse('extend was given no tokens');
    if (!Number.isInteger(chunk) || chunk < 1) throw refuse(`a chunk of ${options.chunk} rows`);
    this.#check(tokens);
    this.#room(tokens.length, tokens.length);
    const last = Math.floor((tokens.length - 1) / chunk) * chunk;
    for (let from = 0; from < last; from += chunk) {
      await this.#runner.prefill(this, chain(tokens.slice(from, from + chunk)), onPass);
      this.#grow(chunk);
      onProgress?.(from + chunk);
      checkAborted(signal);
      this.#use();
    }
    const pass = this.#runner.finish(this, chain(tokens.slice(last)), onPass);
    this.#grow(tokens.length - last);
    onProgress?.(tokens.length);
    return pass;
  }

  /** Checks a tree and opens a pass over it; the token proves later that the pass is still the newest. */
  begin({ tokens, parents }: Tree): number {
    if (tokens.length === 0) throw refuse('a tree without nodes');
    if (tokens.length > MOST_NODES) throw refuse(`a tree of ${tokens.length} nodes; the most is ${MOST_NODES}`);
    if (parents.length !== tokens.length) throw refuse(`${tokens.length} tokens but ${parents.length} parents`);
    parents.forEach((parent, i) => {
      if (!Number.isInteger(parent) || parent < -1 || parent >= i)
        throw refuse(`node ${i} names ${parent} as its parent; an earlier node or -1 is allowed`);
    });
    if (this.cache.extras?.rolloutState && parents.some((parent, i) => parent !== i - 1)) throw chainsOnly();
    this.#check(tokens);
    this.#room(Math.max(...depths(parents)) + 1, tokens.length);
    return ++this.#version;
  }

  /** The same for a tree of this size that only the device knows. */
  beginDeviceTree(nodes: number, levels: number): number {
    if (this.cache.extras?.rolloutState) throw chainsOnly();
    this.#room(levels, nodes);
    return ++this.#version;
  }

  /** Keeps a root-to-leaf path of the pass that `begin` numbered. */
  accept(version: number, { parents }: Tree, path: readonly number[]): void {
    this.#current(version);
    path.forEach((node, i) => {
      const parent = parents[node];
      if (parent === undefined || parent !== (i === 0 ? -1 : path[i - 1]))
        throw refuse(`[${path.join(', ')}] is not a path from a root`);
    });
    const base = this.next;
    const moves = path.map((node, i) => ({ from: base + node, to: base + i })).filter(({ from, to }) => from !== to);
    if (moves.length > 0) this.cache.move(moves);
    this.#grow(path.length);
  }

  /** Keeps what the device decides to keep of the pass that `begin` numbered. */
  async settle(version: number, decide: () => Promise<Verdict>): Promise<Verdict> {
    this.#current(version);
    this.#version++;
    this.#deciding = true;
    try {
      const verdict = await decide();
      this.#grow(verdict.path.length);
      return verdict;
    } finally {
      this.#deciding = false;
    }
  }

  rewind(length: number): void {
    this.#use();
    const { prefix, start, own } = this.#past;
    const lowest = this.#parent?.length ?? 0;
    if (!Number.isInteger(length) || length < lowest || length > prefix + own)
      throw refuse(`rewind to ${length}: the cursor holds ${lowest} to ${prefix + own} rows`);
    this.#past = this.#parent ? { prefix, start, own: length - prefix } : { prefix: length, start: length, own: 0 };
    this.#version++;
  }

  fork(count: number, room: number): readonly CachedCursor[] {
    this.#use();
    if (this.#parent) throw refuse('a fork cannot be forked again', 'Adopt it into its parent first.');
    const { length } = this;
    if (![count, room].every((n) => Number.isInteger(n) && n > 0)) throw refuse(`${count} forks of ${room} rows`);
    const { shared, start, span } = forkSlots(length, room);
    if (start + count * span > this.cache.slots)
      throw refuse(`${count} forks of ${room} rows do not fit this cursor's cache`, 'Set `forks` when opening it.');
    this.#version++;
    const capacity = Math.min(length + room, this.capacity);
    const own = length - shared;
    const moves: Move[] = [];
    for (let i = 0; i < count; i++) {
      const past = { prefix: shared, start: start + i * span, own };
      for (let row = 0; row < own; row++) moves.push({ from: shared + row, to: past.start + row });
      const fork = new CachedCursor(this.#runner, this.cache, capacity, { parent: this, past });
      fork.#sources = this.#sources;
      this.#forks.add(fork);
    }
    this.cache.move(moves);
    return [...this.#forks];
  }

  adopt(fork: Cursor): void {
    const adopted = [...this.#forks].find((known) => known === fork);
    if (!adopted) throw refuse('adopt was given a cursor that is no living fork of this one');
    const { length } = this;
    const first = adopted.#past.start + length - adopted.#past.prefix;
    const rows = adopted.length - length;
    this.cache.move(Array.from({ length: rows }, (_, i) => ({ from: first + i, to: length + i })));
    this.#past = { prefix: length + rows, start: length + rows, own: 0 };
    this.#version++;
    for (const each of this.#forks) each[Symbol.dispose]();
  }

  groundOn(length: number): void {
    this.#use();
    if (!this.cache.extras?.rolloutState) throw refuse('groundOn: this cursor was opened without `rollout`');
    if (!Number.isInteger(length) || length < 0) throw refuse(`grounded on ${length} rows`);
    this.#sources = length;
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const fork of this.#forks) fork[Symbol.dispose]();
    if (this.#parent) this.#parent.#forks.delete(this);
    else this.#runner.closed(this.cache);
  }

  #grow(rows: number): void {
    const { prefix, start, own } = this.#past;
    this.#past = this.#parent
      ? { prefix, start, own: own + rows }
      : { prefix: prefix + rows, start: prefix + rows, own: 0 };
    this.#version++;
  }

  #current(version: number): void {
    this.#use();
    if (version !== this.#version) throw refuse('this pass cannot be accepted: the cursor has moved on since');
  }

  #use(): void {
    if (this.#deciding) throw refuse('the device is deciding on this cursor', 'Await the verdict first.');
    if (this.#disposed) throw refuse('this cursor was disposed');
    if (this.#forks.size > 0) throw refuse('this cursor is frozen while its forks live', 'Dispose them, or adopt one.');
  }

  #check(tokens: readonly Token[]): void {
    const { vocabulary } = this.#runner;
    for (const token of tokens)
      if (typeof token === 'number' && (!Number.isInteger(token) || token < 0 || token >= vocabulary))
        throw refuse(`token ${token} is outside the vocabulary of ${vocabulary}`);
  }

  /** Refuses before anything runs what would not fit: positions for the deepest row, slots for all of them. */
  #room(positions: number, slots: number): void {
    this.#use();
    const { length, capacity } = this;
    if (length + positions > capacity)
      throw refuse(
        `${length} rows and ${positions} more exceed the ${capacity} that this cursor can hold`,
        'Shorten the prompt or open a longer context.',
      );
    const { start, own, prefix } = this.#past;
    const end = this.#parent ? start + capacity - prefix : this.cache.slots;
    if (start + own + slots > end)
      throw refuse(`${length} rows and a tree of ${slots} nodes exceed the ${end - start + prefix} rows of this fork`);
  }
}
