// The Inspect tab, which shows the latest run or an opened trace. Its view is imported when the tab is first used.
import type { Outcome } from '../run/outcome.ts';
import type { Details } from '../run/race.ts';
import { element } from '../shared/elements.ts';
import type { InspectView } from './inspect-view.ts';

export class InspectTab {
  readonly #runAgain: (details: Details) => Promise<unknown>;
  #view: Promise<InspectView> | null = null;
  #latest: Outcome | null = null;
  #repeatable = false;
  #open = false;

  /** `runAgain` repeats the run and records more of it. */
  constructor(runAgain: (details: Details) => Promise<unknown>) {
    this.#runAgain = runAgain;
  }

  /** `repeatable`: the Race tab can run it again. */
  take(outcome: Outcome, repeatable: boolean): void {
    this.#latest = outcome;
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
    view.show(this.#latest, this.#repeatable);
    return view;
  }
}
