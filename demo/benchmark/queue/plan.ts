// The plan of a benchmark, as the form describes it, and the rows of its table.
import {
  type BenchEntry,
  type BenchPrompt,
  baselineOf,
  PLAIN,
  type Sample,
  sameRuns,
  withBaselines,
} from '../../../src/cli/bench/report.ts';
import type { Fault } from '../../../src/index.ts';
import type { PeerModel } from '../peer/peer-service.ts';
import type { Counts } from './counters.ts';
import type { HostMemory } from './host-memory.ts';
import type { EngineSetup } from './runner.ts';

export interface PeerEntry {
  readonly name: string;
  readonly model: PeerModel;
  /** It has the same weights as the target, so the same tokens are expected. */
  readonly same: boolean;
}

export interface Plan {
  readonly model: string;
  readonly precision: string;
  readonly suite: string;
  readonly prompts: readonly BenchPrompt[];
  readonly maxTokens: number;
  readonly repeat: number;
  readonly temperature: number;
  readonly seed: number;
  readonly systems: readonly BenchEntry[];
  readonly peers: readonly PeerEntry[];
  /** What the engine loads for a system. */
  setup(entry: BenchEntry): EngineSetup;
}

/** One run, with the GPU calls that it made. */
export interface Measured extends Sample {
  readonly repetition: number;
  readonly counted: Counts;
}

export type CellState = 'waiting' | 'running' | 'done' | 'failed';

/** One system on one prompt. */
export interface Cell {
  state: CellState;
  /** Finished runs, without warm-ups. */
  runs: number;
  fault: Fault | null;
}

/** A row of the table: one system, or one peer. */
export interface Row {
  readonly name: string;
  readonly title: string;
  readonly guarantee: 'exact' | 'approximate' | 'peer';
  readonly entry: BenchEntry;
  readonly peer: PeerEntry | null;
  /** Null for a row that is its own baseline. */
  readonly baseline: BenchEntry | null;
  /** It is the baseline of other rows and runs only next to them. */
  readonly runsWithOthers: boolean;
  readonly cells: readonly Cell[];
  readonly samples: Measured[];
  readonly warmUps: Measured[];
  /** Bytes of weights by role, known after loading. */
  bytes: Readonly<Record<string, number>>;
  version: string | null;
  /** Null until its runs are done, or if the browser reports nothing. */
  host: HostMemory | null;
  /** The current or last activity, as text. */
  state: string;
  fault: Fault | null;
}

/** How many runs each cell of a row gets: a baseline runs next to each of its neighbours. */
export const runsPerCell = ({ entry, runsWithOthers }: Row, rows: readonly Row[], repeat: number): number => {
  if (!runsWithOthers) return repeat;
  const isNeighbour = (row: Row): boolean =>
    !row.runsWithOthers && row.baseline !== null && sameRuns(row.baseline, entry);
  return repeat * rows.filter(isNeighbour).length;
};

const cells = (count: number): Cell[] =>
  Array.from({ length: count }, () => ({ state: 'waiting', runs: 0, fault: null }));

const empty = (count: number) => ({
  cells: cells(count),
  samples: [],
  warmUps: [],
  bytes: {},
  version: null,
  host: null,
  state: 'Waiting',
  fault: null,
});

export const rowsOf = ({ systems, peers, prompts }: Plan): Row[] => {
  const entries = withBaselines(systems);
  const isBaseline = (entry: BenchEntry): boolean =>
    (peers.length > 0 && sameRuns(entry, PLAIN)) ||
    systems.some((each) => !sameRuns(each, entry) && sameRuns(baselineOf(each), entry));
  const own = entries.map((entry): Row => {
    const { title, guarantee } = entry.system;
    const base = baselineOf(entry);
    const settings = entry.name.slice(entry.system.id.length + 1).replaceAll(':', ', ');
    return {
      ...empty(prompts.length),
      name: entry.name,
      title: settings ? `${title} (${settings})` : title,
      guarantee,
      entry,
      peer: null,
      baseline: sameRuns(base, entry) ? null : base,
      runsWithOthers: isBaseline(entry),
    };
  });
  const others = peers.map(
    (peer): Row => ({
      ...empty(prompts.length),
      name: peer.name,
      title: peer.name,
      guarantee: 'peer',
      entry: PLAIN,
      peer,
      baseline: PLAIN,
      runsWithOthers: false,
    }),
  );
  return [...own, ...others];
};
