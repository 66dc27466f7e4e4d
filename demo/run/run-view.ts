// Shows one run from its events while it goes on: lane, figures, strip, steps, and its decisions about drafting.
import { SYSTEMS } from '../../src/index.ts';
import type { EventOf, TraceEvent } from '../../src/trace/index.ts';
import { element, say } from '../shared/elements.ts';
import { many } from '../shared/words.ts';
import { draftingSentence } from './drafting-decisions.ts';
import { createFigures } from './figures.ts';
import { interruptionSentence } from './interruption.ts';
import { Lane } from './lane.ts';
import { showLegendOfRun } from './legend.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { finalNumber, type Problem } from './problems.ts';
import { StepPanel } from './step-panel.ts';
import { Strip } from './strip.ts';
import { TokenDetails } from './token-details.ts';

const REASONS = { stop: 'finished', length: 'reached the token limit', aborted: 'was stopped' } as const;

export class RunView {
  readonly lane = new Lane(element('lane-system', HTMLElement));
  readonly strip = new Strip();
  readonly details = new TokenDetails(element('answer', HTMLElement));
  readonly #figures = createFigures();
  readonly #steps = new StepPanel();
  readonly #verdict = element('verdict', HTMLElement);

  constructor() {
    const toggle = element('show-rejected', HTMLInputElement);
    const apply = (): void => {
      for (const text of document.querySelectorAll('.lane .text')) text.classList.toggle('clean', !toggle.checked);
    };
    toggle.addEventListener('change', apply);
    apply();
  }

  /** Shows nothing but the name of the system. */
  clear(name = 'The chosen system'): void {
    this.lane.start(name);
    this.lane.finish();
    this.strip.start(0);
    for (const figure of this.#figures) figure.start();
    this.#steps.start(false);
    this.#verdict.textContent = '';
    delete this.#verdict.dataset.right;
    say('drafting', '');
  }

  /**
   * Shows a run to its end and checks its answer against `problem`. `timed`: its times count. What a warm-up decides
   * from its times is not told: the timed runs may decide otherwise.
   */
  async show(events: AsyncIterable<TraceEvent>, problem: Problem | null, name: string, timed = true): Promise<Outcome> {
    this.clear(name);
    this.lane.start(name);
    say('status', 'Answering');
    let drafting = '';
    const seen: TraceEvent[] = [];
    this.details.take(seen);
    let committed = 0;
    try {
      for await (const event of events) {
        seen.push(event);
        this.strip.add(0, event);
        for (const figure of this.#figures) figure.add(event);
        if (event.type === 'queued') say('status', `Waiting for ${many(event.ahead, 'other run')} to finish`);
        if (event.type === 'run') this.#begin(event);
        this.#steps.add(event);
        if (timed && (event.type === 'fall-back' || event.type === 'block-size'))
          drafting = draftingSentence(drafting, event, committed + 1);
        drafting = interruptionSentence(event) ?? drafting;
        say('drafting', drafting);
        const round = this.lane.add(event);
        if (event.type === 'done') this.#end(event, problem, timed);
        if (!round) continue;
        committed += round.committed.length;
        for (const figure of this.#figures) figure.show();
      }
    } finally {
      this.lane.finish();
      this.#steps.finish();
    }
    return outcomeOf(seen);
  }

  #begin({ system: id, models = {} }: EventOf<'run'>): void {
    const system = SYSTEMS.find((each) => each.id === id);
    this.#steps.start(system?.guarantee === 'approximate');
    if (system) showLegendOfRun(system, models);
  }

  #end({ finish_reason: reason }: EventOf<'done'>, problem: Problem | null, timed: boolean): void {
    const ended = `The answer ${REASONS[reason]}`;
    let verdict = '';
    if (reason !== 'stop') verdict = ended;
    else if (problem) {
      const given = finalNumber(this.lane.text);
      const right = given === problem.result;
      this.#verdict.dataset.right = `${right}`;
      verdict = right ? `✓ Correct: ${given}` : `✗ Wrong: the correct answer is ${problem.result}`;
    }
    this.#verdict.textContent = verdict;
    if (!timed && reason !== 'aborted') return; // the timed run says the same once more
    const said = [...new Set([ended, verdict])].filter(Boolean).join('. ');
    say('status', `${said}. ${this.lane.text}`);
  }
}
