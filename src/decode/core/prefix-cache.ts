// What the models remember between runs. A conversation's next prompt begins with what was computed for the last one,
// so its cursor is rewound to the common prefix instead of opened anew; batch invariance makes that equal bit by bit.
import { refuse } from '../../base/refuse.ts';
import type { Combination, Ensemble, LanguageModel, OpenCursor, OpenEnsemble } from '../../model/interface.ts';
import { commonPrefix } from './common-prefix.ts';
import type { Cursors, Models, OpenOptions, WriterRole } from './system.ts';

interface Remembered {
  readonly cursor: Cursors[Role];
  readonly opened: string;
  /** What the cursor's rows are of; null while a run is using it, since only the run knows. */
  tokens: readonly number[] | null;
}

type Role = keyof Cursors;

/** Tokens that a row is made of beyond its own: an EAGLE-3 row reads the embedding of the next one. */
const ahead = (role: Role): number => (role === 'eagle3' ? 1 : 0);

/** Caches grow by doubling, so that a growing conversation seldom needs a new one. */
const SMALLEST_CACHE = 512;
const MOST_ENSEMBLES = 4;

type Options = OpenOptions & Pick<OpenCursor, 'cache'>;

/** A system that forgets to read the prompt is told so; the prompt's last token may be node 0 of its first tree. */
const expectPrompt = (cursor: Cursors[Role], prompt: readonly number[]): void => {
  if ('expectPrompt' in cursor) cursor.expectPrompt(Math.min(prompt.length - 1, cursor.capacity));
};

export class PrefixCache {
  readonly #held = new Map<Role, Remembered>();
  /** The newest last. */
  readonly #joined = new Map<string, Ensemble>();

  /**
   * A cursor for the rows of prompt and answer, or for as many as the model can hold. It holds as much of the prompt as
   * is known, but at least one row less than all.
   */
  async open<R extends Role>(
    role: R,
    models: Models,
    prompt: readonly number[],
    answer: number,
    { ahead: beyond = 0, ...options }: Options = {},
  ): Promise<Cursors[R]> {
    const model: Models[Role] = models[role];
    if (!model) throw refuse(`no ${role} model is loaded`, 'Load one under that role.');
    const rows = answer + beyond;
    const opened = JSON.stringify(options);
    const held = this.#held.get(role);
    if (held?.opened === opened && held.cursor.capacity >= Math.min(rows, model.context)) {
      const { cursor, tokens } = held;
      const known = Math.min(commonPrefix(tokens ?? [], prompt) - ahead(role), prompt.length - 1);
      // A judge lays its input out itself, and knows what of it has been read.
      if ('rewind' in cursor) cursor.rewind(Math.max(0, Math.min(cursor.length, known)));
      held.tokens = null;
      expectPrompt(cursor, prompt);
      return cursor as Cursors[R];
    }
    this.#forget(role);
    const capacity = Math.min(model.context, 2 ** Math.ceil(Math.log2(Math.max(rows, SMALLEST_CACHE))));
    const cursor = await model.open({ ...options, capacity });
    this.#held.set(role, { cursor, opened, tokens: null });
    expectPrompt(cursor, prompt);
    return cursor as unknown as Cursors[R];
  }

  /** Only the newest few: every combination has buffers of its own. */
  async join(
    members: readonly WriterRole[],
    models: Models,
    combination: Combination,
    options: OpenEnsemble = {},
  ): Promise<Ensemble> {
    const key = JSON.stringify([members, combination, options]);
    const known = this.#joined.get(key);
    this.#joined.delete(key);
    for (const [oldest, ensemble] of [...this.#joined].slice(0, -(MOST_ENSEMBLES - 1))) {
      ensemble[Symbol.dispose]();
      this.#joined.delete(oldest);
    }
    const [first, ...others] = members.map((role) => models[role] as LanguageModel);
    const ensemble = known ?? (await (first as LanguageModel).join(others, combination, options));
    this.#joined.set(key, ensemble);
    return ensemble;
  }

  /** The next run reads all of its prompt; what was opened stays open. */
  unread(): void {
    for (const held of this.#held.values()) {
      held.tokens = [];
      if ('forget' in held.cursor) held.cursor.forget();
    }
  }

  /** After a run: every cursor that it used holds a prefix of these tokens. */
  keep(tokens: readonly number[]): void {
    for (const held of this.#held.values()) held.tokens ??= tokens;
  }

  #forget(role: Role): void {
    this.#held.get(role)?.cursor[Symbol.dispose]();
    this.#held.delete(role);
  }

  /** Frees all caches: the models change, or a run failed and nobody knows what they hold. */
  clear(): void {
    for (const ensemble of this.#joined.values()) ensemble[Symbol.dispose]();
    this.#joined.clear();
    for (const role of [...this.#held.keys()]) this.#forget(role);
  }
}
