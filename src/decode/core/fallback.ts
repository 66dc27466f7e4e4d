// Falls back to plain decoding while drafting loses time. Each source of drafts is paused on its own (source-balance.ts),
// so a drafter that loses time does not stop look-ups; the run is plain while all are paused.
import type { Emit, Role } from '../../trace/index.ts';
import { type Cost, type RoundKind, roundName } from './round-cost.ts';
import { SourceBalance } from './source-balance.ts';
import type { Ledger, Timings } from './timings.ts';

/** Plain tokens that a source may lose before it is paused, or as many as take this long: too little to be noticed. */
const ALLOWANCE = { tokens: 4, ms: 15 } as const;

export interface FallbackOptions {
  /** The roles that draft. */
  readonly sources: readonly Role[];
  readonly timings: Timings;
  readonly cost: Cost;
  /** False: the seed alone may decide which rounds are plain, so `cost` does not depend on the clock either. */
  readonly byClock: boolean;
  readonly emit: Emit;
  /** False: speculate whatever it costs. */
  readonly fallBack: boolean;
}

export class Fallback {
  readonly #options: FallbackOptions;
  readonly #balances: ReadonlyMap<Role, SourceBalance>;
  /** All sources are paused. */
  #plain = false;
  /** Rounds since the run began to speculate, for the event that says why it stopped. */
  #speculated: { readonly ms: number; readonly tokens: number }[] = [];

  constructor(options: FallbackOptions) {
    this.#options = options;
    const { sources, timings, cost, byClock } = options;
    // Gains of earlier runs count against losses in this one, unless the seed alone may decide.
    const ledgers = byClock ? timings.ledgers : new Map<string, Ledger>();
    const allowance = (): number => {
      const plain = byClock ? timings.plain : null;
      return plain === null ? ALLOWANCE.tokens : Math.max(ALLOWANCE.tokens, ALLOWANCE.ms / plain);
    };
    this.#balances = new Map(
      sources.map((name) => [name, new SourceBalance({ cost, byClock, ledgers, name, allowance })]),
    );
  }

  /** The sources that may draft in this round. */
  next(round: number): readonly Role[] {
    const { sources, fallBack } = this.#options;
    if (!fallBack) return sources;
    const open = [...this.#balances].filter(([, balance]) => balance.next()).map(([source]) => source);
    this.#tell(round);
    return open;
  }

  /** After a plain round of `ms` milliseconds. */
  plain(round: number, ms: number): void {
    this.#options.timings.addPlain(ms);
    for (const balance of this.#balances.values()) balance.passed(1, true);
    this.#tell(round);
  }

  /**
   * After a speculative round of `ms` milliseconds by `source` that committed `tokens` tokens. `single`: what its pass
   * took, if that had one row and nothing else was done meanwhile: then it also times plain rounds.
   */
  speculative(
    round: number,
    {
      source,
      kind,
      ms,
      tokens,
      single,
    }: {
      readonly source: Role;
      readonly kind: RoundKind;
      readonly ms: number;
      readonly tokens: number;
      readonly single?: number | undefined;
    },
  ): void {
    const { timings } = this.#options;
    timings.addRound(roundName(kind), ms);
    this.#speculated.push({ ms, tokens });
    if (single !== undefined) timings.addPlain(single);
    for (const [name, balance] of this.#balances) {
      if (single !== undefined) balance.timed();
      if (name === source) balance.drafted(kind, tokens);
      else balance.passed(tokens, false);
    }
    this.#tell(round);
  }

  #tell(round: number): void {
    const { emit, timings, fallBack } = this.#options;
    const plain = fallBack && [...this.#balances.values()].every(({ paused }) => paused);
    if (plain === this.#plain) return;
    this.#plain = plain;
    const tokens = this.#speculated.reduce((sum, each) => sum + each.tokens, 0);
    const ms = this.#speculated.reduce((sum, each) => sum + each.ms, 0);
    const speculative_ms = tokens > 0 ? ms / tokens : null;
    emit({ type: 'fall-back', round, to: plain ? 'plain' : 'speculation', speculative_ms, plain_ms: timings.plain });
    if (!plain) this.#speculated = [];
  }
}
