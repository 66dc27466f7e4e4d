// The Inspect tab, which shows the latest run or an opened trace. Its view is imported when the tab is first used.
import { type Outcome, outcomeOf } from '../run/outcome.ts';
import type { Details } from '../run/race.ts';
import { element } from '../shared/elements.ts';
import type { TraceFile } from '../traces/trace-file.ts';
import type { InspectView } from './inspect-view.ts';

/** Answers this problem again and records more of the run. */
type RunAgain = (question: string, details: Details) => Promise<unknown>;

export class InspectTab {
  readonly #runAgain: RunAgain;
  readonly #example: () => Promise<TraceFile | null>;
  #view: Promise<InspectView> | null = null;
  #latest: Outcome | null = null;
  /** The problem of a run that the Race tab can repeat. */
  #question: string | null = null;
  /** What a run is that was recorded elsewhere; empty for one of this page. */
  #replay = '';
  #open = false;

  /** `example`: shown until something has run. */
  constructor(runAgain: RunAgain, example: () => Promise<TraceFile | null>) {
    this.#runAgain = runAgain;
    this.#example = example;
  }

  /** `question`: its problem, if the Race tab can run it again. */
  take(outcome: Outcome, question: string | null, replay = ''): void {
    this.#latest = outcome;
    this.#replay = replay;
    this.#question = question;
    if (this.#open) void this.view();
  }

  /** Called with whether the tab is open. */
  show(open: boolean): void {
    this.#open = open;
    if (open) void this.view();
  }

  /** The view, which shows the latest run. */
  async view(): Promise<InspectView> {
    this.#view ??= import('./inspect-view.ts').then(
      ({ InspectView }) =>
        new InspectView(element('inspect', HTMLElement), (details) => this.#runAgain(this.#question ?? '', details)),
    );
    const view = await this.#view;
    if (this.#latest) view.show(this.#latest, this.#question !== null, this.#replay);
    else void this.#showExample(view).catch(() => {}); // without it a text says that nothing has run
    return view;
  }

  async #showExample(view: InspectView): Promise<void> {
    const trace = await this.#example();
    if (trace && !this.#latest) view.showExample(outcomeOf(trace.events), trace.problem?.question ?? '');
  }
}
