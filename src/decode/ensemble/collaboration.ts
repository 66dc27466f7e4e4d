// Models that decode together: what the members of an ensemble have read, what they say of the positions to come, and
// which drafts wait for a verdict. Every ensemble system is an order in which they read, draft and decide. Everything
// between two verdicts stays on the device; what a member says is kept as its own row, so that r is made of the members
// by identity, whoever proposed.
import { refuse } from '../../base/refuse.ts';
import type { Combination, Cursor, Ensemble, Forward, KeptRow, Token } from '../../model/interface.ts';
import type { Role, Source } from '../../trace/index.ts';
import { memberSampling } from '../core/draft-sampling.ts';
import type { KnobValues } from '../core/knobs.ts';
import type { Commit, RoundContext, RunContext, Sequence, WriterRole } from '../core/system.ts';
import { chainOf } from '../speculative/speculate.ts';
import { type combinationKnobs, eachMember, memberRoles } from './combination.ts';

/** Rows of one pass. */
const MOST_ROWS = 16;

export class Member {
  readonly role: WriterRole;
  /** By identity: its place among the members, whatever it does in a round. */
  readonly index: number;
  readonly bytes: number;
  readonly cursor: Cursor;
  /** What it says of the positions behind the committed text, as far as it has read. */
  rows: KeptRow[] = [];
  newest: { readonly pass: Forward; readonly row: number } | null = null;
  /** Passes since the last verdict in which it drew nothing. */
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

/** Drafts that one member wrote on end. */
interface Turn {
  readonly by: Member;
  /** In the chain. */
  readonly first: number;
  readonly count: number;
  readonly passes: number;
  readonly ms: number;
}

interface Decision {
  /** Of the chain, the drafts to be decided on: every member has said something of them. */
  readonly drafts: number;
  /** Whether a token follows from r where they are all kept. */
  readonly bonus: boolean;
}

const isDeviceToken = (token: Token): boolean => typeof token !== 'number';
const numberOf = (token: Token | undefined): number => {
  if (typeof token === 'number') return token;
  throw new Error('a draft that nobody has read back');
};

export class Joint {
  /** By identity. */
  readonly members: readonly Member[];
  readonly #ensemble: Ensemble;
  readonly #most: number;
  readonly #sequence: Sequence;
  /** Drafts behind the committed text that wait for a verdict: a bonus token does so from one round to the next. */
  #chain: Draft[] = [];
  #turns: Turn[] = [];

  /** `most`: drafts that may wait at once. */
  constructor(ensemble: Ensemble, members: readonly Member[], sequence: Sequence, most: number) {
    this.#ensemble = ensemble;
    this.members = members;
    this.#sequence = sequence;
    this.#most = most;
  }

  /** Tokens of the text; the position of the first draft. */
  get #head(): number {
    return this.#sequence.tokens.length;
  }

  /** Drafts that wait. */
  get waiting(): number {
    return this.#chain.length;
  }

  /** Who drafted last, and how many on end; null where nothing waits. */
  get last(): { readonly member: Member; readonly drafts: number } | null {
    const by = this.#chain.at(-1)?.by;
    if (!by) return null;
    const other = this.#chain.findLastIndex((draft) => draft.by !== by);
    return { member: by, drafts: this.#chain.length - 1 - other };
  }

  /** Drafts that still make sense: what lies behind the budget could never be committed. */
  get room(): number {
    return Math.min(this.#sequence.budget, this.#most) - this.#chain.length;
  }

  /** Drafts of which every member has said something. */
  get decidable(): number {
    return Math.min(this.#chain.length, ...this.members.map(({ rows }) => rows.length));
  }

  /** The smallest first; of equal ones the one that joined last. */
  get bySize(): readonly Member[] {
    return this.members.toSorted((a, b) => a.bytes - b.bytes || b.index - a.index);
  }

  /** Every member reads the prompt; the first token is drawn from what they say together. */
  async first({ emit, signal }: Pick<RunContext, 'emit' | 'signal'>): Promise<Commit> {
    for (const member of this.members) {
      const start = performance.now();
      const { cursor, role } = member;
      const reused = cursor.length;
      const prompt = this.#sequence.tokens.slice(reused);
      const pass = await cursor.extend(prompt, { signal });
      member.rows = [...this.#ensemble.keep(pass, 0, 1)];
      emit({ type: 'prefill', by: role, rows: prompt.length, reused, ms: performance.now() - start });
    }
    return (await this.#decide({ drafts: 0, bonus: true })).commit;
  }

  /** Reads all there is, and drafts behind it; `count` times. */
  draft(member: Member, count: number): void {
    const start = performance.now();
    const first = this.#chain.length;
    for (let i = 0; i < count; i++) {
      this.read(member);
      member.idle--;
      const { pass, row } = member.newest ?? {};
      if (!pass || row === undefined) throw new Error('a draft of a member that had nothing to read');
      const sampling = this.#ensemble.drafting(this.#sequence.sampling);
      const { token } = pass.draw(row, memberSampling(sampling, member.index));
      this.#chain.push({ token, by: member });
    }
    this.#turns.push({ by: member, first, count, passes: count, ms: performance.now() - start });
  }

  /** Reads what it lacks, but the last `but` drafts, in a pass (or more, if it lags far behind). */
  read(member: Member, but = 0): void {
    const { cursor, rows } = member;
    const end = this.#head + this.#chain.length - but;
    while (cursor.length < end) {
      const from = cursor.length;
      const count = Math.min(end - from, MOST_ROWS);
      const pass = cursor.forward(chainOf(Array.from({ length: count }, (_, i) => this.#token(from + i))));
      // Row i scores position from + i + 1; of committed positions there is nothing left to say.
      const first = Math.max(0, this.#head - 1 - from);
      if (first < count) rows.push(...this.#ensemble.keep(pass, first, count - first));
      pass.accept(Array.from({ length: count }, (_, i) => i));
      member.newest = { pass, row: count - 1 };
      member.idle++;
    }
  }

  /** Lets the device begin. Without it, a round is one submit. */
  submit(): void {
    this.#ensemble.submit();
  }

  /** A verdict: the round's one readback. */
  async verify({ round, emit }: Pick<RoundContext, 'round' | 'emit'>, decision: Decision): Promise<Commit> {
    const start = performance.now();
    const checked = this.#chain.slice(0, decision.drafts).map(({ by }) => by.role);
    const drafted = this.#turns;
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

  /** `tokens`: the anchor, and all of the chain. */
  async #decide({ drafts, bonus }: Decision): Promise<{ readonly commit: Commit; readonly tokens: readonly number[] }> {
    const { tokens: text, sampling, alternatives } = this.#sequence;
    const head = text.length;
    const said = (i: number): readonly KeptRow[] => this.members.map(({ rows }) => rows[i] as KeptRow);
    const chain = this.#chain;
    const checked = chain.slice(0, drafts);
    const verdict = await this.#ensemble.verify(
      {
        tokens: checked.map(({ token }) => token),
        position: head,
        proposers: checked.map(({ by }) => by.index),
        rows: checked.map((_, i) => said(i)),
        bonus: bonus ? said(drafts) : null,
        pending: chain.slice(drafts).flatMap(({ token }) => (typeof token === 'number' ? [] : [token])),
      },
      sampling,
    );
    const { kept, choices, source, votes } = verdict;
    const pending = verdict.pending.values();
    const known = chain.map(({ token, by }, i) => ({
      token:
        i < drafts ? (verdict.tokens[i] as number) : isDeviceToken(token) ? (pending.next().value as number) : token,
      by,
    }));
    const tops = alternatives
      ? await this.#ensemble.top(
          choices.map((_, i) => said(i)),
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
    this.#turns = [];
    const length = head + choices.length;
    if (source === null) {
      this.#chain = known.slice(drafts);
      for (const { rows } of this.members) rows.splice(0, choices.length);
    } else {
      // A new token that nobody has read; what was drafted behind it, and said of that, is over.
      this.#chain = [];
      for (const member of this.members) {
        member.rows = [];
        member.cursor.rewind(Math.min(member.cursor.length, length - 1));
      }
    }
    return { commit, tokens: [text[head - 1] as number, ...known.map(({ token }) => numberOf(token))] };
  }

  #token(position: number): Token {
    return this.#sequence.tokens[position] ?? (this.#chain[position - this.#head] as Draft).token;
  }
}

const combinationOf = ({ combine, lambda, mu }: KnobValues<typeof combinationKnobs>, members: number): Combination => {
  if (combine === 'contrastive') return { kind: 'contrastive', mu };
  const others = (one: number) => [one, ...Array<number>(members - 1).fill((1 - one) / (members - 1))];
  const weights = eachMember('lambda', lambda, members, others);
  if (weights.every((weight) => weight === 0)) throw refuse('lambda: all weights are 0');
  return { kind: 'weighted', weights };
};

/** Drafts that wait in an ensemble whose system does not say how many. */
const USUAL = 15;

/** The models of a run as an ensemble that has read nothing yet. `most`: drafts that may wait at once. */
export const join = async (run: RunContext<typeof combinationKnobs>, most: number = USUAL): Promise<Joint> => {
  const roles = memberRoles(run.models);
  const drafts = Math.max(most, USUAL); // so that systems with the same combination share its buffers
  const ensemble = await run.join(roles, combinationOf(run.knobs, roles.length), { drafts });
  const members: Member[] = [];
  for (const [i, role] of roles.entries())
    members.push(new Member(role, i, run.models[role]?.bytes ?? 0, await run.open(role)));
  return new Joint(ensemble, members, run.sequence, drafts);
};
