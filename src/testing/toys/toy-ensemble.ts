// An ensemble of toy models: model/ensemble/device-ensemble.ts on plain arrays. It refuses what the device refuses,
// checks what the device cannot see (that every kept row is of its member, of its position and of this text), and can
// be made wrong on purpose.
import { combinedReference, verifyEnsembleReference } from '../../kernels/ensemble/ensemble.reference.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import { RATIO } from '../../kernels/verify/verify.reference.ts';
import { checkChain, checkModels, draftingOf } from '../../model/ensemble/combine-members.ts';
import type { Combination, Ensemble, KeptRow, LanguageModel, Scores } from '../../model/interface.ts';
import type { ToyTokenRing } from './toy-token-ring.ts';

type Distribution = readonly number[];

/** A row of a pass: the tokens that it was made of, and what they are followed by. */
interface ScoredRow {
  readonly model: LanguageModel;
  readonly text: readonly number[];
  readonly logits: readonly number[];
}

/** Not a WeakMap: a table of a hundred thousand passes cost a run of the contract tests a quarter of its time. */
const ROWS = Symbol('rows');
type Kept = Scores & { [ROWS]?: (row: number) => ScoredRow };

/** Makes the rows of a pass known, so that an ensemble can keep them; `rows` throws when the pass is over. */
export const letKeep = (pass: Scores, rows: (row: number) => ScoredRow): void => {
  (pass as Kept)[ROWS] = rows;
};

const scoredRow = (pass: Scores, row: number): ScoredRow => {
  const rows = (pass as Kept)[ROWS];
  if (!rows) throw new Error('toy ensemble: not a pass of a toy model');
  return rows(row);
};

export interface JoinRule {
  /** The members' rows as they are combined. */
  readonly order: (rows: readonly Distribution[], proposer: number) => readonly Distribution[];
  readonly keeps: (u: number, r: number, q: number, proposer: number) => boolean;
  /** `p`: the distribution of a member that did not propose. */
  readonly replacement: (r: Distribution, q: Distribution, p: Distribution) => Distribution;
  /** Whether what was drafted after a rejected token is forgotten. */
  readonly forgets: boolean;
}

export const JOIN: JoinRule = {
  order: (rows) => rows,
  keeps: RATIO.keeps,
  replacement: RATIO.replacement,
  forgets: true,
};

interface Joined {
  readonly combination: Combination;
  readonly join: JoinRule;
  readonly drafts?: number;
}

export const joinToys = (
  tokenRing: ToyTokenRing,
  models: readonly LanguageModel[],
  { combination, join, drafts = 15 }: Joined,
): Ensemble => {
  checkModels(models, drafts);
  const { vocabulary } = models[0] as LanguageModel;
  const lasting = 2 * models.length * (drafts + 1);
  /** A ring: row `kept` is at kept mod `lasting`. */
  const rows: ScoredRow[] = [];
  let taken = 0;
  let disposed = false;
  const use = (): void => {
    if (disposed) throw new Error('toy ensemble: used after it was disposed');
  };
  const rowOf = ({ kept }: KeptRow): ScoredRow => {
    const row = rows[kept % lasting];
    if (!row || kept < taken - lasting) throw new Error(`toy ensemble: row ${kept} is not kept`);
    return row;
  };
  /** Every member's logits of the position after this text. */
  const logitsAt = (kept: readonly KeptRow[], text: readonly number[]): readonly Distribution[] => {
    const all = kept.map(rowOf);
    for (const [member, row] of all.entries()) {
      if (row.model !== models[member]) throw new Error(`toy ensemble: a row of another model as member ${member}`);
      if (join.forgets && row.text.join() !== text.join())
        throw new Error(`toy ensemble: member ${member} has read another text`);
    }
    return all.map(({ logits }) => logits);
  };

  return {
    members: models.length,
    bytes: 0,
    keep(pass, first, count) {
      use();
      const kept = Array.from({ length: count }, (_, i) => scoredRow(pass, first + i));
      return kept.map((row) => {
        rows[taken % lasting] = row;
        return { kept: taken++ };
      });
    },
    submit: use,
    drafting: (sampling) => draftingOf(combination, sampling),
    async verify(chain, sampling) {
      use();
      checkChain(chain, { members: models.length, drafts, vocabulary });
      const tokens = chain.tokens.map((token) => tokenRing.take(token));
      const pending = chain.pending.map((token) => tokenRing.take(token));
      const [first] = [...chain.rows, ...(chain.bonus ? [chain.bonus] : [])];
      const before = first?.[0] ? rowOf(first[0]).text : [];
      if (before.length !== chain.position)
        throw new Error(`toy ensemble: position ${chain.position} of ${before.length}`);
      const each = chain.rows.map((kept, i) => logitsAt(kept, [...before, ...tokens.slice(0, i)]));
      const bonus = chain.bonus && logitsAt(chain.bonus, [...before, ...tokens]);
      const ordered = each.map((all, i) => join.order(all, chain.proposers[i] as number));
      const proposers = ordered.map((all, i) => all.indexOf(each[i]?.[chain.proposers[i] as number] as Distribution));
      let asked = 0;
      const { kept, choices, source, votes } = verifyEnsembleReference(
        { tokens, position: chain.position, proposers, rows: ordered, bonus, combination, sampling },
        {
          ...RATIO,
          keeps: (u, r, q) => join.keeps(u, r, q, chain.proposers[asked++] as number),
          replacement(r, q) {
            const [all, proposer] = [each[asked - 1] as readonly Distribution[], chain.proposers[asked - 1]];
            const other = all.find((_, member) => member !== proposer) as Distribution;
            return join.replacement(r, q, distributionReference([...other], sampling));
          },
        },
      );
      await tokenRing.look();
      if (!join.forgets && source === 'corrected') {
        const written = tokens.with(kept, choices.at(-1)?.token as number);
        const all = written.map((token) => ({ token, logprob: 0 }));
        return { tokens: written, pending, kept: tokens.length, choices: all, source: null, votes: [] };
      }
      return { tokens, pending, kept, choices, source, votes };
    },
    async top(positions, n, sampling) {
      use();
      const soft = sampling.temperature > 0 ? sampling : { temperature: 1, topK: 0, topP: 1, minP: 0 };
      return positions.map((kept) => {
        const distribution = combinedReference(
          kept.map(rowOf).map(({ logits }) => logits),
          combination,
          soft,
        );
        const choices = distribution.flatMap((p, token) => (p > 0 ? [{ token, logprob: Math.log(p) }] : []));
        return choices.sort((a, b) => b.logprob - a.logprob || a.token - b.token).slice(0, n);
      });
    },
    [Symbol.dispose]() {
      disposed = true;
    },
  };
};
