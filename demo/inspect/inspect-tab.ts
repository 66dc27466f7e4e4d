// What the Inspect tab shows: the latest run, or a trace that was opened. The view comes with its first use.

import type { Outcome } from '../run/outcome.ts';
import type { Closer } from '../run/race-tab.ts';
import { element } from '../shared/elements.ts';
import type { InspectView } from './inspect-view.ts';

export class Inspector {
  readonly #again: (closer: Closer) => Promise<unknown>;
  #view: Promise<InspectView> | null = null;
  #latest: Outcome | null = null;
  #open = false;

  /** `again` makes the run once more, looking closer. */
  constructor(again: (closer: Closer) => Promise<unknown>) {
    this.#again = again;
  }

  take(outcome: Outcome): void {
    this.#latest = outcome;
    if (this.#open) void this.view();
  }

  /** Whether its tab is open. */
  show(open: boolean): void {
    this.#open = open;
    if (open) void this.view();
  }

  /** With the latest run in it. */
  async view(): Promise<InspectView> {
    this.#view ??= import('./inspect-view.ts').then(
      ({ InspectView }) => new InspectView(element('inspect', HTMLElement), this.#again),
    );
    const view = await this.#view;
    view.show(this.#latest);
    return view;
  }
}
