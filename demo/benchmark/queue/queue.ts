// Runs all systems on all prompts, one run at a time. All rows share the engine's worker, so that each shader is
// compiled once; each peer has its own. Every run of a system has a run of its baseline next to it, so that ratios
// compare neighbours. An error is noted in its cell, and the queue goes on with a new worker.
import { type BenchEntry, type BenchPrompt, isRight, sameRuns } from '../../../src/cli/bench/report.ts';
import { OutriderError, toFault } from '../../../src/index.ts';
import { sentence } from '../../shared/faults.ts';
import { many } from '../../shared/words.ts';
import { askMemory } from './host-memory.ts';
import { type Cell, type Measured, type Plan, type Row, runsPerCell } from './plan.ts';
import { type EngineRunner, openEngine, openPeer, type Request, type Runner } from './runner.ts';
import type { TabVisibility } from './tab-visibility.ts';
import { untilAborted } from './until-aborted.ts';

/** Tokens of a warm-up run, which compiles shaders and fills caches. */
const WARM_UP_TOKENS = 24;
/** Consecutive failures after which a row is given up. */
const MOST_FAILURES = 2;

/** What runs a row. */
interface Runners {
  readonly own: Runner;
  /** The engine that runs the baseline of a peer. */
  readonly baseline: Runner | null;
}

export interface QueueView {
  /** Called when something in the row changed. */
  changed(row: Row): void;
  /** Shows what is running, and how far it is. */
  status(text: string, count?: string): void;
}

export class Queue {
  readonly #plan: Plan;
  readonly #rows: readonly Row[];
  readonly #view: QueueView;
  readonly #visibility: TabVisibility;
  #engine: EngineRunner | null = null;
  #peer: Runner | null = null;

  constructor(plan: Plan, rows: readonly Row[], view: QueueView, visibility: TabVisibility) {
    this.#plan = plan;
    this.#rows = rows;
    this.#view = view;
    this.#visibility = visibility;
  }

  /** Makes the missing runs of these rows. */
  async run(rows: readonly Row[], signal: AbortSignal): Promise<void> {
    try {
      await this.#runRows(rows, signal);
    } finally {
      this.#close();
    }
  }

  async #runRows(rows: readonly Row[], signal: AbortSignal): Promise<void> {
    for (const row of rows.filter(({ runsWithOthers }) => !runsWithOthers)) {
      if (signal.aborted) return;
      row.fault = null;
      for (const cell of row.cells) if (cell.state === 'failed') Object.assign(cell, { state: 'waiting', fault: null });
      await this.#runRow(row, signal);
    }
    for (const row of rows.filter(({ runsWithOthers }) => runsWithOthers)) {
      for (const cell of row.cells) if (cell.runs > 0) cell.state = 'done'; // a neighbour may have failed
      this.#setState(row, row.samples.length > 0 ? 'Done' : 'Not run');
    }
  }

  async #runRow(row: Row, signal: AbortSignal): Promise<void> {
    let runners: Runners | null = null;
    let failures = 0;
    try {
      for (let repetition = 0; repetition < this.#plan.repeat; repetition++)
        for (const [index, cell] of row.cells.entries()) {
          if (cell.runs > repetition || cell.state === 'failed') continue;
          if (failures >= MOST_FAILURES) return;
          try {
            runners ??= await untilAborted(this.#open(row, signal), signal);
            await untilAborted(this.#runPair(row, runners, index, repetition, signal), signal);
            failures = 0;
          } catch (error) {
            this.#close();
            runners = null;
            if (signal.aborted) return this.#stop(row, cell);
            this.#fail(row, cell, error);
            failures++;
          }
        }
      // An abort here is ignored: the runs are done.
      if (runners) await untilAborted(this.#measureMemory(row, runners), signal).catch(() => {});
      this.#setState(row, row.fault ? row.state : 'Done');
    } finally {
      this.#closePeer();
    }
  }

  /** Ends all workers. */
  #close(): void {
    this.#closePeer();
    this.#engine?.[Symbol.dispose]();
    this.#engine = null;
  }

  #closePeer(): void {
    this.#peer?.[Symbol.dispose]();
    this.#peer = null;
  }

  async #open(row: Row, signal: AbortSignal): Promise<Runners> {
    const { peer, entry } = row;
    await this.#visibility.visible(signal);
    signal.throwIfAborted();
    const onProgress = (what: string, count?: string): void => {
      // A message that was on its way when the worker was ended still arrives.
      if (!signal.aborted) this.#setState(row, `Loading: ${what}`, count);
    };
    const setup = this.#plan.setup(entry);
    this.#engine ??= openEngine(setup.base);
    const engine = this.#engine;
    await engine.load(setup, onProgress);
    signal.throwIfAborted();
    if (peer) this.#peer = await openPeer(peer.model, onProgress, signal);
    const own = this.#peer ?? engine;
    if (signal.aborted) this.#close(); // the caller has stopped waiting
    signal.throwIfAborted();
    Object.assign(row, { bytes: own.bytes, version: own.version });
    const plain = this.#baselineOf(row);
    if (plain) plain.bytes = { ...engine.bytes, ...plain.bytes };
    const runners = { own, baseline: peer && engine };
    await this.#warmUp(row, runners);
    return runners;
  }

  #baselineOf({ baseline }: Row): Row | undefined {
    return this.#rows.find((each) => baseline && !each.peer && sameRuns(each.entry, baseline));
  }

  /** Measures host memory while the workers are alive and idle. */
  async #measureMemory(row: Row, { own, baseline }: Runners): Promise<void> {
    this.#view.status(`${row.title}: measuring host memory`);
    const memoryOf = await askMemory();
    row.host = memoryOf(own.file);
    const plain = baseline && this.#baselineOf(row);
    if (plain) plain.host = memoryOf(baseline.file);
  }

  async #warmUp(row: Row, runners: Runners): Promise<void> {
    this.#setState(row, 'Warming up');
    const maxTokens = Math.min(WARM_UP_TOKENS, this.#plan.maxTokens);
    for (const [runner, entry] of this.#order(row, runners, 0))
      row.warmUps.push(await this.#runOnce(row, runner, entry, { ...this.#request(0, 0), maxTokens }, 0, -1));
  }

  /** The runs of a pair. Their order alternates, so that neither always has the warmer caches. */
  #order(row: Row, { own, baseline }: Runners, pair: number): readonly (readonly [Runner, BenchEntry])[] {
    const mine = [own, row.entry] as const;
    if (!row.baseline) return [mine];
    const other = [baseline ?? own, row.baseline] as const;
    return pair % 2 === 0 ? [other, mine] : [mine, other];
  }

  async #runPair(row: Row, runners: Runners, index: number, repetition: number, signal: AbortSignal): Promise<void> {
    const cell = row.cells[index] as Cell;
    const request = this.#request(index, repetition);
    for (;;) {
      await this.#visibility.visible(signal);
      if (signal.aborted) return;
      const { hides } = this.#visibility;
      cell.state = 'running';
      this.#setState(row, `Prompt ${index + 1} of ${row.cells.length}, run ${repetition + 1} of ${this.#plan.repeat}`);
      const made: [BenchEntry | null, Measured][] = [];
      for (const [runner, entry] of this.#order(row, runners, index + repetition)) {
        const mine = runner === runners.own && entry === row.entry;
        made.push([mine ? null : entry, await this.#runOnce(row, runner, entry, request, index, repetition)]);
      }
      if (signal.aborted) return;
      if (this.#visibility.hides !== hides) continue;
      for (const [entry, sample] of made) this.#keep(row, entry, sample, index);
      cell.state = cell.runs === this.#plan.repeat ? 'done' : 'waiting';
      this.#view.changed(row);
      return;
    }
  }

  /** `entry`: of the baseline, whose row gets the sample; null: of the row itself. */
  #keep(row: Row, entry: BenchEntry | null, sample: Measured, index: number): void {
    const owner = entry ? this.#rows.find((each) => !each.peer && sameRuns(each.entry, entry)) : row;
    const cell = owner?.cells[index];
    if (!owner || !cell) return;
    owner.samples.push(sample);
    cell.runs++;
    if (owner !== row) {
      cell.state = cell.runs === runsPerCell(owner, this.#rows, this.#plan.repeat) ? 'done' : 'waiting';
      owner.state = 'Runs with the others';
      this.#view.changed(owner);
    }
  }

  #request(index: number, repetition: number): Request {
    const { prompts, maxTokens, temperature, seed } = this.#plan;
    // Judged answers end where the model ends them. If only speed counts, all runs have the same length.
    const ignoreEos = prompts.every(({ result }) => result === null);
    const prompt = prompts[index] as BenchPrompt;
    return { prompt, maxTokens, temperature, seed: seed + repetition * prompts.length + index, ignoreEos };
  }

  async #runOnce(
    row: Row,
    runner: Runner,
    entry: BenchEntry,
    request: Request,
    index: number,
    repetition: number,
  ): Promise<Measured> {
    const name = runner.version === null ? entry.name : row.name;
    const { events, counted } = await runner.run(entry, request, (tokens) =>
      this.#view.status(`${row.title}: ${row.state}`, `· ${name}, ${many(tokens, 'token')}`),
    );
    const done = events.at(-1);
    if (done?.type !== 'done' || done.finish_reason === 'aborted')
      throw new OutriderError('bug', 'the run ended before its answer was complete');
    return {
      key: `${row.name}/${repetition}/${index}`,
      prompt: index,
      repetition,
      events,
      counted,
      right: isRight(request.prompt, done.text),
      answer: request.prompt.answer,
      peakBytes: counted.peakBytes,
    };
  }

  #fail(row: Row, cell: Cell, error: unknown): void {
    const fault = toFault(error);
    Object.assign(cell, { state: 'failed', fault });
    row.fault = fault;
    this.#setState(row, [fault.message, fault.hint].filter(Boolean).map(sentence).join(' '));
  }

  #stop(row: Row, cell: Cell): void {
    if (cell.state === 'running') cell.state = 'waiting';
    this.#setState(row, 'Cancelled');
  }

  #setState(row: Row, state: string, count = ''): void {
    row.state = `${state} ${count}`.trim();
    this.#view.changed(row);
    this.#view.status(`${row.title}: ${state}`, count);
  }
}
