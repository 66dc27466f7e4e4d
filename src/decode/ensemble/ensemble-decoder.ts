// Decodes with several models at once. The decoder knows what each member has read, what it said of the positions after
// the committed text, and which drafts wait for a verdict; an ensemble system is an order of reading, drafting and
// deciding. Everything between two verdicts stays on the device. Each member's rows are kept apart, so that r is
// combined from the same members in the same roles, whichever of them drafted.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Cursor, Ensemble, Forward, KeptRow, Token } from '../../model/interface.ts';
import type { Role, Source } from '../../trace/index.ts';
import { chainOf } from '../core/chain.ts';
import { memberSampling } from '../core/draft-sampling.ts';
import { extendCounted } from '../core/extend-counted.ts';
import type { Commit, RoundContext, RunContext, Sequence, WriterRole } from '../core/system.ts';
import { type combinationKnobs, combinationOf, memberRoles } from './combination.ts';

export class Member {
  readonly role: WriterRole;
  /** Its place among the members, which never changes. */
  readonly index: number;
  readonly bytes: number;
  readonly cursor: Cursor;
  /** What it says of the positions after the committed text, as far as it has read. */
  rows: KeptRow[] = [];
  /** The row from which its next draft is drawn. */
  newest: { readonly pass: Forward; readonly row: number } | null = null;
  /** Passes since the last verdict from which no draft was drawn. */
  idle = 0;

  constructor(role: WriterRole, index: number, bytes: number, cursor: Cursor) {
    this.role = role;
    this.index = index;
    this.bytes = bytes;
    this.cursor = cursor;
  }
}

interface Draft {
  readonly token: Token;
  readonly by: Member;
}

/** Consecutive drafts of one member. */
interface DraftRun {
  readonly by: Member;
  /** Index of the first one among the pending drafts. */
  readonly first: number;
  readonly count: number;
  readonly passes: number;
  readonly ms: number;
}

interface Decision {
  /** How many pending drafts to decide on; every member must have scored them. */
  readonly drafts: number;
  /** Whether a token is drawn from r where all of them are kept. */
  readonly bonus: boolean;
}

const isDeviceToken = (token: Token): boolean => typeof token !== 'number';
const numberOf = (token: Token | undefined): number => {
  if (typeof token === 'number') return token;
  throw new Error('a draft was not read back');
};

export class EnsembleDecoder {
  /** In the order of the combination. */
  readonly members: readonly Member[];
  readonly #ensemble: Ensemble;
  readonly #most: number;
  readonly #sequence: Sequence;
  /** Drafts after the committed text that wait for a verdict. A bonus token of one round waits until the next. */
  #drafts: Draft[] = [];
  #runs: DraftRun[] = [];

  /** `most`: drafts that may wait at once. */
  constructor(ensemble: Ensemble, members: readonly Member[], sequence: Sequence, most: number) {
    this.#ensemble = ensemble;
    this.members = members;
    this.#sequence = sequence;
    this.#most = most;
  }

  /** The length of the committed text, which is the position of the first draft. */
  get #committed(): number {
    return this.#sequence.tokens.length;
  }

  /** The number of drafts that wait for a verdict. */
  get pending(): number {
    return this.#drafts.length;
  }

  /** The member that drafted last, and how many drafts in a row it wrote; null where no draft waits. */
  get latest(): { readonly member: Member; readonly drafts: number } | null {
    const by = this.#drafts.at(-1)?.by;
    if (!by) return null;
    const other = this.#drafts.findLastIndex((draft) => draft.by !== by);
    return { member: by, drafts: this.#drafts.length - 1 - other };
  }

  /** How many more drafts are useful: the budget allows no others to be committed. */
  get room(): number {
    return Math.min(this.#sequence.budget, this.#most) - this.#drafts.length;
  }

  /** The number of pending drafts that every member has scored. */
  get scored(): number {
    return Math.min(this.#drafts.length, ...this.members.map(({ rows }) => rows.length));
  }

  /** The smallest first; of equal ones the one that joined last. */
  get bySize(): readonly Member[] {
    return this.members.toSorted((a, b) => a.bytes - b.bytes || b.index - a.index);
  }

  /** Every member reads the prompt; the first token is drawn from r. */
  async prefill({ emit, signal }: Pick<RunContext, 'emit' | 'signal'>): Promise<Commit> {
    for (const member of this.members) {
      const start = performance.now();
      const { cursor, role } = member;
      const reused = cursor.length;
      const prompt = this.#sequence.tokens.slice(reused);
      const { last, passes } = await extendCounted(cursor, prompt, { signal });
      member.rows = [...this.#ensemble.keep(last, 0, 1)];
      emit({ type: 'prefill', by: role, rows: prompt.length, reused, passes, ms: performance.now() - start });
    }
    return (await this.#decide({ drafts: 0, bonus: true })).commit;
  }

  /** The member reads everything it has not read and drafts one token; `count` times. */
  draft(member: Member, count: number): void {
    const start = performance.now();
    const first = this.#drafts.length;
    for (let i = 0; i < count; i++) {
      this.read(member);
      member.idle--;
      const { pass, row } = member.newest ?? {};
      if (!pass || row === undefined) throw new Error('a member that has read nothing cannot draft');
      const sampling = this.#ensemble.drafting(this.#sequence.sampling);
      const { token } = pass.draw(row, memberSampling(sampling, member.index));
      this.#drafts.push({ token, by: member });
    }
    this.#runs.push({ by: member, first, count, passes: count, ms: performance.now() - start });
  }

  /** The member reads what it has not read, except the last `except` drafts, in passes of at most 16 rows. */
  read(member: Member, except = 0): void {
    const { cursor, rows } = member;
    const end = this.#committed + this.#drafts.length - except;
    while (cursor.length < end) {
      const from = cursor.length;
      const count = Math.min(end - from, MOST_ROWS);
      const pass = cursor.forward(chainOf(Array.from({ length: count }, (_, i) => this.#token(from + i))));
      // Row i scores position from + i + 1. Rows that score committed positions are not needed.
      const first = Math.max(0, this.#committed - 1 - from);
      if (first < count) rows.push(...this.#ensemble.keep(pass, first, count - first));
      pass.accept(Array.from({ length: count }, (_, i) => i));
      member.newest = { pass, row: count - 1 };
      member.idle++;
    }
  }

  /** Submits what was recorded so far. Without it, a round is one submit. */
  submit(): void {
    this.#ensemble.submit();
  }

  /** Decides on drafts, with the round's one readback. */
  async verify({ round, emit }: Pick<RoundContext, 'round' | 'emit'>, decision: Decision): Promise<Commit> {
    const start = performance.now();
    const checked = this.#drafts.slice(0, decision.drafts).map(({ by }) => by.role);
    const drafted = this.#runs;
    const { commit, tokens } = await this.#decide(decision);
    for (const { by, first, count, passes, ms } of drafted) {
      const written = tokens.slice(first, first + count + 1); // the token before them is the anchor
      const parents = written.map((_, i) => i - 1);
      emit({ type: 'draft', round, by: by.role, tokens: written, parents, passes, ms });
    }
    const kept = commit.source.filter((source) => source === 'drafted').length;
    emit({
      type: 'verify',
      round,
      by: 'target',
      path: Array.from({ length: kept + 1 }, (_, i) => i),
      next: commit.tokens.at(-1) as number,
      source: commit.source.at(-1) as Source,
      checked,
      passes: Object.fromEntries(this.members.flatMap(({ role, idle }) => (idle > 0 ? [[role, idle]] : []))),
      ms: performance.now() - start,
    });
    for (const member of this.members) member.idle = 0;
    return commit;
  }

  /** `tokens`: the anchor and all drafts that were pending. */
  async #decide({ drafts, bonus }: Decision): Promise<{ readonly commit: Commit; readonly tokens: readonly number[] }> {
    const { tokens: text, sampling, alternatives } = this.#sequence;
    const position = text.length;
    const rowsAt = (i: number): readonly KeptRow[] => this.members.map(({ rows }) => rows[i] as KeptRow);
    const all = this.#drafts;
    const checked = all.slice(0, drafts);
    const verdict = await this.#ensemble.verify(
      {
        tokens: checked.map(({ token }) => token),
        position,
        proposers: checked.map(({ by }) => by.index),
        rows: checked.map((_, i) => rowsAt(i)),
        bonus: bonus ? rowsAt(drafts) : null,
        pending: all.slice(drafts).flatMap(({ token }) => (typeof token === 'number' ? [] : [token])),
      },
      sampling,
    );
    const { kept, choices, source, votes } = verdict;
    const pending = verdict.pending.values();
    const known = all.map(({ token, by }, i) => ({
      token:
        i < drafts ? (verdict.tokens[i] as number) : isDeviceToken(token) ? (pending.next().value as number) : token,
      by,
    }));
    const tops = alternatives
      ? await this.#ensemble.top(
          choices.map((_, i) => rowsAt(i)),
          alternatives,
          sampling,
        )
      : [];
    const scores = choices.map(({ logprob }, i) => ({ logprob, top: tops[i] ?? [] }));
    const by: readonly (Role | null)[] = choices.map((_, i) => (i < kept ? (checked[i] as Draft).by.role : null));
    const commit: Commit = {
      tokens: choices.map(({ token }) => token),
      source: by.map((role) => (role ? 'drafted' : drafts === 0 ? 'sampled' : (source ?? 'bonus'))),
      scores,
      by,
      votes: votes.map(({ r, own }) => ({
        r,
        own: own.map((each, k) => ({ by: (this.members[k] as Member).role, ...each })),
      })),
    };
    this.#runs = [];
    const length = position + choices.length;
    if (source === null) {
      this.#drafts = known.slice(drafts);
      for (const { rows } of this.members) rows.splice(0, choices.length);
    } else {
      // The last token is new: no member has read it, and the drafts after it continue another text.
      this.#drafts = [];
      for (const member of this.members) {
        member.rows = [];
        member.cursor.rewind(Math.min(member.cursor.length, length - 1));
      }
    }
    return { commit, tokens: [text[position - 1] as number, ...known.map(({ token }) => numberOf(token))] };
  }

  #token(position: number): Token {
    return this.#sequence.tokens[position] ?? (this.#drafts[position - this.#committed] as Draft).token;
  }
}

/** Pending drafts in an ensemble whose system does not say how many. */
const USUAL_DRAFTS = 15;

/** The models of a run as one decoder that has read nothing yet. `most`: drafts that may wait at once. */
export const openEnsemble = async (
  run: RunContext<typeof combinationKnobs>,
  most: number = USUAL_DRAFTS,
): Promise<EnsembleDecoder> => {
  const roles = memberRoles(run.models);
  const drafts = Math.max(most, USUAL_DRAFTS); // so that systems with the same combination share its buffers
  const ensemble = await run.join(roles, combinationOf(run.knobs, roles.length), { drafts });
  const members: Member[] = [];
  for (const [i, role] of roles.entries())
    members.push(new Member(role, i, run.models[role]?.bytes ?? 0, await run.open(role)));
  return new EnsembleDecoder(ensemble, members, run.sequence, drafts);
};
