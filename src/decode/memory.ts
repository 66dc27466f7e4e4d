// What the models remember between runs. A conversation's next prompt begins with what was computed for the last one,
// so its cursor is rewound to the common prefix instead of opened anew; batch invariance makes that equal bit by bit.
import { OutriderError } from '../errors.ts';
import type { Cursor, OpenCursor } from '../model/model.ts';
import type { ModelRole, Models } from './system.ts';

interface Remembered {
  readonly cursor: Cursor;
  readonly opened: string;
  /** What the cursor's rows are of; empty while a run is using it, since only the run knows. */
  tokens: readonly number[];
}

const commonPrefix = (a: readonly number[], b: readonly number[]): number => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
};

/** Caches grow by doubling, so that a growing conversation seldom needs a new one. */
const SMALLEST_CACHE = 512;

export class Memory {
  readonly #held = new Map<ModelRole, Remembered>();

  /** A cursor for `rows` rows that holds as much of the prompt as is known, but at least one row less than all. */
  async open(
    role: ModelRole,
    models: Models,
    prompt: readonly number[],
    rows: number,
    options: Pick<OpenCursor, 'tapLayers' | 'cache'> = {},
  ): Promise<Cursor> {
    const model = models[role];
    if (!model) throw new OutriderError('bad-request', `no ${role} model is loaded`, 'Load one under that role.');
    const opened = JSON.stringify(options);
    const held = this.#held.get(role);
    if (held?.opened === opened && held.cursor.capacity >= rows) {
      const { cursor, tokens } = held;
      cursor.rewind(Math.min(cursor.length, commonPrefix(tokens, prompt), prompt.length - 1));
      held.tokens = [];
      return cursor;
    }
    this.#forget(role);
    const capacity = Math.min(model.context, 2 ** Math.ceil(Math.log2(Math.max(rows, SMALLEST_CACHE))));
    const cursor = await model.open({ ...options, capacity });
    this.#held.set(role, { cursor, opened, tokens: [] });
    return cursor;
  }

  /** After a run: every cursor holds a prefix of these tokens. */
  keep(tokens: readonly number[]): void {
    for (const held of this.#held.values()) held.tokens = tokens;
  }

  #forget(role: ModelRole): void {
    this.#held.get(role)?.cursor[Symbol.dispose]();
    this.#held.delete(role);
  }

  /** Frees all caches: the models change, or a run failed and nobody knows what they hold. */
  clear(): void {
    for (const role of [...this.#held.keys()]) this.#forget(role);
  }
}
