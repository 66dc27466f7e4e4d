// The cursors and ensembles that stay open between runs. A conversation's next prompt begins with the text of the last
// run, so its cursor is rewound to the common prefix and reads the rest only. Batch invariance makes the result equal
// bit by bit to that of a new cursor.
import { refuse } from '../../base/refuse.ts';
import type { Combination, Ensemble, LanguageModel, OpenCursor, OpenEnsemble } from '../../model/interface.ts';
import { commonPrefix } from './common-prefix.ts';
import { openFitting } from './open-fitting.ts';
import type { Cursors, Models, OpenOptions, WriterRole } from './system.ts';

interface OpenedCursor {
  readonly cursor: Cursors[Role];
  readonly opened: string;
  /** The tokens of the cursor's rows; null while a run uses it, because only the run knows. */
  tokens: readonly number[] | null;
}

type Role = keyof Cursors;

/** Tokens after its own that a row depends on: a row of EAGLE-3 or MTP reads the embedding of the next token. */
const ahead = (role: Role): number => (role === 'eagle3' || role === 'mtp' ? 1 : 0);

/** Capacities are powers of two from here, so that a growing conversation seldom needs a new cache. */
const SMALLEST_CACHE = 512;
const MOST_ENSEMBLES = 4;

type Options = OpenOptions & Pick<OpenCursor, 'cache'>;

/**
 * A system that decodes before it has read the prompt is an error. The prompt's last token may be node 0 of its first
 * tree.
 */
const expectPrompt = (cursor: Cursors[Role], prompt: readonly number[]): void => {
  if ('expectPrompt' in cursor) cursor.expectPrompt(Math.min(prompt.length - 1, cursor.capacity));
};

type Rewindable = Pick<Cursors['target'], 'rewind'> & Partial<Pick<Cursors['target'], 'keeps'>>;

/** Where rows are gone that a window sees, the whole prompt is read: that has progress, and can be cancelled. */
export const rewindTo = (cursor: Rewindable, rows: number): void =>
  cursor.rewind(cursor.keeps?.(rows) === false ? 0 : rows);

/** Rows of a cache that holds these, and what a growing conversation adds to them. */
export const roomyRows = (rows: number, context: number): number =>
  Math.min(context, 2 ** Math.ceil(Math.log2(Math.max(rows, SMALLEST_CACHE))));

export class PrefixCache {
  readonly #cursors = new Map<Role, OpenedCursor>();
  /** In the order of their last use. */
  readonly #ensembles = new Map<string, Ensemble>();

  /**
   * A cursor with room for `rows`, which are prompt and answer together, or for as many as the model can hold. It already
   * holds the part of the prompt that is known from an earlier run, but never its last row.
   */
  async open<R extends Role>(
    role: R,
    models: Models,
    prompt: readonly number[],
    rows: number,
    { ahead: beyond = 0, ...options }: Options = {},
  ): Promise<Cursors[R]> {
    const model: Models[Role] = models[role];
    if (!model) throw refuse(`no ${role} model is loaded`, 'Load one under that role.');
    const needed = rows + beyond;
    const opened = JSON.stringify(options);
    const known = this.#cursors.get(role);
    if (known?.opened === opened && known.cursor.capacity >= Math.min(needed, model.context)) {
      const { cursor, tokens } = known;
      const kept = Math.min(commonPrefix(tokens ?? [], prompt) - ahead(role), prompt.length - 1);
      // A judge's cursor lays out its input itself, and keeps account of what it has read.
      if ('rewind' in cursor) rewindTo(cursor, Math.max(0, Math.min(cursor.length, kept)));
      known.tokens = null;
      expectPrompt(cursor, prompt);
      return cursor as Cursors[R];
    }
    this.#forget(role);
    const least = Math.min(needed, model.context);
    const cursor = await openFitting((how) => model.open({ ...options, ...how }) as Promise<Cursors[Role]>, {
      capacities: [roomyRows(needed, model.context), least],
      cache: options.cache,
      answerAt: (capacity) => capacity - beyond - prompt.length,
      freeOthers: () => this.#forgetIdle(),
    });
    this.#cursors.set(role, { cursor, opened, tokens: null });
    expectPrompt(cursor, prompt);
    return cursor as unknown as Cursors[R];
  }

  /** Only the latest few stay open, because every combination has buffers of its own. */
  async join(
    members: readonly WriterRole[],
    models: Models,
    combination: Combination,
    options: OpenEnsemble = {},
  ): Promise<Ensemble> {
    const key = JSON.stringify([members, combination, options]);
    const known = this.#ensembles.get(key);
    this.#ensembles.delete(key);
    for (const [oldest, ensemble] of [...this.#ensembles].slice(0, -(MOST_ENSEMBLES - 1))) {
      ensemble[Symbol.dispose]();
      this.#ensembles.delete(oldest);
    }
    const [first, ...others] = members.map((role) => models[role] as LanguageModel);
    const ensemble = known ?? (await (first as LanguageModel).join(others, combination, options));
    this.#ensembles.set(key, ensemble);
    return ensemble;
  }

  /** Makes the next run read all of its prompt. Cursors stay open. */
  unread(): void {
    for (const open of this.#cursors.values()) {
      open.tokens = [];
      if ('forget' in open.cursor) open.cursor.forget();
    }
  }

  /** Call it after a run: every cursor that the run used holds a prefix of these tokens. */
  keep(tokens: readonly number[]): void {
    for (const open of this.#cursors.values()) open.tokens ??= tokens;
  }

  /** Frees the cursors that the run has not opened. */
  #forgetIdle(): void {
    for (const [role, { tokens }] of this.#cursors) if (tokens !== null) this.#forget(role);
  }

  #forget(role: Role): void {
    this.#cursors.get(role)?.cursor[Symbol.dispose]();
    this.#cursors.delete(role);
  }

  /** Frees everything: the models change, or a failed run left caches in an unknown state. */
  clear(): void {
    for (const ensemble of this.#ensembles.values()) ensemble[Symbol.dispose]();
    this.#ensembles.clear();
    for (const role of [...this.#cursors.keys()]) this.#forget(role);
  }
}
