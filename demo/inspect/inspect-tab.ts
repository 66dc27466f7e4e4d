// The Inspect tab, which shows the latest run or an opened trace. Its view is imported when the tab is first used.
import { type Outcome, outcomeOf } from '../run/outcome.ts';
import type { Details } from '../run/race.ts';
import { element } from '../shared/elements.ts';
import type { TraceFile } from '../traces/trace-file.ts';
import type { InspectView } from './inspect-view.ts';

export class InspectTab {
  readonly #runAgain: (details: Details) => Promise<unknown>;
  readonly #example: () => Promise<TraceFile | null>;
  #view: Promise<InspectView> | null = null;
  #latest: Outcome | null = null;
  #repeatable = false;
  /** What a run is that was recorded elsewhere; empty for one of this page. */
  #replay = '';
  #open = false;

  /** `runAgain` repeats the run and records more of it. `example`: shown until something has run. */
  constructor(runAgain: (details: Details) => Promise<unknown>, example: () => Promise<TraceFile | null>) {
    this.#runAgain = runAgain;
    this.#example = example;
  }

  /** `repeatable`: the Race tab can run it again. */
  take(outcome: Outcome, repeatable: boolean, replay = ''): void {
    this.#latest = outcome;
    this.#replay = replay;
    this.#repeatable = repeatable;
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
      ({ InspectView }) => new InspectView(element('inspect', HTMLElement), this.#runAgain),
    );
    const view = await this.#view;
    if (this.#latest) view.show(this.#latest, this.#repeatable, this.#replay);
    else void this.#showExample(view).catch(() => {}); // without it a text says that nothing has run
    return view;
  }

  async #showExample(view: InspectView): Promise<void> {
    const trace = await this.#example();
    if (trace && !this.#latest) view.showExample(outcomeOf(trace.events), trace.problem?.question ?? '');
  }
}
