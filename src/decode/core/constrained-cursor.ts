// The target under a constraint, for every exact system: a cursor whose draws and verdicts keep to it. A pass is verified
// as if there were no constraint; then the kept tokens are followed through it on the host. By the match rule each of them
// is the target's own draw, and a draw that the constraint allows is also the constrained draw, since the noise is the same
// (docs/decisions/0030-constraints.md). So only the first token that is not allowed is drawn again, among those that are,
// from the same row. A model that keeps to the constraint by itself costs nothing more. Where the host knows the drafts, it
// follows them itself, so that a draft is also kept where the constraint has chosen it and not the model.
import { refuse } from '../../base/refuse.ts';
import type { Choice, Cursor, DeviceTree, Drawn, Forward, Sampling, Tree, Verdict } from '../../model/interface.ts';
import type { ConstrainedText } from './constrained-text.ts';

const isKnown = (tree: Tree | DeviceTree): tree is Tree & { readonly tokens: readonly number[] } =>
  'tokens' in tree && tree.tokens.every((token) => typeof token === 'number');

/** `answer`: the tokens committed so far, without the prompt. */
export const constrainedCursor = (cursor: Cursor, text: ConstrainedText, answer: () => readonly number[]): Cursor => {
  const view = (pass: Forward, tree: Tree | DeviceTree | null): Forward => {
    /** The text that `row` ends: the answer, and the drafts on the way from node 0 to it. */
    const textOf = (row: number): readonly number[] => {
      const drafts: number[] = [];
      if (tree && 'device' in tree) throw refuse('the host does not know this tree before its verdict');
      for (let node = row; tree && (tree.parents[node] ?? -1) >= 0; node = tree.parents[node] as number) {
        const token = tree.tokens[node];
        if (typeof token !== 'number') throw refuse('a draw after a draft that was not read, under a constraint');
        drafts.unshift(token);
      }
      return [...answer(), ...drafts];
    };
    const keep = (row: number, before: readonly number[], sampling: Sampling, choice: Choice, unread = false) =>
      text.next(before, choice, (allowed) => pass.drawAllowed(row, sampling, allowed), unread);
    /** Every row is drawn, in one readback; a draft that the constraint has chosen is kept like one that was drawn. */
    const walk = async (
      { tokens, parents }: Tree & { readonly tokens: readonly number[] },
      sampling: Sampling,
    ): Promise<Verdict> => {
      const draws = await Promise.all(tokens.map((_, row) => pass.draw(row, sampling)).map((drawn) => drawn.read()));
      const before = [...answer()];
      const path: number[] = [];
      const choices: Choice[] = [];
      for (let node = 0; node >= 0; ) {
        const choice = await keep(node, before, sampling, draws[node]?.[0] as Choice, path.length > 0);
        if (!choice) break;
        path.push(node);
        choices.push(choice);
        before.push(choice.token);
        node = parents.findIndex((parent, child) => parent === node && tokens[child] === choice.token);
      }
      pass.accept(path);
      const source = parents.includes(path.at(-1) as number) ? 'corrected' : 'bonus';
      return { tokens, parents, probabilities: null, path, choices, source };
    };
    return {
      rows: pass.rows,
      logits: pass.logits,
      taps: pass.taps,
      draw: (row, sampling): Drawn => {
        const before = textOf(row);
        const drawn = pass.draw(row, sampling);
        return {
          rows: 1,
          distribution: null,
          get token(): never {
            throw refuse('under a constraint a token is known only after it was read');
          },
          read: async () => {
            const choice = await keep(row, before, sampling, (await drawn.read())[0] as Choice);
            if (!choice) throw new Error('a draw after the end of a constrained answer');
            return [choice];
          },
        };
      },
      drawAllowed: (row, sampling, allowed) => pass.drawAllowed(row, sampling, allowed),
      top: (rows, n) => pass.top(rows, n),
      accept: (path) => pass.accept(path),
      async verify(_distributions, sampling): Promise<Verdict> {
        if (tree && isKnown(tree)) return walk(tree, sampling);
        const { length } = cursor;
        const before = [...answer()];
        const verdict = await pass.verify(null, sampling);
        const choices: Choice[] = [];
        for (const [i, choice] of verdict.choices.entries()) {
          const kept = await keep(verdict.path[i] as number, before, sampling, choice, i > 0);
          if (kept) choices.push(kept);
          if (kept?.token === choice.token) {
            before.push(choice.token);
            continue;
          }
          cursor.rewind(length + choices.length);
          return { ...verdict, path: verdict.path.slice(0, choices.length), choices, source: 'corrected' };
        }
        return { ...verdict, choices };
      },
    };
  };
  return {
    get length() {
      return cursor.length;
    },
    get capacity() {
      return cursor.capacity;
    },
    get levels() {
      return cursor.levels ?? Number.POSITIVE_INFINITY;
    },
    extend: async (tokens, options) => view(await cursor.extend(tokens, options), null),
    forward: (tree) => view(cursor.forward(tree), tree),
    rewind: (length) => cursor.rewind(length),
    fork: (count, room) => cursor.fork(count, room),
    adopt: (fork) => cursor.adopt(fork),
    expectPrompt: (rows) => cursor.expectPrompt(rows),
    adjust: (rules) => cursor.adjust(rules),
    groundOn: (length) => cursor.groundOn(length),
    [Symbol.dispose]: () => cursor[Symbol.dispose](),
  };
};
