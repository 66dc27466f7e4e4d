// Two lanes of one prompt. A race is fair because each run has the machine to itself: the chosen system first, then plain
// decoding, while the system's lane is shown once more beside it, at the pace at which it ran. Plain decoding of the same
// request is timed once a session: a knob can be tried again and again against it.
import type { TraceEvent } from '../../src/trace/index.ts';
import { element, say } from '../shared/elements.ts';
import { baselineName, finishOf, type Terms } from './finish.ts';
import { Lane } from './lane.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { Problem } from './problems.ts';
import { Gate, type Pace, paced } from './replay-clock.ts';
import type { RunView } from './run-view.ts';

/** Who runs against whom. */
export interface Entry extends Terms {
  /** What the system's lane is called. */
  readonly name: string;
  readonly problem: Problem | null;
  system(signal: AbortSignal): AsyncIterable<TraceEvent>;
  plain(signal: AbortSignal): AsyncIterable<TraceEvent>;
  /** Requests of one key give one plain run. */
  readonly key: string;
  /** The system is plain decoding itself. */
  readonly alone?: boolean;
  /** Of recordings: how many times slower they are shown. */
  readonly slower?: number;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export class Contest {
  readonly #view: RunView;
  readonly #lanes = element('lanes', HTMLElement);
  readonly #finish = element('finish', HTMLElement);
  readonly #plain = new Lane(element('lane-plain', HTMLElement));
  readonly #known = new Map<string, Outcome>();

  constructor(view: RunView) {
    this.#view = view;
  }

  /** Models changed: what was measured was measured on others. */
  forget(): void {
    this.#known.clear();
  }

  /** A plain run that is there already: a recording's. */
  know(key: string, plain: Outcome): void {
    this.#known.set(key, plain);
  }

  plainOf(key: string): Outcome | null {
    return this.#known.get(key) ?? null;
  }

  /** What a race looks like, from a recording, before anything has run here. */
  async preview(name: string, runs: Record<'system' | 'plain', readonly TraceEvent[]>, pace: Pace): Promise<void> {
    this.#begin(2);
    say('finish-about', 'A recording from another machine, slowed down. Race runs it live, on this one.');
    const show = async (lane: Lane, title: string, events: readonly TraceEvent[]): Promise<void> => {
      lane.start(title);
      for await (const event of paced(events, pace)) {
        if (pace.signal.aborted) return; // the lane is somebody else's
        lane.add(event);
      }
      lane.rest();
    };
    const plain = sentence(baselineName('autoregressive'));
    await Promise.all([show(this.#view.lane, name, runs.system), show(this.#plain, plain, runs.plain)]);
  }

  /** The system alone. */
  answer(entry: Entry, signal: AbortSignal): Promise<Outcome> {
    this.#begin(1);
    return this.#view.show(entry.system(signal), entry.problem, entry.name, () => {});
  }

  async race(entry: Entry, signal: AbortSignal): Promise<Outcome> {
    this.#begin(2);
    const name = baselineName(entry.baseline);
    this.#plain.start(sentence(name));
    const known = this.#known.get(entry.key);
    if (known) return this.#against(known, entry, signal);
    say('finish-about', `First ${entry.name}, with the machine to itself; then ${name}.`);
    const run = await this.#view.show(entry.system(signal), entry.problem, entry.name, () => {});
    if (!run.complete) return this.#stopped(run);
    say('finish-about', `Now ${name}, live. Beside it ${entry.name} once more, as fast as it was.`);
    const plain = await this.#beside(run, entry, signal);
    if (!plain.complete) return this.#stopped(run);
    this.#known.set(entry.key, plain);
    this.#tell(run, plain, entry);
    return run;
  }

  /** Plain decoding was timed before: it is shown again beside the system, from their first tokens on. */
  async #against(known: Outcome, entry: Entry, signal: AbortSignal): Promise<Outcome> {
    const name = baselineName(entry.baseline);
    say('finish-about', `Beside ${entry.name}: ${name} as it ran before, from the first token on.`);
    const first = new Gate();
    const stop = new AbortController();
    const pace = { together: first.opened, signal: AbortSignal.any([signal, stop.signal]) };
    const shown = this.#follow(paced(known.events, { ...pace, ...(entry.slower && { slower: entry.slower }) }));
    try {
      const run = await this.#view.show(entry.system(signal), entry.problem, entry.name, first.open);
      if (!run.complete) return this.#stopped(run);
      await shown;
      if (signal.aborted) return this.#stopped(run);
      this.#tell(run, known, entry);
      return run;
    } finally {
      stop.abort();
      await shown;
    }
  }

  /** Plain decoding, live, and the run before it once more: both lanes begin with the first token. */
  async #beside(run: Outcome, entry: Entry, signal: AbortSignal): Promise<Outcome> {
    const first = new Gate();
    const again = this.#again(run, entry.name, first.opened, signal);
    try {
      return await this.#follow(entry.plain(signal), first.open);
    } finally {
      first.open();
      await again;
    }
  }

  async #again({ events }: Outcome, name: string, together: Promise<void>, signal: AbortSignal): Promise<void> {
    const { lane } = this.#view;
    await together;
    if (signal.aborted) return;
    lane.start(name);
    for await (const event of paced(events, { together, signal })) lane.add(event);
    if (signal.aborted) {
      lane.start(name);
      for (const event of events) lane.add(event); // what it had written is there again
    }
    lane.rest();
  }

  async #follow(events: AsyncIterable<TraceEvent>, begun?: () => void): Promise<Outcome> {
    const seen: TraceEvent[] = [];
    try {
      for await (const event of events) {
        if (seen.push(event) === 1) this.#view.strip.start(1);
        this.#view.strip.add(1, event);
        if (this.#plain.add(event)) begun?.();
      }
    } finally {
      this.#plain.rest();
    }
    return outcomeOf(seen);
  }

  #begin(lanes: number): void {
    this.#lanes.dataset.count = `${lanes}`;
    delete this.#finish.dataset.factor;
    for (const id of ['finish-about', 'finish-factor']) say(id, '');
    element('finish-facts', HTMLUListElement).replaceChildren();
  }

  #stopped(run: Outcome): Outcome {
    say('finish-about', 'The race was stopped.');
    return run;
  }

  #tell(run: Outcome, plain: Outcome, entry: Entry): void {
    const { factor, sentence, facts } = finishOf(run, plain, entry);
    say('finish-factor', factor);
    say('finish-about', sentence);
    const items = facts.map((text) => Object.assign(document.createElement('li'), { textContent: text }));
    element('finish-facts', HTMLUListElement).replaceChildren(...items);
  }
}
