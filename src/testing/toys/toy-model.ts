// A deterministic language model of order 3 without weights or a GPU: it keeps the whole contract of interface.ts,
// refuses misuse as the device does (model/check-tree.ts), and is quick enough for tens of thousands of runs. Every
// decoding system is tested on it.

import { adjustReference } from '../../kernels/sampling/adjust-logits.reference.ts';
import { drawAllowedReference } from '../../kernels/sampling/draw-allowed.reference.ts';
import { isAllowed } from '../../kernels/sampling/draw-allowed.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import {
  MATCH,
  type MatchRule,
  matchReference,
  RATIO,
  type RatioRule,
  ratioReference,
} from '../../kernels/verify/verify.reference.ts';
import {
  checkDraft,
  checkPath,
  checkRoom,
  checkTokens,
  checkTree,
  depths as depthsOf,
  movedOn,
} from '../../model/check-tree.ts';
import type {
  Choice,
  Cursor,
  CursorRows,
  DeviceLimit,
  DeviceTensor,
  DeviceTree,
  Forward,
  LanguageModel,
  TextRules,
  Tree,
  Verdict,
} from '../../model/interface.ts';
import { JOIN, type JoinRule, joinToys, letKeep } from './toy-ensemble.ts';
import { ToyTokenRing, toyChoice } from './toy-token-ring.ts';

/** 32 bits to [0, 1), well mixed. */
const hash = (n: number): number => {
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  return ((n ^ (n >>> 16)) >>> 0) / 2 ** 32;
};

const combine = (...values: number[]): number =>
  values.reduce((key, value) => Math.imul(key, 0x9e3779b1) + value + 1, 7);

export interface ToyDistribution {
  readonly vocabulary: number;
  /** Logits are `sharpness · hash(last three tokens)`: the same for every model of one vocabulary … */
  readonly sharpness: number;
  /** … plus `noise · hash(…, seed)`, by which a draft differs from its target. */
  readonly noise?: number;
  readonly seed?: number;
}

export interface ToyOptions extends ToyDistribution {
  readonly context?: number;
  /** Models that hand tokens to each other before they are read share one. */
  readonly tokenRing?: ToyTokenRing;
  /** Wrong on purpose: how drafts are verified, and whether a node sees its elder siblings. */
  readonly match?: MatchRule;
  readonly ratio?: RatioRule;
  readonly allowed?: typeof drawAllowedReference;
  readonly leak?: boolean;
  readonly adjust?: typeof adjustReference;
  /** The same of an ensemble whose first member this is. */
  readonly join?: JoinRule;
  /** Weighs nothing; an ensemble's smallest member drafts first. */
  readonly bytes?: number;
}

export interface ToyModel extends LanguageModel {
  /** Rows scored so far, the measure of work here; and passes. */
  readonly rows: number;
  readonly passes: number;
}

export const toyLogits = (
  { vocabulary, sharpness, noise = 0, seed = 0 }: ToyDistribution,
  tokens: readonly number[],
): number[] => {
  const key = combine(...tokens.slice(-3));
  return Array.from(
    { length: vocabulary },
    (_, t) => sharpness * hash(combine(key, t)) + noise * hash(combine(key, t, seed)),
  );
};

/**
 * What a toy's tap holds of a row: enough for a drafter to go on from, and to notice a row that is not the next one.
 */
export interface TapRow {
  readonly position: number;
  readonly tokens: readonly number[];
}

const ROWS = Symbol('rows');
type Tap = DeviceTensor & { [ROWS]?: () => readonly TapRow[] };

export const tapRows = (tap: DeviceTensor): readonly TapRow[] => {
  const rows = (tap as Tap)[ROWS];
  if (!rows) throw new Error('toy tap: not a tap of a toy model');
  return rows();
};

/** What a toy drafter keeps on the device in a DeviceTree. */
export interface ToyTree {
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /** What the drafter gave each node. */
  readonly drafted: readonly (number | null)[];
  readonly limit?: DeviceLimit;
}

/** Of a row: whole where it is a source itself, and otherwise any share, by the tokens that it follows. */
export const toyGrounding = (tokens: readonly number[], row: number, sources: number): number =>
  row < sources ? 1 : hash(combine(...tokens.slice(0, row + 1).slice(-3)));

/** What a toy knows of a cursor's rows. */
interface ToyRows extends Shape {
  readonly tokens: readonly number[];
  readonly sources: number;
}

interface Shape {
  readonly rollout: boolean;
  readonly pool: boolean;
  readonly nodes: number;
  readonly tapLayers: readonly number[];
  readonly capacity: number;
}

export const toyModel = (options: ToyOptions): ToyModel => {
  const {
    vocabulary,
    context = 4096,
    tokenRing = new ToyTokenRing(),
    match = MATCH,
    ratio = RATIO,
    allowed: drawAllowed = drawAllowedReference,
    join = JOIN,
    leak = false,
    adjust = adjustReference,
    bytes = 0,
  } = options;
  let scored = 0;
  /** Passes of this model: the next one reuses the memory of the one before. */
  let passes = 0;
  /** Of the batch that is being scored: its rows are of one pass. */
  let batched: number | null = null;
  const known = new WeakMap<Cursor, () => ToyRows>();

  const open = (cache: number[], shape: Shape, released = (): void => {}): Cursor => {
    const { nodes, tapLayers, capacity } = shape;
    let version = 0;
    let sources = Number.POSITIVE_INFINITY;
    let prompt = 0;
    let adjusted: TextRules | null = null;
    /** The token after the last committed row, as the newest verdict has it. */
    let anchor: number | null = null;
    let forks: { readonly cursor: Cursor; readonly rows: readonly number[] }[] = [];
    let disposed = false;
    const use = (rows: number): void => {
      if (disposed) throw new Error('toy cursor: used after it was disposed');
      if (forks.length > 0) throw new Error('toy cursor: used while its forks live');
      checkRoom({ length: cache.length, capacity }, rows);
    };

    /** `committed`: the tokens are the cache's newest rows, and nothing is to be accepted. */
    const pass = (
      { tokens, parents, drafted, limit }: ToyTree,
      before: readonly number[],
      committed: boolean,
    ): Forward => {
      const made = ++version;
      const number = batched ?? ++passes;
      scored += tokens.length;
      const current = (): void => {
        if (number !== passes) throw new Error('toy pass: over, a later pass of the model has reused its memory');
      };
      const depths = depthsOf(parents);
      const elder = (node: number): number[] => {
        const sibling = parents.indexOf(parents[node] as number);
        return sibling < node ? [tokens[sibling] as number] : [];
      };
      const ancestry = (node: number, leaking: boolean): number[] =>
        node < 0
          ? []
          : [...ancestry(parents[node] as number, leaking), ...(leaking ? elder(node) : []), tokens[node] as number];
      const contexts = tokens.map((_, node) => [...before, ...ancestry(node, false)]);
      const seen = leak ? tokens.map((_, node) => [...before, ...ancestry(node, true)]) : contexts;
      const rows = seen.map((context, row) => {
        const logits = toyLogits(options, context);
        return adjusted ? adjust(logits, contexts[row] as number[], adjusted.prompt, adjusted.rules) : logits;
      });
      const rowOf = (row: number): number[] => {
        current();
        const found = rows[row];
        if (!found) throw new Error(`toy pass: row ${row} of ${rows.length}`);
        return found;
      };
      const position = (row: number): number => before.length + (depths[row] as number);
      const tensorOf = (read: () => Float32Array): DeviceTensor => ({ rows: rows.length, read: async () => read() });
      const accept = (path: readonly number[]): void => {
        if (committed || made !== version) throw movedOn();
        checkPath({ parents }, path);
        version++;
        anchor = null;
        cache.push(...path.map((node) => tokens[node] as number));
      };
      const forward: Forward = {
        rows: rows.length,
        logits: tensorOf(() => Float32Array.from(rows.flatMap((_, row) => rowOf(row)))),
        taps: tapLayers.map(() => {
          const tap: Tap = tensorOf(() => Float32Array.from(tapRows(tap).map((row) => row.position)));
          tap[ROWS] = () => {
            current();
            return contexts.map((text, row) => ({ position: position(row), tokens: text.slice(-3) }));
          };
          return tap;
        }),
        draw: (row, sampling, { distribution = false } = {}) =>
          tokenRing.draw(rowOf(row), position(row) + 1, sampling, distribution),
        async drawAllowed(row, sampling, allowed) {
          const draw = { ...sampling, position: position(row) + 1 };
          const token = drawAllowed(rowOf(row), draw, (each) => isAllowed(allowed, each));
          await tokenRing.look();
          return toyChoice(rowOf(row), token);
        },
        top: async (of, n) =>
          of.map((row) =>
            rowOf(row)
              .map((_, token): Choice => toyChoice(rowOf(row), token))
              .sort((a, b) => b.logprob - a.logprob || a.token - b.token)
              .slice(0, n),
          ),
        accept,
        async verify(distributions, sampling): Promise<Verdict> {
          checkDraft({ tokens, parents }, distributions);
          current();
          const considered = Math.min(tokens.length, (limit?.limit as number | undefined) ?? tokens.length);
          const own = { tokens: tokens.slice(0, considered), parents: parents.slice(0, considered) };
          const draws = rows.map((row, i) =>
            tokenRing.take(tokenRing.draw(row, position(i) + 1, sampling, false).token),
          );
          const { path, next, source } = distributions
            ? ratioReference(
                {
                  tokens: own.tokens,
                  p: rows.slice(0, considered).map((row) => distributionReference(row, sampling)),
                  q: distributions.map((distribution) => tokenRing.distribution(distribution)),
                  seed: sampling.seed,
                  position: before.length,
                },
                ratio,
              )
            : matchReference({ ...own, draws }, match);
          accept(path);
          anchor = next;
          await tokenRing.look();
          const committed = [...path.slice(1).map((node) => tokens[node] as number), next];
          const choices = committed.map((token, i) => toyChoice(rows[path[i] as number] as number[], token));
          const probabilities = own.tokens.slice(1).map((token, i) => {
            const { logprob } = toyChoice(rows[parents[i + 1] as number] as number[], token);
            return { target: Math.exp(logprob), draft: drafted[i + 1] ?? null };
          });
          return { ...own, probabilities, path, choices, source };
        },
      };
      letKeep(forward, (row) => ({ model, text: contexts[row] as number[], logits: rowOf(row) }));
      return forward;
    };

    const resolve = (tree: Tree | DeviceTree): ToyTree =>
      'device' in tree
        ? (tree.device as ToyTree)
        : {
            parents: tree.parents,
            tokens: tree.tokens.map((token) => tokenRing.take(token)),
            drafted: tree.tokens.map((token) => tokenRing.probability(token)),
            ...(tree.limit && { limit: tree.limit }),
          };

    const cursor: Cursor = {
      get length() {
        return cache.length;
      },
      capacity,
      async extend(tokens, { signal, chunk = shape.rollout ? 16 : 32, onProgress, onPass } = {}) {
        if (tokens.length === 0) throw new Error('toy cursor: extended by nothing');
        checkTokens(tokens, vocabulary);
        use(tokens.length);
        anchor = null;
        for (let start = 0; start < tokens.length; start += chunk) {
          signal?.throwIfAborted();
          const rows = tokens.slice(start, start + chunk);
          const whole = pass({ tokens: rows, parents: rows.map((_, i) => i - 1), drafted: [] }, [...cache], true);
          cache.push(...rows);
          onPass?.(whole);
          onProgress?.(Math.min(tokens.length, start + chunk));
        }
        passes--; // the last row once more, for its result alone
        scored--;
        return pass({ tokens: cache.slice(-1), parents: [-1], drafted: [] }, cache.slice(0, -1), true);
      },
      forward(tree) {
        use(0);
        const resolved = resolve(tree);
        const { length } = cache;
        checkTree(resolved, { vocabulary, nodes, length, capacity, prompt, anchor, chainsOnly: shape.rollout });
        return pass(resolved, [...cache], false);
      },
      rewind(length) {
        use(0);
        if (length > cache.length) throw new Error(`toy cursor: rewound forward, ${cache.length} to ${length}`);
        version++;
        anchor = null;
        cache.length = length;
      },
      expectPrompt(rows) {
        prompt = rows;
      },
      async adjust(rules) {
        adjusted = rules;
      },
      fork(count, room) {
        use(0);
        forks = Array.from({ length: count }, () => {
          const rows = [...cache];
          const made = open(rows, { ...shape, capacity: cache.length + room }, () => {
            forks = forks.filter((fork) => fork.cursor !== made);
          });
          if (shape.rollout && sources < Number.POSITIVE_INFINITY) made.groundOn(sources);
          return { cursor: made, rows };
        });
        return forks.map((fork) => fork.cursor);
      },
      adopt(fork) {
        const adopted = forks.find((each) => each.cursor === fork);
        if (!adopted) throw new Error('toy cursor: adopted a cursor that is no living fork of it');
        for (const each of forks) each.cursor[Symbol.dispose]();
        cache.push(...adopted.rows.slice(cache.length));
        version++;
        anchor = null;
      },
      groundOn(length) {
        use(0);
        if (!shape.rollout) throw new Error('toy cursor: opened without rollout');
        sources = length;
      },
      [Symbol.dispose]() {
        disposed = true;
        released();
      },
    };
    known.set(cursor, () => ({ tokens: cache, sources, ...shape }));
    return cursor;
  };

  const rowsOf = ({ cursor, first, count }: CursorRows) => {
    const cached = known.get(cursor)?.();
    if (!cached || first + count > cached.tokens.length) throw new Error('toy model: rows that no cursor of it holds');
    return { ...cached, at: Array.from({ length: count }, (_, i) => first + i) };
  };

  const model: ToyModel = {
    family: 'toy',
    vocabulary,
    hidden: 1,
    layers: 4,
    context,
    bytes,
    get rows() {
      return scored;
    },
    get passes() {
      return passes;
    },
    batchInvariant: true,
    open: async ({ capacity = context, nodes = 16, tapLayers = [], rollout, pool = false } = {}) =>
      open([], { capacity, nodes, tapLayers, rollout: rollout !== undefined, pool }),
    forward(batch) {
      batched = ++passes;
      try {
        return batch.map(({ cursor, tree }) => cursor.forward(tree));
      } finally {
        batched = null;
      }
    },
    gather: async (draws, rows) => {
      const wanted = rows.map(rowsOf);
      return {
        choices: await tokenRing.gather(draws),
        grounding: wanted.map(({ rollout, at, tokens, sources }) =>
          Float32Array.from(rollout ? at : [], (row) => toyGrounding(tokens, row, sources)),
        ),
        pooled: wanted.map(({ pool, at, tokens }) =>
          Float32Array.from(pool ? [at.reduce((sum, row) => sum + (tokens[row] as number), 0) / at.length] : []),
        ),
      };
    },
    join: async (others, combination, limits) =>
      joinToys(tokenRing, [model, ...others], { combination, join, ...limits }),
    [Symbol.dispose]() {},
  };
  return model;
};
