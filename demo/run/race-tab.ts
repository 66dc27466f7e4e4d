// The Race tab: a problem, its answer by the chosen system, and the same prompt decoded plainly for comparison.
import { type RunRequest, SYSTEMS } from '../../src/index.ts';
import type { Session } from '../session.ts';
import { forgiveDoubleClick } from '../shared/double-click.ts';
import { element } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { sampling } from '../shared/sampling.ts';
import { bringIntoView } from '../shared/stillness.ts';
import type { Terms } from './finish.ts';
import { LOGPROBS } from './moments.ts';
import type { Outcome } from './outcome.ts';
import { Problems } from './problems.ts';
import { type Details, type Entry, Race, type Raced } from './race.ts';
import { RunView } from './run-view.ts';

/** Called after every live run, with the plain run of the same request if there is one. */
export type OnFinished = (raced: Raced, entry: Entry) => void;

/** What to run. `system` chooses among recordings; live runs use the system chosen on the page. */
export interface Wanted extends Details {
  readonly system?: string;
  /** Default: the problem in the box. */
  readonly question?: string;
}

/** Brings the answer into view. */
export const showAnswer = (): void => bringIntoView(element('answer-title', HTMLElement));

/** Makes the entry of the next run. */
export type Start = (wanted: Wanted) => Entry | Promise<Entry>;

export interface Finished {
  readonly run: Outcome;
  readonly plain: Outcome | null;
  /** What may be said of them. */
  readonly terms: Terms;
}

export class RaceTab {
  readonly problems = new Problems(() => this.#problemChanged());
  readonly #race = new Race(new RunView());
  readonly #go = element('go', HTMLButtonElement);
  readonly #raceGo = element('race-go', HTMLButtonElement);
  readonly #onDeviceLost: () => void;
  readonly #onFinished: OnFinished;
  /** Null while nothing can run. */
  #start: Start | null = null;
  #label = 'Answer';
  #running: AbortController | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  /** The current run makes room for a trace, so it is not reported as finished. */
  #replaced = false;

  constructor(onDeviceLost: () => void, onFinished: OnFinished) {
    this.#onDeviceLost = onDeviceLost;
    this.#onFinished = onFinished;
    forgiveDoubleClick(this.#go, () => this.#running !== null);
    this.#go.addEventListener('click', () => this.#press());
    this.#raceGo.addEventListener('click', () => {
      showAnswer();
      void this.race();
    });
    this.problems.onShow = () => this.#showButtons();
    element('problem', HTMLTextAreaElement).addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !this.#running) this.#press();
    });
    document.addEventListener('keydown', (event) => {
      // Where a menu is open, Escape closes that alone.
      if (event.key === 'Escape' && !document.querySelector('[popover=""]:popover-open')) this.stop();
    });
  }

  /** Enables the buttons, which start this from now on. */
  offer(start: Start, label?: string): void {
    this.#start = start;
    if (label) this.#label = label;
    this.#showButtons();
  }

  /** Disables the buttons. The session ends its own run; a recording goes on. */
  block(): void {
    this.#start = null;
    this.#showButtons();
  }

  stop(): void {
    this.#running?.abort();
  }

  async answer(wanted: Wanted = { logprobs: LOGPROBS }): Promise<Outcome | null> {
    const answered = async (entry: Entry, signal: AbortSignal) => ({ run: await this.#race.answer(entry, signal) });
    return (await this.#work(this.#start, wanted, answered))?.run ?? null;
  }

  /** Null if it could not start or was stopped. */
  async race(wanted: Wanted = {}): Promise<Finished | null> {
    const finished = await this.#work(this.#start, { fresh: true, ...wanted }, (entry, signal) =>
      this.#show(entry, signal),
    );
    return finished?.run.complete ? finished : null;
  }

  /**
   * Plays a trace, with or without a model. It replaces the current run. `start` is called once that has ended: until
   * then a recording that is still being fetched may put its own problem into the box.
   */
  async play(start: () => Entry): Promise<void> {
    // More than once where another trace was opened just before.
    while (this.#running) {
      this.#replaced = true;
      this.stop();
      await this.#ended;
      this.#replaced = false;
    }
    await this.#work(start, null, (entry, signal) => this.#show(entry, signal));
  }

  async #show(entry: Entry, signal: AbortSignal): Promise<Raced> {
    return entry.alone ? { run: await this.#race.answer(entry, signal) } : this.#race.race(entry, signal);
  }

  /** A problem, to be answered by the session's models. */
  live(session: Session, { system: _, question = this.problems.question, ...details }: Wanted): Entry {
    const asked: RunRequest = {
      prompt: session.promptOf([{ role: 'user', content: question }]),
      ...sampling(),
      ...details,
    };
    const mine: RunRequest = { ...asked, ...session.systems.request };
    const { knobs = {}, document } = mine;
    const { id, title, guarantee, baseline = 'autoregressive' } = session.systems.system;
    const known = SYSTEMS.find((system) => system.id === baseline)?.knobs ?? {};
    const settings = Object.entries(knobs).filter(([name]) => Object.hasOwn(known, name));
    const plain: RunRequest = { ...asked, system: baseline, knobs: Object.fromEntries(settings) };
    return {
      name: title,
      question,
      problem: this.problems.known(question),
      document,
      greedy: asked.temperature === 0,
      exact: guarantee === 'exact',
      baseline,
      alone: id === baseline,
      system: (signal, more) => session.run({ ...mine, ...more }, signal),
      plain: (signal, more) => session.run({ ...plain, ...more }, signal),
    };
  }

  /** What is on the page answers another problem. */
  #problemChanged(): void {
    if (!this.#running) this.#race.clear();
  }

  #press(): void {
    if (this.#running) this.stop();
    else if (!this.#go.disabled) void this.answer();
  }

  #showButtons(): void {
    this.#go.textContent = this.#running ? 'Stop' : this.#label;
    const nothing = !this.#start || this.problems.question === '';
    this.#go.disabled = nothing && !this.#running;
    this.#raceGo.disabled = nothing || this.#running !== null;
  }

  /** Runs one task at a time, which the button stops. A trace has nothing `wanted` and is not reported as finished. */
  async #work(
    start: Start | null,
    wanted: Wanted | null,
    task: (entry: Entry, signal: AbortSignal) => Promise<Raced>,
  ): Promise<Finished | null> {
    if (!start || this.#running || (wanted && this.problems.question === '')) return null;
    let ended = (): void => {};
    this.#ended = new Promise<void>((resolve) => {
      ended = resolve;
    });
    this.#running = new AbortController();
    this.#showButtons();
    hideFault();
    let asked = this.problems.question;
    try {
      const entry = await start(wanted ?? {});
      asked = wanted?.question ?? this.problems.question; // a recording has brought its own
      const raced = await task(entry, this.#running.signal);
      if (wanted && !this.#replaced) this.#onFinished(raced, entry);
      return { run: raced.detailed ?? raced.run, plain: raced.plain ?? null, terms: entry };
    } catch (error) {
      const { code } = showFault(error);
      this.#race.ended(code === 'aborted' ? 'The run was stopped.' : 'The run failed.');
      if (code === 'device-lost') this.#onDeviceLost();
      return null;
    } finally {
      this.#running = null;
      if (this.problems.question !== asked) this.#race.clear(); // what is on the page answers another problem
      this.#showButtons();
      ended();
    }
  }
}
