// The Inspect view of a run: a timeline to go to any round; the tokens of the round with their sources and
// probabilities; the scores of step routers, the votes of ensembles, and the work on the device.
import { SYSTEMS } from '../../src/index.ts';
import { drawRound, lastLettered } from '../run/lane.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Details } from '../run/race.ts';
import { readSteps } from '../run/steps.ts';
import { TokenDetails } from '../run/token-details.ts';
import { make } from '../shared/elements.ts';
import { many } from '../shared/words.ts';
import './inspect.css';
import { LOGPROBS, type Moment, momentsOf } from '../run/moments.ts';
import { KernelsView } from './kernels-view.ts';
import { RoundView } from './round-view.ts';
import { ScoresView } from './scores-view.ts';
import { Timeline } from './timeline.ts';
import { VoteView } from './vote-view.ts';

const TEXT = 'Text so far. Arrow keys go from token to token.';

const summary = (system: string, moments: readonly Moment[]): string => {
  const tokens = moments.reduce((sum, { committed }) => sum + committed.length, 0);
  const title = SYSTEMS.find(({ id }) => id === system)?.title ?? system;
  return `${title}: ${many(tokens, 'token')} in ${many(moments.at(-1)?.round ?? 0, 'round')}`;
};

export class InspectView {
  readonly #empty = make(
    'p',
    { className: 'muted', id: 'inspect-empty' },
    'Nothing has run here yet. Open Race and press Answer or Race.',
  );
  readonly #replay = make('p', { className: 'replay', id: 'inspect-replay' });
  readonly #title = make('p', { className: 'inspect-title', id: 'inspect-title' });
  readonly #text = make('section', { className: 'text', id: 'inspect-text', tabIndex: 0, ariaLabel: TEXT });
  readonly #details = new TokenDetails(this.#text);
  readonly #timeline = new Timeline((index) => this.#moved(index));
  readonly #round = new RoundView();
  readonly #votes = new VoteView();
  readonly #scores = new ScoresView();
  readonly #kernels = new KernelsView();
  readonly #profile = make('input', { type: 'checkbox', id: 'profile' });
  readonly #runAgain = make('button', { type: 'button', id: 'run-again' }, 'Run again with probabilities');
  readonly #controls = make('div', { className: 'row details-controls' });
  readonly #about = make('p', { className: 'muted', id: 'details-about' });
  readonly #body: HTMLElement;
  #outcome: Outcome | null = null;
  #moments: readonly Moment[] = [];

  constructor(root: HTMLElement, runAgain: (details: Details) => Promise<unknown>) {
    this.#body = make(
      'div',
      { className: 'inspect-body', hidden: true },
      this.#title,
      this.#timeline.node,
      this.#text,
      this.#round.node,
      this.#scores.node,
      this.#kernels.node,
      make('div', { className: 'details' }, this.#about, this.#controls),
      // What has as many rows as the round has tokens comes last, so that nothing moves from round to round.
      this.#round.table,
      this.#votes.node,
    );
    this.#controls.append(
      this.#runAgain,
      make('label', { className: 'check' }, this.#profile, 'Time each kernel (slower)'),
    );
    this.#runAgain.addEventListener('click', () => {
      this.#runAgain.disabled = true;
      void runAgain({ logprobs: LOGPROBS, profile: this.#profile.checked }).finally(() => {
        this.#runAgain.disabled = false;
      });
    });
    const heading = make('h2', { id: 'inspect-heading' }, 'Inspect');
    const card = make('section', { className: 'card inspect' }, heading, this.#empty, this.#replay, this.#body);
    card.setAttribute('aria-labelledby', heading.id);
    root.replaceChildren(card);
  }

  /** `repeatable`: a button runs it again. `replay`: what it is, if it was recorded elsewhere. */
  show(outcome: Outcome, repeatable: boolean, replay = ''): void {
    this.#controls.hidden = !repeatable;
    this.#replay.textContent = replay;
    this.#empty.hidden = momentsOf(outcome.events).length > 0;
    this.#draw(outcome);
  }

  /** A recorded run, until something has run here. */
  showExample(outcome: Outcome, question: string): void {
    this.#controls.hidden = true;
    this.#replay.textContent = `Until then, this is a recorded run. Its problem: ${question}`;
    this.#draw(outcome);
  }

  #draw(outcome: Outcome): void {
    if (outcome === this.#outcome) return;
    this.#outcome = outcome;
    this.#moments = momentsOf(outcome.events);
    this.#body.hidden = this.#moments.length === 0;
    this.#title.textContent = summary(outcome.system, this.#moments);
    this.#drawText();
    this.#details.take(outcome.events);
    this.#round.start(this.#moments);
    this.#scores.start(readSteps(outcome.events).steps);
    this.#describeDetails();
    this.#timeline.start(this.#moments);
  }

  /** Goes to the first round that fits, if there is one; used by the tour. */
  seek(fits: (moment: Moment) => boolean): Moment | null {
    const index = this.#moments.findIndex(fits);
    if (index >= 0) this.#timeline.go(index);
    return this.#moments[this.#timeline.index] ?? null;
  }

  #describeDetails(): void {
    const known = this.#moments.some(({ probabilities, logprobs }) => probabilities ?? logprobs);
    this.#about.textContent = known
      ? 'Probabilities are those of each model at temperature 1, without top-k, top-p or min-p.'
      : 'This run recorded no probabilities: reading them back would slow it down.';
  }

  #drawText(): void {
    let member: number | undefined;
    const rounds = this.#moments.map((moment, i) => {
      const tokens = drawRound(moment, moment.before, member).filter(({ localName }) => localName !== 's');
      member = lastLettered(tokens) ?? member;
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
    if (now instanceof HTMLElement) {
      const line = Number.parseFloat(getComputedStyle(this.#text).lineHeight);
      this.#text.scrollTop = line * Math.round((now.offsetTop - this.#text.clientHeight / 2) / line);
    }
    this.#round.show(moment);
    this.#votes.show(moment);
    void this.#scores.show(moment.step?.step ?? null);
    this.#kernels.show(moment.work);
  }
}
