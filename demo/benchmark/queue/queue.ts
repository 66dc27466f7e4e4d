// Systems × prompts, one after another. A row's runs have a worker of their own, or two where a peer runs beside our engine;
// each run of a system has one of its baseline next to it, so that a ratio compares neighbours. Whatever goes wrong is
// noted in its cell, the worker is thrown away, and the queue goes on with a new one.
import { type BenchEntry, type BenchPrompt, isRight, sameRuns } from '../../../src/cli/bench/report.ts';
import { OutriderError, toFault } from '../../../src/index.ts';
import { sentence } from '../../shared/faults.ts';
import { askMemory } from './host-memory.ts';
import type { Cell, Measured, Plan, Row } from './plan.ts';
import { openEngine, openPeer, type Request, type Runner } from './runner.ts';
import type { Attention } from './tab-visibility.ts';

/** Tokens of a warm-up: shaders are compiled and caches filled in the first rounds. */
const WARM_UP_TOKENS = 24;
/** Failures on end after which a row is given up. */
const MOST_FAILURES = 2;

/** Who runs what in a row. */
interface Bench extends Disposable {
  readonly own: Runner;
  readonly beside: Runner | null;
}

export interface QueueView {
  /** Something in the row is different. */
  changed(row: Row): void;
  /** What runs now, for people. */
  status(text: string): void;
}

export class Queue {
  readonly #plan: Plan;
  readonly #rows: readonly Row[];
  readonly #view: QueueView;
  readonly #attention: Attention;

  constructor(plan: Plan, rows: readonly Row[], view: QueueView, attention: Attention) {
    this.#plan = plan;
    this.#rows = rows;
    this.#view = view;
    this.#attention = attention;
  }

  /** Runs what these rows still lack. */
  async run(rows: readonly Row[], signal: AbortSignal): Promise<void> {
    for (const row of rows.filter(({ beside }) => !beside)) {
      if (signal.aborted) return;
      row.fault = null;
      for (const cell of row.cells) if (cell.state === 'failed') Object.assign(cell, { state: 'waiting', fault: null });
      await this.#runRow(row, signal);
    }
    for (const row of rows) if (row.beside) this.#tell(row, row.samples.length > 0 ? 'Done' : 'Not run');
  }

  async #runRow(row: Row, signal: AbortSignal): Promise<void> {
    let bench: Bench | null = null;
    let failures = 0;
    try {
      for (let repetition = 0; repetition < this.#plan.repeat; repetition++)
        for (const [index, cell] of row.cells.entries()) {
          if (cell.runs > repetition || cell.state === 'failed') continue;
          if (failures >= MOST_FAILURES) return;
          try {
            bench ??= await untilAborted(this.#open(row, signal), signal);
            await untilAborted(this.#pair(row, bench, index, repetition, signal), signal);
            failures = 0;
          } catch (error) {
            bench?.[Symbol.dispose]();
            bench = null;
            if (signal.aborted) return this.#stop(row, cell);
            this.#fail(row, cell, error);
            failures++;
          }
        }
      if (bench) await untilAborted(this.#weigh(row, bench), signal).catch(() => {}); // Cancel: its runs are done
      this.#tell(row, row.fault ? row.state : 'Done');
    } finally {
      bench?.[Symbol.dispose]();
    }
  }

  async #open(row: Row, signal: AbortSignal): Promise<Bench> {
    const { peer, entry } = row;
    await this.#attention.visible(signal);
    checkAborted(signal);
    const tell = (what: string): void => this.#tell(row, `Loading: ${what}`);
    const beside = peer && (await openEngine(this.#plan.setup(entry), tell));
    try {
      const own = peer ? await openPeer(peer.model, tell) : await openEngine(this.#plan.setup(entry), tell);
      Object.assign(row, { bytes: own.bytes, version: own.version });
      const plain = this.#baselineOf(row);
      if (plain) plain.bytes = { ...(beside ?? own).bytes, ...plain.bytes };
      const close = (): void => {
        for (const each of [own, beside]) each?.[Symbol.dispose]();
      };
      const bench = { own, beside, [Symbol.dispose]: close };
      if (!signal.aborted) await this.#warmUp(row, bench);
      if (signal.aborted) bench[Symbol.dispose](); // nobody waits for it any more
      return bench;
    } catch (error) {
      beside?.[Symbol.dispose]();
      throw error;
    }
  }

  #baselineOf({ baseline }: Row): Row | undefined {
    return this.#rows.find((each) => baseline && !each.peer && sameRuns(each.entry, baseline));
  }

  /** Workers are alive, and nothing runs in them. */
  async #weigh(row: Row, { own, beside }: Bench): Promise<void> {
    this.#view.status(`${row.title}: asking the browser what memory it takes`);
    const told = await askMemory();
    row.host = told(own.file);
    const plain = beside && this.#baselineOf(row);
    if (plain) plain.host = told(beside.file);
  }

  async #warmUp(row: Row, bench: Bench): Promise<void> {
    this.#tell(row, 'Warming up');
    const maxTokens = Math.min(WARM_UP_TOKENS, this.#plan.maxTokens);
    for (const [who, entry] of this.#lineUp(row, bench, 0))
      row.warmUps.push(await this.#one(row, who, entry, { ...this.#request(0, 0), maxTokens }, 0, -1));
  }

  /** Who runs what, and in which order: it changes, so that none always has the warmest caches. */
  #lineUp(row: Row, { own, beside }: Bench, turn: number): readonly (readonly [Runner, BenchEntry])[] {
    const mine = [own, row.entry] as const;
    if (!row.baseline) return [mine];
    const other = [beside ?? own, row.baseline] as const;
    return turn % 2 === 0 ? [other, mine] : [mine, other];
  }

  async #pair(row: Row, bench: Bench, index: number, repetition: number, signal: AbortSignal): Promise<void> {
    const cell = row.cells[index] as Cell;
    const request = this.#request(index, repetition);
    for (;;) {
      await this.#attention.visible(signal);
      if (signal.aborted) return;
      const { hides } = this.#attention;
      cell.state = 'running';
      this.#tell(row, `Prompt ${index + 1} of ${row.cells.length}, run ${repetition + 1} of ${this.#plan.repeat}`);
      const made: [BenchEntry | null, Measured][] = [];
      for (const [who, entry] of this.#lineUp(row, bench, index + repetition)) {
        const mine = who === bench.own && entry === row.entry;
        made.push([mine ? null : entry, await this.#one(row, who, entry, request, index, repetition)]);
      }
      if (signal.aborted) return;
      if (this.#attention.hides !== hides) continue;
      for (const [entry, sample] of made) this.#keep(row, entry, sample, index);
      cell.state = cell.runs === this.#plan.repeat ? 'done' : 'waiting';
      this.#view.changed(row);
      return;
    }
  }

  /** `entry`: a baseline's, whose row has the sample too; null: the row's own. */
  #keep(row: Row, entry: BenchEntry | null, sample: Measured, index: number): void {
    const owner = entry ? this.#rows.find((each) => !each.peer && sameRuns(each.entry, entry)) : row;
    const cell = owner?.cells[index];
    if (!owner || !cell) return;
    owner.samples.push(sample);
    cell.runs++;
    if (owner !== row) {
      cell.state = 'done';
      owner.state = 'Beside the others';
      this.#view.changed(owner);
    }
  }

  #request(index: number, repetition: number): Request {
    const { prompts, maxTokens, temperature, seed } = this.#plan;
    // Answers that are judged end where the model ends them; where only speed counts, every run is as long.
    const ignoreEos = prompts.every(({ result }) => result === null);
    const prompt = prompts[index] as BenchPrompt;
    return { prompt, maxTokens, temperature, seed: seed + repetition * prompts.length + index, ignoreEos };
  }

  async #one(
    row: Row,
    who: Runner,
    entry: BenchEntry,
    request: Request,
    index: number,
    repetition: number,
  ): Promise<Measured> {
    const name = who.version === null ? entry.name : row.name;
    const { events, counted } = await who.run(entry, request, (tokens) =>
      this.#view.status(`${name}: ${row.state.toLowerCase()}, ${tokens} tokens`),
    );
    const done = events.at(-1);
    if (done?.type !== 'done' || done.finish_reason === 'aborted')
      throw new OutriderError('bug', 'the run ended before its answer did');
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
    this.#tell(row, [fault.message, fault.hint].filter(Boolean).map(sentence).join(' '));
  }

  #stop(row: Row, cell: Cell): void {
    if (cell.state === 'running') cell.state = 'waiting';
    this.#tell(row, 'Cancelled');
  }

  #tell(row: Row, state: string): void {
    row.state = state;
    this.#view.changed(row);
    this.#view.status(`${row.title}: ${state}`);
  }
}

const checkAborted = (signal: AbortSignal): void => {
  if (signal.aborted) throw new OutriderError('aborted', 'cancelled');
};

/** What a terminated worker owes never comes. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  work.catch(() => {});
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new OutriderError('aborted', 'cancelled'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  aborted.catch(() => {});
  return Promise.race([work, aborted]);
};
