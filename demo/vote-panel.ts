// The vote on one token of an ensemble's answer: the one under the pointer, or any other by the slider.
import type { TraceEvent } from '../src/trace.ts';
import { element, hold, release, say } from './elements.ts';
import { roleName } from './family.ts';
import { visible } from './rounds.ts';
import { barsOf, LETTERS, memberOf, type VoteBar, type VotedToken, votesOf } from './votes.ts';

const percent = (probability: number): string => `${(100 * probability).toFixed(probability < 0.0995 ? 1 : 0)} %`;

const cell = (text: string, className = ''): HTMLElement =>
  Object.assign(document.createElement('span'), { textContent: text, className });

const drawBar = ({ letter, member, committed, instead }: VoteBar, name: string): HTMLElement => {
  const row = document.createElement('li');
  if (member !== null) row.dataset.member = `${member}`;
  const bar = cell('', 'share');
  bar.style.setProperty('--share', `${100 * committed}%`);
  const note = instead ? `would say “${visible(instead.text).trim()}” (${percent(instead.probability)})` : '';
  row.append(cell(letter ? `${letter} ${name}` : 'together'), bar, cell(percent(committed)), cell(note, 'muted'));
  return row;
};

export class VotePanel {
  readonly #panel = element('votes', HTMLElement);
  readonly #slider = element('vote-token', HTMLInputElement);
  readonly #bars = element('vote-bars', HTMLUListElement);
  readonly #answer = element('answer', HTMLElement);
  #tokens: VotedToken[] = [];

  constructor() {
    this.#slider.addEventListener('input', () => this.#draw());
    this.#answer.addEventListener('pointerover', ({ target }) => {
      const place = target instanceof HTMLElement ? Number(target.dataset.place ?? Number.NaN) : Number.NaN;
      if (this.#slider.disabled || Number.isNaN(place)) return;
      this.#slider.valueAsNumber = place + 1;
      this.#draw();
    });
  }

  start(shown: boolean): void {
    hold(this.#panel, shown);
    this.#tokens = [];
    this.#bars.replaceChildren();
    this.#slider.disabled = true;
    say('vote-title', 'Token');
  }

  add(event: TraceEvent): void {
    if (event.type === 'commit') this.#tokens.push(...votesOf(event));
  }

  /** The run is over: its tokens can be asked about. */
  rest(): void {
    release(this.#panel);
    this.#slider.disabled = this.#tokens.length === 0;
    if (this.#slider.disabled) return;
    this.#slider.max = `${this.#tokens.length}`;
    this.#slider.valueAsNumber = this.#mostContested() + 1;
    this.#draw();
  }

  /** What there is to see is where they disagree. */
  #mostContested(): number {
    const shares = this.#tokens.map(({ vote }) => vote.r);
    return shares.indexOf(Math.min(...shares));
  }

  #draw(): void {
    const number = this.#slider.valueAsNumber;
    const token = this.#tokens[number - 1];
    if (!token) return;
    const proposer = memberOf(token);
    const who =
      token.by === null ? 'drawn from all together' : `proposed by ${LETTERS[proposer] ?? ''} (${roleName(token.by)})`;
    say('vote-title', `Token ${number} of ${this.#tokens.length}: “${visible(token.text).trim()}”, ${who}`);
    const names = token.vote.own.map(({ by }) => roleName(by));
    this.#bars.replaceChildren(
      ...barsOf(token).map((bar) => drawBar(bar, bar.member === null ? '' : (names[bar.member] ?? ''))),
    );
    this.#slider.ariaValueText = `${number}: ${visible(token.text).trim()}, ${who}`;
    for (const span of this.#answer.querySelectorAll('.asked')) span.classList.remove('asked');
    this.#answer.querySelector(`[data-place="${number - 1}"]`)?.classList.add('asked');
  }
}
