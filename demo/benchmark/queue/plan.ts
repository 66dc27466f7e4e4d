// What is to be measured, as the form says it, and the rows that it makes.
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
  /** It has our target's own weights, so that the same tokens may be expected of it. */
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
  /** How our engine is opened for a system. */
  setup(entry: BenchEntry): EngineSetup;
}

/** One run, with what reached the GPU in it. */
export interface Measured extends Sample {
  readonly repetition: number;
  readonly counted: Counts;
}

export type CellState = 'waiting' | 'running' | 'done' | 'failed';

/** A system on a prompt. */
export interface Cell {
  state: CellState;
  /** Runs that count. */
  runs: number;
  fault: Fault | null;
}

/** One system's, or one peer's. */
export interface Row {
  readonly name: string;
  readonly title: string;
  readonly guarantee: 'exact' | 'approximate' | 'peer';
  readonly entry: BenchEntry;
  readonly peer: PeerEntry | null;
  /** Null: a baseline is held against itself. */
  readonly baseline: BenchEntry | null;
  /** Runs beside others only, which it is the baseline of. */
  readonly beside: boolean;
  readonly cells: readonly Cell[];
  readonly samples: Measured[];
  readonly warmUps: Measured[];
  /** Weights of each role, known once it was loaded. */
  bytes: Readonly<Record<string, number>>;
  version: string | null;
  /** Null until its runs are done, and where the browser tells nothing. */
  host: HostMemory | null;
  /** What happens now, or happened last. */
  state: string;
  fault: Fault | null;
}

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
      beside: isBaseline(entry),
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
      beside: false,
    }),
  );
  return [...own, ...others];
};
