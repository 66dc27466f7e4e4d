// All systems on the problem in the box, one after the other: a bar for the target's passes of each, which fills as the
// run is made. A click brings a run on stage.
import { SYSTEM_GROUPS, SYSTEMS, type SystemFacts } from '../../src/index.ts';
import { fold, METRICS } from '../../src/trace/index.ts';
import { element, make, say } from '../shared/elements.ts';
import { sentence } from '../shared/faults.ts';
import { chooseSystem, obstacle } from './choose-system.ts';
import { answerOf, type Outcome } from './outcome.ts';
import { finalNumber, type Problem } from './problems.ts';
import './all-systems.css';

interface Actions {
  /** Runs the chosen system on the problem in the box; null if it could not start. */
  answer(): Promise<Outcome | null>;
  /** Stops that run. */
  stop(): void;
  problem(): Problem | null;
  question(): string;
  show(title: string, question: string, run: Outcome, plain: Outcome | null): void;
}

interface Row {
  readonly system: SystemFacts;
  readonly button: HTMLButtonElement;
  readonly passes: HTMLElement;
  readonly about: HTMLElement;
}

const aboutOf = (
  { guarantee, baseline }: SystemFacts,
  run: Outcome,
  plain: Outcome | null,
  problem: Problem | null,
) => {
  const given = problem && finalNumber(answerOf(run.events));
  const answer = problem ? [given === problem.result ? `✓ ${given}` : `✗ ${given ?? 'no number'}`] : [];
  if (!plain || baseline === 'ensemble' || run === plain) return answer.join();
  const same = `${run.tokens}` === `${plain.tokens}`;
  return [...answer, same ? `same tokens${guarantee === 'exact' ? '' : ' this time'}` : 'other tokens'].join(' · ');
};

export class AllSystems {
  readonly #actions: Actions;
  readonly #go = element('all-go', HTMLButtonElement);
  readonly #list = element('all-list', HTMLOListElement);
  #running: AbortController | null = null;
  /** The system that was chosen last to be run here. */
  #last = '';

  constructor(actions: Actions) {
    this.#actions = actions;
    this.#go.addEventListener('click', () => {
      if (this.#running) this.#running.abort();
      else void this.#start();
    });
  }

  async #start(): Promise<void> {
    const select = element('system', HTMLSelectElement);
    const before = select.value;
    const stop = new AbortController();
    this.#running = stop;
    this.#go.textContent = 'Stop';
    const why = await obstacle(stop.signal);
    say('all-about', why ? [sentence(why.message), why.hint].filter(Boolean).join(' ') : await this.#run(stop.signal));
    this.#running = null;
    this.#go.textContent = 'Run all';
    if (!why && select.value === this.#last) await chooseSystem([before]); // what the visitor chose stays
  }

  /** Runs one system after the other, and says how far it came. */
  async #run(signal: AbortSignal): Promise<string> {
    const select = element('system', HTMLSelectElement);
    const rows = this.#rows([...select.options].filter(({ disabled }) => !disabled).map(({ value }) => value));
    const [problem, question] = [this.#actions.problem(), this.#actions.question()];
    /** The visitor has chosen neither another problem nor another system meanwhile. */
    const goesOn = (): boolean => this.#actions.question() === question && select.value === this.#last;
    this.#last = select.value;
    let plain: Outcome | null = null;
    let most = 1;
    for (const [i, { system, button, passes, about }] of rows.entries()) {
      if (!goesOn()) break;
      say('all-about', `${i + 1} of ${rows.length}: ${system.title}`);
      about.textContent = 'loading and running …';
      this.#last = system.id;
      if (!(await chooseSystem([system.id], signal)) || !goesOn()) break;
      const run = await this.#answer(signal);
      if (!run?.complete) break;
      if (system.id === 'autoregressive') plain = run;
      const count = fold(METRICS.target_passes, run.events);
      most = Math.max(most, count);
      passes.textContent = `${count}`;
      button.style.setProperty('--share', `${(100 * count) / most}%`);
      about.textContent = aboutOf(system, run, plain, problem);
      const shown = plain === run ? null : plain;
      button.disabled = false;
      button.addEventListener('click', () => this.#actions.show(system.title, question, run, shown));
    }
    const done = rows.filter(({ button }) => !button.disabled).length;
    for (const { button, about } of rows) if (button.disabled) about.textContent = 'not run';
    return `${done} of ${rows.length} systems have run.${done > 0 ? ' Click one to see it on the stage.' : ''}`;
  }

  async #answer(signal: AbortSignal): Promise<Outcome | null> {
    const { answer, stop } = this.#actions;
    signal.addEventListener('abort', stop);
    try {
      return await answer();
    } finally {
      signal.removeEventListener('abort', stop); // or Stop would end a run of the visitor's
    }
  }

  /** A row for each system, the baseline first, those for comparison left out. */
  #rows(ids: readonly string[]): readonly Row[] {
    const systems = SYSTEMS.filter(({ id, group }) => ids.includes(id) && group !== 'comparison');
    const rows = systems.map((system): Row => {
      const passes = make('b', {}, '');
      const about = make('small', { className: 'muted' }, 'waits');
      const bar = make('span', { className: 'all-bar', ariaHidden: 'true' });
      const button = make(
        'button',
        { type: 'button', className: 'all-system', disabled: true, title: SYSTEM_GROUPS[system.group] },
        make('span', {}, system.title),
        bar,
        passes,
        about,
      );
      return { system, button, passes, about };
    });
    this.#list.replaceChildren(...rows.map(({ button }) => make('li', {}, button)));
    return rows;
  }
}
