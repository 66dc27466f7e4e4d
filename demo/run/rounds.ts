// Rounds of a run, put together from its events: what was drafted, what of it was kept, what was committed. And how a
// round is laid out to be looked at: the committed path on the first line, what was rejected branching off below.
import type { EventOf, Role, Source, TraceEvent } from '../../src/trace/index.ts';
import type { ModelNames } from '../models/family.ts';
import { memberOf, votesOf } from './votes.ts';

interface Written {
  readonly text: string;
  readonly source: Source;
  /** Of an ensemble: which of its models proposed the token; -1: none. */
  readonly member?: number;
}

export interface DecodedRound {
  readonly round: number;
  /** Who drafted; null in a plain round. */
  readonly by: Role | null;
  /** Of an ensemble: who had proposed each of the drafts that were decided on, in this round or before it. */
  readonly proposers: readonly Role[];
  /** Of a step router: the step that this belongs to, and who writes it. */
  readonly step: { readonly step: number; readonly by: Role } | null;
  /** The draft tree, node 0 being the anchor; empty in a plain round. */
  readonly pieces: readonly string[];
  readonly parents: readonly number[];
  /** Nodes that the target kept, the anchor first. */
  readonly path: readonly number[];
  /** The kept drafts and the target's own token after them, up to the end of the answer. */
  readonly committed: readonly Written[];
  readonly ms: number;
  /** Of the whole run. */
  readonly models: ModelNames;
}

const spell = ({ tokens, pieces }: { tokens: readonly number[]; pieces?: readonly string[] }): readonly string[] =>
  pieces ?? tokens.map((token) => `${token} `);

/** Turns events into rounds, each complete with its commit. */
export class RoundReader {
  #draft: Draft = PLAIN;
  #path: readonly number[] = [];
  #step: DecodedRound['step'] = null;
  #stepEnds = false;
  /** What models of an ensemble proposed and nobody has decided on yet. */
  #waiting: readonly string[] = [];
  #last = '';
  #models: ModelNames = {};

  add(event: TraceEvent): DecodedRound | null {
    if (event.type === 'run') this.#models = event.models ?? {};
    if (event.type === 'draft') {
      this.#draft = { by: event.by, pieces: spell(event), parents: event.parents, proposers: [] };
      this.#waiting = [...this.#waiting, ...this.#draft.pieces.slice(1)];
    }
    if (event.type === 'verify') {
      this.#path = event.path;
      if (event.checked) this.#decide(event.checked);
    }
    if ((event.type === 'draft' || event.type === 'verify') && event.step !== undefined)
      this.#step = { step: event.step, by: 'target' };
    if (event.type === 'route') {
      this.#step = { step: event.step, by: event.to };
      this.#forget(); // an oracle's target has written already: all its rounds are committed at once, or none
    }
    if (event.type === 'step') {
      this.#step = { step: event.step, by: event.by };
      this.#stepEnds = true;
    }
    return event.type === 'commit' ? this.#commit(event) : null;
  }

  #commit(event: EventOf<'commit'>): DecodedRound {
    const members = votesOf(event).map(memberOf);
    const committed = spell(event).map((text, i) => ({
      text,
      source: event.source[i] ?? 'sampled',
      ...(members[i] !== undefined && { member: members[i] }),
    }));
    const read = {
      ...{ round: event.round, ms: event.ms, models: this.#models },
      ...{ ...this.#draft, path: this.#path, step: this.#step, committed },
    };
    this.#forget();
    if (this.#stepEnds) this.#step = null;
    this.#stepEnds = false;
    this.#last = committed.at(-1)?.text ?? this.#last;
    return read;
  }

  #forget(): void {
    this.#draft = PLAIN;
    this.#path = [];
  }

  /** A chain behind the last token: what was proposed first. Behind a rejected draft nothing waits any longer. */
  #decide(proposers: readonly Role[]): void {
    const drafts = this.#waiting.slice(0, proposers.length);
    const pieces = [this.#last, ...drafts];
    this.#waiting = this.#path.length > drafts.length ? this.#waiting.slice(drafts.length) : [];
    this.#draft =
      drafts.length === 0 ? PLAIN : { by: 'target', pieces, parents: pieces.map((_, i) => i - 1), proposers };
  }
}

type Draft = Pick<DecodedRound, 'by' | 'pieces' | 'parents' | 'proposers'>;

const PLAIN: Draft = { by: null, pieces: [], parents: [], proposers: [] };

/** `past`: kept by the target, but behind the end of the answer. */
export type Fate = 'anchor' | 'rejected' | 'past' | Source;

export interface Cell {
  readonly text: string;
  readonly fate: Fate;
  /** From 0. A first child stands on its parent's row. */
  readonly row: number;
  readonly column: number;
  /** Rows between it and its parent. */
  readonly up: number;
}

const childrenOf = (parents: readonly number[]): readonly (readonly number[])[] => {
  const children: number[][] = parents.map(() => []);
  for (const [node, parent] of parents.entries()) children[parent]?.push(node);
  return children;
};

/** What became of each node of the tree. */
export const fatesOf = ({ pieces, path, committed }: DecodedRound): readonly Fate[] =>
  pieces.map((_, node) => {
    const depth = path.indexOf(node);
    if (depth < 0) return 'rejected';
    return depth === 0 ? 'anchor' : depth <= committed.length ? 'drafted' : 'past';
  });

export const layOut = (round: DecodedRound): readonly Cell[] => {
  const { pieces, parents, path, committed } = round;
  const fates = fatesOf(round);
  const children = childrenOf(parents);
  const cells: Cell[] = [];
  const last = path.at(-1) ?? 0;
  const own = committed.length === path.length ? committed.at(-1) : undefined;
  let rows = 0;
  const place = (node: number, column: number, row: number, up: number): void => {
    cells.push({ text: pieces[node] ?? '', fate: fates[node] ?? 'rejected', row, column, up });
    const following = (children[node] ?? []).toSorted((a, b) => Number(path.includes(b)) - Number(path.includes(a)));
    let first = true;
    const begin = (): number => {
      const at = first ? row : ++rows;
      first = false;
      return at;
    };
    if (node === last && own) cells.push({ text: own.text, fate: own.source, row: begin(), column: column + 1, up: 0 });
    for (const child of following) {
      const at = begin();
      place(child, column + 1, at, at - row);
    }
  };
  if (pieces.length > 0) place(0, 0, 0, 0);
  else committed.forEach(({ text, source }, column) => void cells.push({ text, fate: source, row: 0, column, up: 0 }));
  return cells;
};

/** What would have followed the last kept draft if the drafter had had its way: its most probable line from there. */
export const rejectedLine = ({ pieces, parents, path }: DecodedRound): readonly string[] => {
  const children = childrenOf(parents);
  const line: string[] = [];
  for (let node = children[path.at(-1) ?? -1]?.[0]; node !== undefined; node = children[node]?.[0])
    line.push(pieces[node] ?? '');
  return line;
};

/** Spaces and line ends as they can be seen. */
export const visible = (text: string): string => text.replaceAll('\n', '↵').replace(/^ +$/, '␣') || '∎';
