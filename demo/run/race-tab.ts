// The Race tab: a problem, its answer by the chosen system, and beside it the same prompt decoded plainly.
import { type RunRequest, SYSTEMS } from '../../src/index.ts';
import type { Session } from '../session.ts';
import { element } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { sampling } from '../shared/sampling.ts';
import type { Outcome } from './outcome.ts';
import { Problems } from './problems.ts';
import { Contest, type Entry } from './race.ts';
import { RunView } from './run-view.ts';

/** What is looked at in Inspect; it costs readbacks, so a race goes without. */
export interface Closer {
  readonly logprobs?: number;
  readonly profile?: boolean;
}

/** Alternatives at each position. */
const ALTERNATIVES = 3;

/** Hears of every live run that ended, and of the plain run of the same request where there was one. */
export type Told = (outcome: Outcome, entry: Entry, plain: Outcome | null) => void;

/** `system`: of recordings, one by that system; live, the page's choice is what counts. */
export interface Wanted extends Closer {
  readonly system?: string;
}

/** Who would run now. */
export type Start = (wanted: Wanted) => Entry | Promise<Entry>;

export interface Finished {
  readonly run: Outcome;
  readonly plain: Outcome | null;
}

export class RaceTab {
  readonly problems = new Problems();
  readonly #contest = new Contest(new RunView());
  readonly #go = element('go', HTMLButtonElement);
  readonly #race = element('race-go', HTMLButtonElement);
  readonly #lost: () => void;
  readonly #told: Told;
  /** Null while nothing can run. */
  #start: Start | null = null;
  #label = 'Answer';
  #running: AbortController | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  readonly #preview = new AbortController();
  /** What runs makes room for a recording, which is shown and held already. */
  #replaced = false;

  /** `lost` is called when the device went away in a run. */
  constructor(lost: () => void, told: Told) {
    this.#lost = lost;
    this.#told = told;
    this.#go.addEventListener('click', () => this.#press());
    this.#race.addEventListener('click', () => void this.race());
    element('problem', HTMLTextAreaElement).addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !this.#running) this.#press();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.stop();
    });
  }

  /** From here on the buttons start this. */
  offer(start: Start, label?: string): void {
    this.#start = start;
    if (label) this.#label = label;
    this.#showButtons();
  }

  /** Nothing can be started; the session ends what it runs, and a recording goes on. */
  block(): void {
    this.#start = null;
    this.#showButtons();
  }

  stop(): void {
    this.#running?.abort();
  }

  /** Models changed. */
  forget(): void {
    this.#contest.forget();
  }

  /** A plain run that need not be made: a recording's. */
  know(key: string, plain: Outcome): void {
    this.#contest.know(key, plain);
  }

  /** A recording of the problem in the box, until something runs; none where there is none of it. */
  async preview(system: string): Promise<void> {
    const { signal } = this.#preview;
    const { recorded, recordings, SLOWER } = await import('../traces/recordings.ts');
    const found = (await recordings()).find(
      (each) => each.system === system && each.problem.question === this.problems.question,
    );
    if (!found) return;
    const [run, plain] = await Promise.all([recorded(found.file), recorded(found.plain)]);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const { title = system } = SYSTEMS.find(({ id }) => id === system) ?? {};
    if (signal.aborted) return;
    const pace = { slower: still ? 0 : SLOWER, together: Promise.resolve(), signal };
    await this.#contest.preview(title, { system: run, plain }, pace);
  }

  async answer(wanted: Wanted = { logprobs: ALTERNATIVES }): Promise<Outcome | null> {
    const answered = (entry: Entry, signal: AbortSignal) => this.#contest.answer(entry, signal);
    return (await this.#work(this.#start, wanted, answered))?.run ?? null;
  }

  /** Null where it could not begin, or was stopped. */
  async race(wanted: Wanted = {}): Promise<Finished | null> {
    const finished = await this.#work(this.#start, wanted, (entry, signal) => this.#show(entry, signal));
    return finished?.run.complete ? finished : null;
  }

  /** A recording, in the place of whatever runs; with or without a model. */
  async play(entry: Entry): Promise<void> {
    this.#replaced = true;
    this.stop();
    await this.#ended;
    this.#replaced = false;
    await this.#work(
      () => entry,
      null,
      (_, signal) => this.#show(entry, signal),
    );
  }

  #show(entry: Entry, signal: AbortSignal): Promise<Outcome> {
    return entry.alone ? this.#contest.answer(entry, signal) : this.#contest.race(entry, signal);
  }

  /** The problem in the box, answered by the session's models. */
  live(session: Session, { system: _, ...closer }: Wanted): Entry {
    const asked: RunRequest = {
      prompt: { messages: [{ role: 'user', content: this.problems.question }] },
      ...sampling(),
      ...closer,
    };
    const { id, title, guarantee, baseline = 'autoregressive' } = session.systems.system;
    const known = SYSTEMS.find((system) => system.id === baseline)?.knobs ?? {};
    const settings = Object.entries(session.systems.settings).filter(([name]) => Object.hasOwn(known, name));
    const plain: RunRequest = { ...asked, system: baseline, knobs: Object.fromEntries(settings) };
    return {
      name: title,
      problem: this.problems.current,
      greedy: asked.temperature === 0,
      exact: guarantee === 'exact',
      baseline,
      alone: id === baseline,
      key: JSON.stringify(plain),
      system: (signal) => session.run({ ...asked, system: id, knobs: session.systems.settings }, signal),
      plain: (signal) => session.run(plain, signal),
    };
  }

  #press(): void {
    if (this.#running) this.stop();
    else void this.answer();
  }

  #showButtons(): void {
    this.#go.textContent = this.#running ? 'Stop' : this.#label;
    this.#go.disabled = !this.#start && !this.#running;
    this.#race.disabled = !this.#start || this.#running !== null;
  }

  /** One thing at a time; the button stops it. A recording wants nothing, and nobody is told of it. */
  async #work(
    start: Start | null,
    wanted: Wanted | null,
    task: (entry: Entry, signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Finished | null> {
    if (!start || this.#running) return null;
    let ended = (): void => {};
    this.#ended = new Promise<void>((resolve) => {
      ended = resolve;
    });
    this.#preview.abort();
    this.#running = new AbortController();
    this.#showButtons();
    hideFault();
    try {
      const entry = await start(wanted ?? {});
      const run = await task(entry, this.#running.signal);
      const plain = this.#contest.plainOf(entry.key);
      if (wanted && !this.#replaced) this.#told(run, entry, plain);
      return { run, plain };
    } catch (error) {
      if (showFault(error).code === 'device-lost') this.#lost();
      return null;
    } finally {
      this.#running = null;
      this.#showButtons();
      ended();
    }
  }
}
