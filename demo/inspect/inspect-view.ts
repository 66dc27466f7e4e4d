// A run, looked at from inside: any round again, by slider, keys or playing; every token's source, what target and drafter
// gave it, rejected drafts; of step routers the scores, of ensembles the votes; what reached the device.
import { SYSTEMS } from '../../src/index.ts';
import { drawRound } from '../run/lane.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Closer } from '../run/race-tab.ts';
import { type Step, StepReader } from '../run/steps.ts';
import { element, make } from '../shared/elements.ts';
import './inspect.css';
import { KernelsView } from './kernels-view.ts';
import { type Moment, momentsOf } from './moments.ts';
import { RoundView } from './round-view.ts';
import { ScoresView } from './scores-view.ts';
import { Timeline } from './timeline.ts';
import { VoteView } from './vote-view.ts';

const stepsOf = ({ events }: Outcome): readonly Step[] => {
  const reader = new StepReader();
  for (const event of events) reader.add(event);
  return reader.steps;
};

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const summary = (system: string, moments: readonly Moment[]): string => {
  const tokens = moments.reduce((sum, { committed }) => sum + committed.length, 0);
  const title = SYSTEMS.find(({ id }) => id === system)?.title ?? system;
  return `${title}: ${many(tokens, 'token')} in ${many(moments.at(-1)?.round ?? 0, 'round')}`;
};

export class InspectView {
  readonly #empty = make(
    'p',
    { className: 'muted', id: 'inspect-empty' },
    'Nothing has run yet: start an answer or a race first.',
  );
  readonly #title = make('p', { className: 'inspect-title', id: 'inspect-title' });
  readonly #text = make('section', { className: 'text', id: 'inspect-text', tabIndex: 0, ariaLabel: 'Text so far' });
  readonly #timeline = new Timeline((index) => this.#moved(index));
  readonly #round = new RoundView();
  readonly #votes = new VoteView();
  readonly #scores = new ScoresView();
  readonly #kernels = new KernelsView();
  readonly #profile = make('input', { type: 'checkbox', id: 'profile' });
  readonly #closer = make('button', { type: 'button', id: 'closer' }, 'Run again, looking closer');
  /** A recording cannot be made again. */
  readonly #live = element('system', HTMLSelectElement);
  readonly #again = make('div', { className: 'row closer-again' });
  readonly #why = make('p', { className: 'muted', id: 'closer-why' });
  readonly #body: HTMLElement;
  #outcome: Outcome | null = null;
  #moments: readonly Moment[] = [];

  constructor(root: HTMLElement, again: (closer: Closer) => Promise<unknown>) {
    this.#body = make(
      'div',
      { className: 'inspect-body', hidden: true },
      this.#title,
      this.#timeline.node,
      this.#text,
      this.#round.node,
      this.#votes.node,
      this.#scores.node,
      this.#kernels.node,
      make('div', { className: 'closer' }, this.#why, this.#again),
    );
    this.#again.append(this.#closer, make('label', { className: 'check' }, this.#profile, 'profile kernels (slower)'));
    this.#closer.addEventListener('click', () => {
      this.#closer.disabled = true;
      void again({ logprobs: 3, profile: this.#profile.checked }).finally(() => {
        this.#closer.disabled = false;
      });
    });
    const heading = make('h2', { id: 'inspect-heading' }, 'Inspect');
    const card = make('section', { className: 'card inspect' }, heading, this.#empty, this.#body);
    card.setAttribute('aria-labelledby', heading.id);
    root.replaceChildren(card);
  }

  show(outcome: Outcome | null): void {
    if (outcome === this.#outcome || !outcome) return;
    this.#outcome = outcome;
    this.#moments = momentsOf(outcome.events);
    this.#empty.hidden = this.#moments.length > 0;
    this.#body.hidden = this.#moments.length === 0;
    this.#title.textContent = summary(outcome.system, this.#moments);
    this.#drawText();
    this.#round.start(this.#moments);
    this.#scores.start(stepsOf(outcome));
    this.#again.hidden = this.#live.disabled;
    this.#explain();
    this.#timeline.start(this.#moments);
  }

  /** For whoever explains a run: goes to the first round that fits, or else stays. */
  seek(fits: (moment: Moment) => boolean): Moment | null {
    const index = this.#moments.findIndex(fits);
    if (index >= 0) this.#timeline.go(index);
    return this.#moments[this.#timeline.index] ?? null;
  }

  #explain(): void {
    const known = this.#moments.some(({ probabilities, logprobs }) => probabilities ?? logprobs);
    this.#why.textContent = known
      ? 'Probabilities are the models’ own, at temperature 1 and without filters.'
      : 'This run was made without probabilities: a race goes as fast as it can.';
  }

  #drawText(): void {
    let member: number | undefined;
    const rounds = this.#moments.map((moment, i) => {
      const tokens = drawRound(moment, moment.before, member).filter(({ localName }) => localName !== 's');
      member = moment.committed.at(-1)?.member ?? member;
      const span = make('span', { className: 'moment' }, ...tokens);
      span.dataset.moment = `${i}`;
      return span;
    });
    this.#text.replaceChildren(...rounds);
  }

  #moved(index: number): void {
    const moment = this.#moments[index];
    if (!moment) return;
    for (const [i, span] of [...this.#text.children].entries()) {
      span.classList.toggle('now', i === index);
      span.classList.toggle('later', i > index);
    }
    const now = this.#text.children[index];
    if (now instanceof HTMLElement) this.#text.scrollTop = now.offsetTop - this.#text.clientHeight / 2;
    this.#round.show(moment);
    this.#votes.show(moment);
    void this.#scores.show(moment.step?.step ?? null);
    this.#kernels.show(moment.work);
  }
}
