// A deterministic language model of order 3 without weights or a GPU: it obeys the whole contract of model.ts, refuses
// every misuse of it, and is quick enough for tens of thousands of runs. Every decoding system is tested on it.
import type { Choice, Cursor, Forward, LanguageModel, Sampling, Tree } from '../model/model.ts';

/** 32 bits to [0, 1), well mixed. */
const hash = (n: number): number => {
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  return ((n ^ (n >>> 16)) >>> 0) / 2 ** 32;
};

const combine = (...values: number[]): number =>
  values.reduce((key, value) => Math.imul(key, 0x9e3779b1) + value + 1, 7);

export interface ToyOptions {
  readonly vocabulary: number;
  /** Logits are `sharpness · hash(last three tokens)`: the same for every model of one vocabulary … */
  readonly sharpness: number;
  /** … plus `noise · hash(…, seed)`, by which a draft differs from its target. */
  readonly noise?: number;
  readonly seed?: number;
  readonly context?: number;
}

export interface ToyModel extends LanguageModel {
  /** Rows scored so far, the measure of work here. */
  readonly rows: number;
}

export const toyModel = (options: ToyOptions): ToyModel => {
  const { vocabulary, sharpness, noise = 0, seed = 0, context = 4096 } = options;
  let scored = 0;

  const logits = (tokens: readonly number[]): Float64Array => {
    const key = combine(...tokens.slice(-3));
    return Float64Array.from(
      { length: vocabulary },
      (_, t) => sharpness * hash(combine(key, t)) + noise * hash(combine(key, t, seed)),
    );
  };

  const logSumExp = (row: Float64Array): number => {
    const highest = Math.max(...row);
    return highest + Math.log(row.reduce((sum, x) => sum + Math.exp(x - highest), 0));
  };

  /** Gumbel-max with noise keyed (seed, position, token): what is drawn does not depend on how many rows a pass has. */
  const draw = (row: Float64Array, position: number, { temperature, seed: key }: Sampling): number => {
    const keyed = Array.from(row, (x, token) => {
      if (temperature === 0) return x;
      const u = hash(combine(key, position, token)) + 2 ** -33;
      return x / temperature - Math.log(-Math.log(u));
    });
    return keyed.indexOf(Math.max(...keyed));
  };

  const open = (cache: number[], capacity: number, nodes: number, released = (): void => {}): Cursor => {
    let version = 0;
    let forks: { readonly cursor: Cursor; readonly rows: readonly number[] }[] = [];
    let disposed = false;
    const use = (rows: number): void => {
      if (disposed) throw new Error('toy cursor: used after it was disposed');
      if (forks.length > 0) throw new Error('toy cursor: used while its forks live');
      if (cache.length + rows > capacity)
        throw new Error(`toy cursor: ${cache.length} + ${rows} rows exceed ${capacity}`);
    };

    const pass = ({ tokens, parents }: Tree, before: readonly number[], committed: boolean): Forward => {
      const made = ++version;
      scored += committed ? 1 : tokens.length;
      const ancestry = (node: number): number[] =>
        node < 0 ? [] : [...ancestry(parents[node] as number), tokens[node] as number];
      const contexts = tokens.map((_, node) => [...before, ...ancestry(node)]);
      const rows = contexts.map(logits);
      const rowOf = (row: number): Float64Array => {
        const found = rows[row];
        if (!found) throw new Error(`toy pass: row ${row} of ${rows.length}`);
        return found;
      };
      const choice = (row: Float64Array, token: number): Choice => ({
        token,
        logprob: (row[token] as number) - logSumExp(row),
      });
      return {
        rows: rows.length,
        logits: { rows: rows.length, read: async () => Float32Array.from(rows.flatMap((row) => [...row])) },
        taps: [],
        draw: (row, sampling) => ({
          rows: 1,
          read: async () => {
            await new Promise((resolve) => setImmediate(resolve)); // a readback lets other events in, as a device's does
            return [choice(rowOf(row), draw(rowOf(row), contexts[row]?.length ?? 0, sampling))];
          },
        }),
        top: async (row, n) =>
          Array.from(rowOf(row), (_, token) => choice(rowOf(row), token))
            .sort((a, b) => b.logprob - a.logprob || a.token - b.token)
            .slice(0, n),
        accept(path) {
          if (committed || made !== version) throw new Error('toy pass: accepted twice, or after a later pass');
          path.forEach((node, i) => {
            if (parents[node] !== (i === 0 ? -1 : path[i - 1]))
              throw new Error(`toy pass: [${path}] is not a root path`);
          });
          version++;
          cache.push(...path.map((node) => tokens[node] as number));
        },
      };
    };

    return {
      get length() {
        return cache.length;
      },
      capacity,
      async extend(tokens, { signal, chunk = 16, onProgress } = {}) {
        if (tokens.length === 0) throw new Error('toy cursor: extended by nothing');
        use(tokens.length);
        for (let start = 0; start < tokens.length; start += chunk) {
          signal?.throwIfAborted();
          const rows = tokens.slice(start, start + chunk);
          cache.push(...rows);
          scored += rows.length;
          onProgress?.(Math.min(tokens.length, start + chunk));
        }
        return pass({ tokens: cache.slice(-1), parents: [-1] }, cache.slice(0, -1), true);
      },
      forward(tree) {
        use(tree.tokens.length);
        if (tree.tokens.length > nodes) throw new Error(`toy cursor: a tree of more than ${nodes} nodes`);
        return pass(tree, [...cache], false);
      },
      rewind(length) {
        use(0);
        if (length > cache.length) throw new Error(`toy cursor: rewound forward, ${cache.length} to ${length}`);
        version++;
        cache.length = length;
      },
      fork(count, room) {
        use(0);
        forks = Array.from({ length: count }, () => {
          const rows = [...cache];
          const cursor = open(rows, cache.length + room, nodes, () => {
            forks = forks.filter((fork) => fork.cursor !== cursor);
          });
          return { cursor, rows };
        });
        return forks.map(({ cursor }) => cursor);
      },
      adopt(fork) {
        const adopted = forks.find(({ cursor }) => cursor === fork);
        if (!adopted) throw new Error('toy cursor: adopted a cursor that is no living fork of it');
        for (const { cursor } of forks) cursor[Symbol.dispose]();
        cache.push(...adopted.rows.slice(cache.length));
        version++;
      },
      [Symbol.dispose]() {
        disposed = true;
        released();
      },
    };
  };

  return {
    family: 'toy',
    vocabulary,
    hidden: 0,
    layers: 0,
    context,
    bytes: 0,
    get rows() {
      return scored;
    },
    batchInvariant: true,
    open: async ({ capacity = context, nodes = 16 } = {}) => open([], capacity, nodes),
    forward: (batch) => batch.map(({ cursor, tree }) => cursor.forward(tree)),
    [Symbol.dispose]() {},
  };
};
