// The rounds of a run, read from its events: what was drafted, accepted and committed. Also the layout of a round on a
// grid: the committed path on the first row, rejected drafts branching off below it.
import type { EventOf, Role, Source, TraceEvent } from '../../src/trace/index.ts';
import type { ModelNames } from '../models/family.ts';
import { memberOf, votesOf } from './votes.ts';

interface CommittedToken {
  readonly text: string;
  readonly source: Source;
  /** Ensembles: index of the model that proposed the token; -1: none did. */
  readonly member?: number;
}

export interface DecodedRound {
  readonly round: number;
  /** The role that drafted; null in a plain round. */
  readonly by: Role | null;
  /** Ensembles: the role that proposed each verified draft, in this round or an earlier one. */
  readonly proposers: readonly Role[];
  /** Step routers: the step that this round belongs to, and the role that writes it. */
  readonly step: { readonly step: number; readonly by: Role } | null;
  /** The draft tree, whose node 0 is the anchor; empty in a plain round. */
  readonly pieces: readonly string[];
  readonly parents: readonly number[];
  /** Nodes that the target accepted, the anchor first. */
  readonly path: readonly number[];
  /** The accepted drafts and the target's own token after them, up to the end of the answer. */
  readonly committed: readonly CommittedToken[];
  readonly ms: number;
  /** Model names of the run, by role. */
  readonly models: ModelNames;
}

/** Of each token; or text that was held back and comes without one. */
const textsOf = ({ tokens, pieces, text }: Said): readonly string[] =>
  pieces ?? (tokens.length === 0 && text ? [text] : tokens.map((token) => `${token} `));

interface Said {
  readonly tokens: readonly number[];
  readonly pieces?: readonly string[];
  readonly text?: string | null;
}

/** Turns events into rounds; a round is complete when it commits. */
export class RoundReader {
  #draft: Draft = PLAIN;
  #path: readonly number[] = [];
  #step: DecodedRound['step'] = null;
  #stepEnds = false;
  /** Ensembles: proposed tokens that are not verified yet. */
  #unverified: readonly string[] = [];
  #last = '';
  #models: ModelNames = {};

  add(event: TraceEvent): DecodedRound | null {
    if (event.type === 'run') this.#models = event.models ?? {};
    if (event.type === 'draft') {
      this.#draft = { by: event.by, pieces: textsOf(event), parents: event.parents, proposers: [] };
      this.#unverified = [...this.#unverified, ...this.#draft.pieces.slice(1)];
    }
    if (event.type === 'verify') {
      this.#path = event.path;
      if (event.checked) this.#decide(event.checked);
    }
    if ((event.type === 'draft' || event.type === 'verify') && event.step !== undefined)
      this.#step = { step: event.step, by: 'target' };
    if (event.type === 'route') {
      this.#step = { step: event.step, by: event.to };
      this.#forget(); // the target of an oracle has already written: its rounds are committed together, or none is
    }
    if (event.type === 'step') {
      this.#step = { step: event.step, by: event.by };
      this.#stepEnds = true;
    }
    return event.type === 'commit' ? this.#commit(event) : null;
  }

  #commit(event: EventOf<'commit'>): DecodedRound {
    const members = votesOf(event).map(memberOf);
    const committed = textsOf(event).map((text, i) => ({
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

  /** The verified drafts are the earliest proposals, in a chain. A rejected draft drops all proposals after it. */
  #decide(proposers: readonly Role[]): void {
    const drafts = this.#unverified.slice(0, proposers.length);
    const pieces = [this.#last, ...drafts];
    this.#unverified = this.#path.length > drafts.length ? this.#unverified.slice(drafts.length) : [];
    this.#draft =
      drafts.length === 0 ? PLAIN : { by: 'target', pieces, parents: pieces.map((_, i) => i - 1), proposers };
  }
}

type Draft = Pick<DecodedRound, 'by' | 'pieces' | 'parents' | 'proposers'>;

const PLAIN: Draft = { by: null, pieces: [], parents: [], proposers: [] };

/** What became of a node; `past`: accepted, but after the end of the answer. */
export type TokenStatus = 'anchor' | 'rejected' | 'past' | Source;

export interface Cell {
  readonly text: string;
  readonly status: TokenStatus;
  /** From 0. A first child is on the row of its parent. */
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

export const statusesOf = ({ pieces, path, committed }: DecodedRound): readonly TokenStatus[] =>
  pieces.map((_, node) => {
    const depth = path.indexOf(node);
    if (depth < 0) return 'rejected';
    return depth === 0 ? 'anchor' : depth <= committed.length ? 'drafted' : 'past';
  });

export const layOut = (round: DecodedRound): readonly Cell[] => {
  const { pieces, parents, path, committed } = round;
  const statuses = statusesOf(round);
  const children = childrenOf(parents);
  const cells: Cell[] = [];
  const last = path.at(-1) ?? 0;
  const own = committed.length === path.length ? committed.at(-1) : undefined;
  let rows = 0;
  const place = (node: number, column: number, row: number, up: number): void => {
    cells.push({ text: pieces[node] ?? '', status: statuses[node] ?? 'rejected', row, column, up });
    const following = (children[node] ?? []).toSorted((a, b) => Number(path.includes(b)) - Number(path.includes(a)));
    let first = true;
    const begin = (): number => {
      const at = first ? row : ++rows;
      first = false;
      return at;
    };
    if (node === last && own)
      cells.push({ text: own.text, status: own.source, row: begin(), column: column + 1, up: 0 });
    for (const child of following) {
      const at = begin();
      place(child, column + 1, at, at - row);
    }
  };
  if (pieces.length > 0) place(0, 0, 0, 0);
  else
    committed.forEach(({ text, source }, column) => void cells.push({ text, status: source, row: 0, column, up: 0 }));
  return cells;
};

/** Rows of the tallest of their trees. Not all cells at once: those of a long run are more than a call's arguments. */
export const mostRows = (rounds: readonly DecodedRound[]): number =>
  rounds.reduce((most, round) => Math.max(most, ...layOut(round).map(({ row }) => row + 1)), 0);

/** The drafter's most probable continuation after the last accepted draft, which the target rejected. */
export const rejectedLine = ({ pieces, parents, path }: DecodedRound): readonly string[] => {
  const children = childrenOf(parents);
  const line: string[] = [];
  for (let node = children[path.at(-1) ?? -1]?.[0]; node !== undefined; node = children[node]?.[0])
    line.push(pieces[node] ?? '');
  return line;
};

/** Text with visible signs for spaces and line ends. */
export const visible = (text: string): string => text.replaceAll('\n', '↵').replace(/^ +$/, '␣') || '∎';

/** A token in a sentence. */
export const quoted = (text: string): string => `“${visible(text).trim() || '␣'}”`;
