// The figures of a row, computed from its runs by the same code as on the command line.
import { PLAIN, type SystemReport, sameRuns, summarise } from '../../../src/cli/bench/report.ts';
import type { DeviceCard } from '../../../src/index.ts';
import type { TraceEvent } from '../../../src/trace/index.ts';
import type { HostMemory } from '../queue/host-memory.ts';
import type { Plan, Row } from '../queue/plan.ts';

/** A row of the result; field names are those of `outrider bench --json`. */
export interface ResultRow extends SystemReport {
  readonly title: string;
  readonly guarantee: Row['guarantee'];
  /** Version of a peer's package. */
  readonly version: string | null;
  readonly host_memory: HostMemory | null;
  /** Runs without warm-ups. */
  readonly runs: number;
  /** Runs that the token limit ended. */
  readonly cut_off: number;
  readonly faults: readonly { readonly prompt: number; readonly message: string }[];
}

const isCutOff = (events: readonly TraceEvent[]): boolean => {
  const done = events.at(-1);
  return done?.type === 'done' && done.finish_reason === 'length';
};

export const resultOf = (row: Row, rows: readonly Row[], plan: Plan, card: DeviceCard | null): ResultRow => {
  const { name, title, guarantee, version, host, samples, bytes, peer, baseline } = row;
  const against = baseline ? rows.find((each) => !each.peer && sameRuns(each.entry, baseline)) : row;
  // A peer with other weights gives other tokens.
  const equal = plan.temperature === 0 && (peer ? peer.same : guarantee === 'exact');
  const ceiling = { bytes, bandwidth: (card?.bandwidth_gb_per_second ?? 0) * 1e9 };
  const reference = { name: against?.name ?? PLAIN.name, samples: against?.samples ?? [] };
  const faults = row.cells.flatMap(({ fault }, prompt) => (fault ? [{ prompt, message: fault.message }] : []));
  const report = summarise({ id: name, equal: equal && samples.length > 0 }, samples, reference, ceiling);
  const cutOff = samples.filter(({ events }) => isCutOff(events)).length;
  return { ...report, cut_off: cutOff, title, guarantee, version, host_memory: host, runs: samples.length, faults };
};
