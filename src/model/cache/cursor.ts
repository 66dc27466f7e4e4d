// One model's cached view of one sequence: which slots hold its rows, and what may become of them. A pass writes the
// slots after those rows and is forgotten unless a path is accepted. No other file does cache arithmetic.

import { checkAborted } from '../../base/errors.ts';
import { MOST_ROWS } from '../../base/pass-rows.ts';
import { refuse } from '../../base/refuse.ts';
import type { Move } from '../../kernels/cache/compact.ts';
import { chain, checkPath, checkPrompt, checkRoom, checkTokens, checkTree, movedOn, notChain } from '../check-tree.ts';
import type { Cursor, DeviceTree, ExtendOptions, Forward, TextRules, Token, Tree, Verdict } from '../interface.ts';
import type { AdjustedText } from '../sampling/adjusted-text.ts';
import type { Cache } from './kv-cache.ts';
import { forkSlots } from './slots.ts';
import { lengthOf, type Past } from './visibility.ts';

/** A pass, and its last row by itself. */
export interface CursorPass extends Forward {
  /** For `extend`, which has committed the rows: nothing of it can be accepted. */
  lastRow(): Forward;
}

/** What a cursor needs of its model. */
export interface Runner {
  readonly vocabulary: number;
  /** Scores trees of cursors that share one cache: all rows of them, the last one, or none. */
  forward(
    batch: readonly { readonly cursor: Cursor; readonly tree: Tree | DeviceTree }[],
    logits?: 'all' | 'last' | 'none',
  ): readonly CursorPass[];
  /** Computes rows of this past anew that a pass after it would lack. */
  renew(cache: Cache, past: Past): void;
  /** Submits what was recorded, and waits for what was submitted before it. */
  submitted(): Promise<void>;
  /** Rules for the logits of passes over this cache. */
  adjusted(rules: TextRules, cache: Cache): Promise<AdjustedText>;
  /** Commands that use memory must be submitted before it is freed. */
  flush(): void;
  /** The cursor that owned this cache is gone. */
  closed(cache: Cache): void;
}

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
  /** Rows that the sequence is known to have at the end, or 0. */
  readonly #known: number;
  #sequence: number;
  /** Rows of the prompt that must be committed before a tree is scored. */
  #prompt = 0;
  /** The token after the last committed row, as the newest verdict has it; null when the past has changed since. */
  #anchor: number | null = null;
  /** A verdict is awaited: how far the past reaches is not known yet. */
  #deciding = false;
  #disposed = false;
  #adjusted: AdjustedText | null = null;
  /** Tokens of the rows at the end that the text of the rules does not have yet. */
  #unread: Token[] = [];

  /** `known`: see OpenCursor.length. */
  constructor(
    runner: Runner,
    cache: Cache,
    capacity: number,
    known: number,
    fork?: { parent: CachedCursor; past: Past },
  ) {
    this.#known = known;
    this.#sequence = known;
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

  /** The rows of later passes are grounded on rows at positions below this; undefined: on all. */
  get sources(): number | undefined {
    return this.#sources;
  }

  /** Rows that the sequence of the next pass will have: of a prompt that is being read, all. */
  get sequence(): number {
    return this.#sequence;
  }

  get levels(): number {
    return this.cache.longRope?.levels(this.#past) ?? Number.POSITIVE_INFINITY;
  }

  /** The rules for the logits of its passes. */
  get adjusted(): AdjustedText | null {
    return this.#adjusted;
  }

  /** The tokens of its last rows that are not in the text of the rules: drafts that it has read. */
  get unread(): readonly Token[] {
    const count = Math.max(0, this.length - (this.#adjusted?.length ?? this.length));
    return this.#unread.slice(this.#unread.length - count);
  }

  /** The slot of the next row. */
  get next(): number {
    return this.#past.start + this.#past.own;
  }

  forward(tree: Tree | DeviceTree): Forward {
    return this.#pass(tree);
  }

  #pass(tree: Tree | DeviceTree, logits: 'all' | 'last' | 'none' = 'all'): CursorPass {
    return this.#runner.forward([{ cursor: this, tree }], logits)[0] as CursorPass;
  }

  async extend(tokens: readonly number[], options: ExtendOptions = {}): Promise<Forward> {
    const { signal, onProgress, onPass } = options;
    const { promptRows } = this.cache;
    const chunk = Math.min(options.chunk ?? promptRows, promptRows);
    /** What does not fill a pass of a prompt is not padded to one; and the last row, which is scored, is in a smaller one. */
    const partOf = (left: number): number => (left <= chunk ? Math.min(left, MOST_ROWS) : chunk);
    if (tokens.length === 0) throw refuse('extend was given no tokens');
    if (!Number.isInteger(chunk) || chunk < 1) throw refuse(`a chunk of ${options.chunk} rows`);
    checkTokens(tokens, this.#runner.vocabulary);
    this.#room(tokens.length, tokens.length);
    this.#sequence = Math.max(this.#known, this.length + tokens.length);
    try {
      for (let from = 0; ; ) {
        const part = tokens.slice(from, from + partOf(tokens.length - from));
        from += part.length;
        const last = from === tokens.length;
        const pass = this.#pass(chain(part), last ? 'last' : 'none');
        onPass?.(pass);
        pass.accept(part.map((_, node) => node));
        if (last) {
          onProgress?.(tokens.length);
          return pass.lastRow();
        }
        await this.#runner.submitted();
        onProgress?.(from);
        checkAborted(signal);
        this.#use();
      }
    } finally {
      this.#sequence = this.#known;
    }
  }

  /**
   * Checks a tree and opens a pass over it; the number shows later whether the pass is still the newest. `commits`: the
   * rows are text that is committed at once, so the rules for drafts do not apply.
   */
  begin(tree: Tree, { nodes, commits }: { readonly nodes: number; readonly commits: boolean }): number {
    this.#use();
    const { vocabulary } = this.#runner;
    const { length, capacity } = this;
    const prompt = commits ? 0 : this.#prompt;
    const anchor = commits ? null : this.#anchor;
    const chainsOnly = this.cache.rolloutState !== null;
    checkTree(tree, { vocabulary, nodes, length, capacity, prompt, anchor, chainsOnly });
    this.#slots(tree.tokens.length);
    return ++this.#version;
  }

  /** The same for a tree of this size that only the device knows. */
  beginDeviceTree(nodes: number, levels: number): number {
    if (this.cache.rolloutState) throw notChain();
    checkPrompt({ length: this.length, prompt: this.#prompt });
    this.#room(levels, nodes);
    return ++this.#version;
  }

  /** Keeps a root-to-leaf path of the pass that `begin` numbered. */
  accept(version: number, tree: Tree, path: readonly number[]): void {
    this.#current(version);
    checkPath(tree, path);
    const base = this.next;
    const moves = path.map((node, i) => ({ from: base + node, to: base + i })).filter(({ from, to }) => from !== to);
    if (moves.length > 0) this.cache.move(moves);
    if (this.#adjusted) this.#unread = [...this.unread, ...path.map((node) => tree.tokens[node] as Token)];
    this.#grow(path.length);
  }

  /** Has the device choose a path of the pass that `begin` numbered, and keeps it. */
  async keepVerdict(version: number, decide: () => Promise<Verdict>): Promise<Verdict> {
    this.#current(version);
    this.#version++;
    this.#deciding = true;
    try {
      const verdict = await decide();
      if (this.#adjusted) this.#unread = verdict.path.map((node) => verdict.tokens[node] as number);
      this.#grow(verdict.path.length);
      this.#anchor = verdict.choices.at(-1)?.token ?? null;
      return verdict;
    } finally {
      this.#deciding = false;
    }
  }

  rewind(length: number): void {
    this.#use();
    const { prefix, own } = this.#past;
    const lowest = this.#parent?.length ?? 0;
    if (!Number.isInteger(length) || length < lowest || length > prefix + own)
      throw refuse(`rewind to ${length}: the cursor holds ${lowest} to ${prefix + own} rows`);
    this.#unread = this.#unread.slice(0, Math.max(0, this.#unread.length - (this.length - length)));
    this.#past = this.#parent ? { ...this.#past, own: length - prefix } : { prefix: length, start: length, own: 0 };
    this.#moved();
  }

  keeps(length: number): boolean {
    const { ring } = this.cache;
    return this.#parent !== null || !ring || ring.stale({ prefix: length, start: length, own: 0 }).length === 0;
  }

  expectPrompt(rows: number): void {
    this.#prompt = rows;
  }

  async adjust(rules: TextRules | null): Promise<void> {
    this.#use();
    this.#letGoOfRules();
    if (rules) this.#adjusted = await this.#runner.adjusted(rules, this.cache);
  }

  fork(count: number, room: number): readonly CachedCursor[] {
    this.#use();
    if (this.#adjusted) throw refuse('forks of a cursor whose logits are adjusted', 'Call adjust(null) first.');
    if (this.#parent) throw refuse('a fork cannot be forked again', 'Adopt it into its parent first.');
    const { length } = this;
    if (![count, room].every((n) => Number.isInteger(n) && n > 0)) throw refuse(`${count} forks of ${room} rows`);
    const { shared, start, span } = forkSlots(length, room);
    const { forks } = this.cache.options;
    // Layers with a window, or with states, have places for the forks that the cursor was opened for, and no others.
    const most = this.cache.ring || this.cache.states ? forks.count : count;
    const rows = this.cache.ring ? forks.room : room;
    if (start + count * span > this.cache.slots || count > most || room > rows)
      throw refuse(`${count} forks of ${room} rows do not fit this cursor's cache`, 'Set `forks` when opening it.');
    this.#version++;
    this.#runner.renew(this.cache, this.#past); // a fork that did so would take the places of its siblings' rows
    const numbers = Array.from({ length: count }, (_, i) => i + 1);
    this.cache.states?.fork(this.#past, numbers);
    const capacity = Math.min(length + room, this.capacity);
    const own = length - shared;
    const moves: Move[] = [];
    for (let i = 0; i < count; i++) {
      const past = { prefix: shared, start: start + i * span, own, state: i + 1 };
      for (let row = 0; row < own; row++) moves.push({ from: shared + row, to: past.start + row });
      const fork = new CachedCursor(this.#runner, this.cache, capacity, this.#known, { parent: this, past });
      fork.#sources = this.#sources;
      this.#forks.add(fork);
    }
    this.cache.move(moves);
    return [...this.#forks];
  }

  adopt(fork: Cursor): void {
    const adopted = [...this.#forks].find((known) => known === fork);
    if (!adopted) throw refuse('adopt was given a cursor that is no living fork of this one');
    this.cache.states?.adopt(adopted.#past);
    const { length } = this;
    const first = adopted.#past.start + length - adopted.#past.prefix;
    const rows = adopted.length - length;
    this.cache.move(Array.from({ length: rows }, (_, i) => ({ from: first + i, to: length + i })));
    this.#past = { prefix: length + rows, start: length + rows, own: 0 };
    this.#moved();
    for (const each of this.#forks) each[Symbol.dispose]();
  }

  groundOn(length: number): void {
    this.#use();
    if (!this.cache.rolloutState) throw refuse('groundOn: this cursor was opened without `rollout`');
    if (!Number.isInteger(length) || length < 0) throw refuse(`grounded on ${length} rows`);
    this.#sources = length;
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const fork of this.#forks) fork[Symbol.dispose]();
    this.#letGoOfRules();
    if (this.#parent) this.#parent.#forks.delete(this);
    else this.#runner.closed(this.cache);
  }

  #letGoOfRules(): void {
    if (!this.#adjusted) return;
    this.#runner.flush();
    this.#adjusted[Symbol.dispose]();
    this.#adjusted = null;
    this.#unread = [];
  }

  #grow(rows: number): void {
    const { prefix, own } = this.#past;
    this.#past = this.#parent
      ? { ...this.#past, own: own + rows }
      : { prefix: prefix + rows, start: prefix + rows, own: 0 };
    this.#moved();
  }

  /** The past has changed: no earlier pass can be accepted, and the last committed token is not known. */
  #moved(): void {
    this.#version++;
    this.#anchor = null;
  }

  #current(version: number): void {
    this.#use();
    if (version !== this.#version) throw movedOn();
  }

  #use(): void {
    if (this.#deciding) throw refuse('the device is deciding on this cursor', 'Await the verdict first.');
    if (this.#disposed) throw refuse('this cursor was disposed');
    if (this.#forks.size > 0) throw refuse('this cursor is frozen while its forks live', 'Dispose them, or adopt one.');
  }

  /** Refuses what would not fit, before anything runs: positions for the deepest row, slots for all rows. */
  #room(positions: number, slots: number): void {
    this.#use();
    checkRoom(this, positions);
    this.#slots(slots);
  }

  #slots(slots: number): void {
    const { length, capacity } = this;
    const { start, own, prefix } = this.#past;
    const end = this.#parent ? start + capacity - prefix : this.cache.slots;
    if (start + own + slots > end)
      throw refuse(`${length} rows and a tree of ${slots} nodes exceed the ${end - start + prefix} rows of this fork`);
  }
}
