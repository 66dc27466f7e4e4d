// The Inspect tab, which shows the latest run or an opened trace. Its view is imported when the tab is first used.
import { type Outcome, outcomeOf } from '../run/outcome.ts';
import type { Details } from '../run/race.ts';
import { element } from '../shared/elements.ts';
import { showFault } from '../shared/faults.ts';
import { lazily } from '../shared/lazily.ts';
import type { TraceFile } from '../traces/trace-file.ts';
import type { InspectView } from './inspect-view.ts';

/** Answers this problem again and records more of the run. */
type RunAgain = (question: string, details: Details) => Promise<unknown>;

export class InspectTab {
  readonly #example: () => Promise<TraceFile | null>;
  /** The view, which shows nothing yet. */
  readonly fetch: () => Promise<InspectView>;
  #latest: Outcome | null = null;
  /** The problem of a run that the Race tab can repeat. */
  #question: string | null = null;
  /** What a run is that was recorded elsewhere; empty for one of this page. */
  #replay = '';
  #open = false;

  /** `example`: shown until something has run. */
  constructor(runAgain: RunAgain, example: () => Promise<TraceFile | null>) {
    this.#example = example;
    this.fetch = lazily(
      () => import('./inspect-view.ts'),
      ({ InspectView }) =>
        new InspectView(element('inspect', HTMLElement), (details) => runAgain(this.#question ?? '', details)),
    );
  }

  /** `question`: its problem, if the Race tab can run it again. */
  take(outcome: Outcome, question: string | null, replay = ''): void {
    this.#latest = outcome;
    this.#replay = replay;
    this.#question = question;
    if (this.#open) this.view().catch(showFault);
  }

  /** Called with whether the tab is open. */
  show(open: boolean): void {
    this.#open = open;
    if (open) this.view().catch(showFault);
  }

  /** The view, which shows the latest run. */
  async view(): Promise<InspectView> {
    const view = await this.fetch();
    if (this.#latest) view.show(this.#latest, this.#question !== null, this.#replay);
    else void this.#showExample(view).catch(() => {}); // without it a text says that nothing has run
    return view;
  }

  async #showExample(view: InspectView): Promise<void> {
    const trace = await this.#example();
    if (trace && !this.#latest) view.showExample(outcomeOf(trace.events), trace.problem?.question ?? '');
  }
}
