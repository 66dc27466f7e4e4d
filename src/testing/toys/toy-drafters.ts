// Drafters that read a toy model's taps: one fills a block at once, the other drafts token by token. They continue a
// text as the target would, with noise of their own, and refuse rows that do not continue the rows they have.
import { keptDrafts } from '../../decode/speculative/markov-drafter.ts';
import type {
  BlockCursor,
  BlockDrafter,
  Choice,
  FeatureCursor,
  FeatureDrafter,
  Forward,
  MarkovCursor,
  MarkovDrafter,
  Sampling,
  Token,
  TreeShape,
} from '../../model/interface.ts';
import { type TapRow, type ToyDistribution, type ToyTree, tapRows, toyLogits } from './toy-model.ts';
import { type ToyTokenRing, toyChoice } from './toy-token-ring.ts';

interface DrafterOptions extends ToyDistribution {
  readonly tokenRing: ToyTokenRing;
  readonly context?: number;
}

const TAP_LAYERS = [1, 3];

/** The rows of a target's pass, which must be the next ones of one text. */
const nextRows = (known: readonly TapRow[], { taps }: Pick<Forward, 'taps'>, rows: readonly number[]): TapRow[] => {
  const [tap] = taps;
  if (!tap || taps.length !== TAP_LAYERS.length) throw new Error(`toy drafter: ${taps.length} taps`);
  const all = tapRows(tap);
  const text = known.map(({ tokens }) => tokens.at(-1) as number);
  return rows.map((index, i) => {
    const row = all[index];
    if (!row) throw new Error(`toy drafter: row ${index} of ${all.length}`);
    text.push(row.tokens.at(-1) as number);
    const expected = text.slice(0, known.length + i + 1).slice(-3);
    if (row.position !== known.length + i || row.tokens.join() !== expected.join())
      throw new Error(`toy drafter: row ${known.length + i} does not continue the text`);
    return row;
  });
};

const common = ({ context = 4096 }: DrafterOptions) =>
  ({ family: 'toy', tapLayers: TAP_LAYERS, context, bytes: 0, [Symbol.dispose]() {} }) as const;

/** Of `known` rows; forgets what lies after. */
const rewind = (known: unknown[], length: number): void => {
  if (length > known.length) throw new Error(`toy drafter: rewound forward, ${known.length} to ${length}`);
  known.length = length;
};

const most = (logits: readonly number[]): number => logits.indexOf(Math.max(...logits));

export const toyBlockDrafter = (options: DrafterOptions, blockSize = 6): BlockDrafter => ({
  ...common(options),
  kind: 'dflash',
  blockSize,
  ids: null,
  async open({ capacity = options.context ?? 4096 } = {}): Promise<BlockCursor> {
    const known: TapRow[] = [];
    const { tokenRing } = options;
    return {
      get length() {
        return known.length;
      },
      capacity,
      append(pass, rows) {
        if (known.length + rows.length > capacity) throw new Error('toy drafter: full');
        known.push(...nextRows(known, pass, rows));
      },
      draft(anchor, size) {
        if (known.length + size > capacity) throw new Error('toy drafter: a block beyond its capacity');
        const text = [...(known.at(-1)?.tokens ?? []), tokenRing.take(anchor)];
        // A row knows the context and its position, not what was drawn at the rows before it: the likeliest tokens
        // stand in.
        const rows = Array.from({ length: size - 1 }, () => {
          const logits = toyLogits(options, text);
          text.push(most(logits));
          return logits;
        });
        const rowOf = (row: number): number[] => {
          const found = rows[row - 1];
          if (!found) throw new Error(`toy drafter: row ${row} of a block of ${size}`);
          return found;
        };
        const { length } = known;
        return {
          rows: size,
          logits: { rows: size, read: async () => Float32Array.from(rows.flat()) },
          draw: (row, sampling, { distribution = false } = {}) =>
            tokenRing.draw(rowOf(row), length + row, sampling, distribution),
          top: async (of, n) =>
            of.map((row) =>
              rowOf(row)
                .map((_, token) => toyChoice(rowOf(row), token))
                .sort((a, b) => b.logprob - a.logprob)
                .slice(0, n),
            ),
        };
      },
      rewind: (length) => rewind(known, length),
      [Symbol.dispose]() {},
    };
  },
});

/** Every row knows the token drafted before it; it is the surer, the more probable its likeliest token is. */
export const toyMarkovDrafter = (options: DrafterOptions, drafts = 6): MarkovDrafter => ({
  ...common(options),
  kind: 'dspark',
  drafts,
  blockSize: drafts,
  confident: true,
  ids: null,
  async open({ capacity = options.context ?? 4096 } = {}): Promise<MarkovCursor> {
    const known: TapRow[] = [];
    const { tokenRing } = options;
    const walk = (anchor: Token, count: number, sampling: Sampling) => {
      if (known.length + count > capacity) throw new Error('toy drafter: a block beyond its capacity');
      const text = [...(known.at(-1)?.tokens ?? []), tokenRing.take(anchor)];
      const distribution = sampling.temperature > 0;
      return Array.from({ length: count }, (_, i) => {
        const logits = toyLogits(options, text);
        const drawn = tokenRing.draw(logits, known.length + i + 1, sampling, distribution);
        text.push(tokenRing.take(drawn.token));
        return { logits, drawn };
      });
    };
    const logitsOf = (rows: readonly { readonly logits: readonly number[] }[]) => ({
      rows: rows.length,
      read: async () => Float32Array.from(rows.flatMap(({ logits }) => logits)),
    });
    const sure = (rows: readonly { readonly logits: readonly number[] }[]): number[] =>
      rows.map(({ logits }) => Math.exp(0.3 * toyChoice(logits, most(logits)).logprob));
    const greedy: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };
    return {
      get length() {
        return known.length;
      },
      capacity,
      append(pass, rows) {
        if (known.length + rows.length > capacity) throw new Error('toy drafter: full');
        known.push(...nextRows(known, pass, rows));
      },
      draft(anchor, count, sampling) {
        const rows = walk(anchor, count, sampling);
        const distributions = rows.flatMap(({ drawn }) => drawn.distribution ?? []);
        return {
          tokens: rows.map(({ drawn }) => drawn.token),
          distributions: sampling.temperature > 0 ? distributions : null,
          logits: logitsOf(rows),
          async confidences() {
            tokenRing.looks++;
            return sure(rows);
          },
          limit: (rule) => ({ limit: 1 + keptDrafts(sure(rows), rule) }),
        };
      },
      base: (anchor, count) => logitsOf(walk(anchor, count, greedy)),
      rewind: (length) => rewind(known, length),
      [Symbol.dispose]() {},
    };
  },
});

export const toyFeatureDrafter = (
  options: DrafterOptions,
  kind: FeatureDrafter['kind'] = 'eagle3',
): FeatureDrafter => ({
  ...common(options),
  kind,
  ids: Array.from({ length: options.vocabulary }, (_, token) => token),
  deepest,
  async open({ capacity = options.context ?? 4096 } = {}): Promise<FeatureCursor> {
    const known: (TapRow & { readonly next: number })[] = [];
    const { tokenRing } = options;
    const newest = (): readonly number[] => {
      const last = known.at(-1);
      return last ? [...last.tokens, last.next] : [];
    };
    return {
      get length() {
        return known.length;
      },
      capacity,
      append(pass, rows, next: readonly Token[]) {
        if (rows.length !== next.length) throw new Error(`toy drafter: ${rows.length} rows, ${next.length} tokens`);
        if (known.length + rows.length > capacity) throw new Error('toy drafter: full');
        for (const [i, row] of nextRows(known, pass, rows).entries()) {
          const before = known.at(-1)?.next;
          if (before !== undefined && before !== row.tokens.at(-1))
            throw new Error(`toy drafter: row ${known.length} is another token than was announced`);
          known.push({ ...row, next: tokenRing.take(next[i] as Token) });
        }
      },
      chain(depth: number, sampling: Sampling) {
        if (known.length + depth > capacity) throw new Error('toy drafter: a chain beyond its capacity');
        const text = [...newest()];
        const distribution = sampling.temperature > 0;
        const drawn = Array.from({ length: depth }, (_, i) => {
          const draft = tokenRing.draw(toyLogits(options, text), known.length + i + 1, sampling, distribution);
          text.push(tokenRing.take(draft.token));
          return draft;
        });
        return {
          tokens: drawn.map(({ token }) => token),
          distributions: distribution ? drawn.flatMap((draft) => draft.distribution ?? []) : null,
          logits: { rows: 1, read: async () => Float32Array.from(toyLogits(options, text.slice(0, -1))) },
        };
      },
      async chainWhile(depth, n, more) {
        if (known.length + depth > capacity) throw new Error('toy drafter: a chain beyond its capacity');
        const text = [...newest()];
        const places: Choice[][] = [];
        for (;;) {
          const logits = toyLogits(options, text);
          const choices = logits.map((_, token) => toyChoice(logits, token));
          const best = choices.toSorted((a, b) => b.logprob - a.logprob || a.token - b.token).slice(0, n);
          places.push(best);
          tokenRing.looks++;
          if (places.length === depth || !more(best)) return places;
          text.push((best[0] as Choice).token);
        }
      },
      tree(anchor, shape) {
        if (shape.depth > deepest(shape.width)) throw new Error(`toy drafter: a tree of depth ${shape.depth}`);
        if (known.length + shape.depth > capacity) throw new Error('toy drafter: a tree beyond its capacity');
        if (tokenRing.take(anchor) !== known.at(-1)?.next)
          throw new Error('toy drafter: not the anchor that was announced');
        const tree = growTree(options, newest(), shape);
        return { nodes: tree.tokens.length, device: tree };
      },
      rewind: (length) => rewind(known, length),
      [Symbol.dispose]() {},
    };
  },
});

/** Little, so that tests reach it. */
const deepest = (width: number): number => Math.floor(24 / width);

interface Leaf {
  readonly text: readonly number[];
  readonly parent: Leaf | null;
  readonly score: number;
}

/** The most probable continuations of a beam, level by level, and of all of them the best. */
const growTree = (
  distribution: ToyDistribution,
  text: readonly number[],
  { depth, width, nodes }: TreeShape,
): ToyTree => {
  const best = (leaves: Leaf[], count: number): Leaf[] => leaves.toSorted((a, b) => b.score - a.score).slice(0, count);
  const grow = (parent: Leaf): Leaf[] => {
    const logits = toyLogits(distribution, parent.text);
    const children = logits.map((_, token) => {
      const { logprob } = toyChoice(logits, token);
      return { text: [...parent.text, token], parent, score: parent.score + logprob };
    });
    return best(children, width);
  };
  const root: Leaf = { text, parent: null, score: 0 };
  const all: Leaf[] = [];
  let beam = [root];
  for (let level = 0; level < depth; level++) {
    const grown = beam.flatMap(grow);
    all.push(...grown);
    beam = best(grown, width);
  }
  // Never better than its parent, so parents come first among equals too: they were grown earlier.
  const kept = [root, ...best(all, nodes)].sort((a, b) => a.text.length - b.text.length || b.score - a.score);
  return {
    tokens: kept.map((leaf) => leaf.text.at(-1) as number),
    parents: kept.map(({ parent }) => (parent ? kept.indexOf(parent) : -1)),
    drafted: kept.map(({ parent, score }) => parent && Math.exp(score - parent.score)),
  };
};
