// How the models of an ensemble voted on each token of a round.
import { type ModelNames, roleName } from '../models/family.ts';
import type { Moment } from '../run/moments.ts';
import { quoted } from '../run/rounds.ts';
import { barsOf, LETTERS, memberOf, type VoteBar, type VotedToken } from '../run/votes.ts';
import { make } from '../shared/elements.ts';
import { percent } from '../shared/percent.ts';

const drawBar = ({ letter, member, committed, instead }: VoteBar, name: string): HTMLElement => {
  const bar = make('span', { className: 'share' });
  bar.style.setProperty('--share', `${100 * committed}%`);
  const note = instead ? `prefers ${quoted(instead.text)} (${percent(instead.probability)})` : '';
  const row = make(
    'li',
    {},
    make('span', { textContent: letter ? `${letter} ${name}` : 'combined' }),
    bar,
    make('span', { textContent: percent(committed) }),
    make('span', { className: 'muted', textContent: note }),
  );
  if (member !== null) row.dataset.member = `${member}`;
  return row;
};

const drawToken = (token: VotedToken, number: number, models: ModelNames): HTMLElement => {
  const proposer = LETTERS[memberOf(token)] ?? '';
  const origin =
    token.by === null
      ? 'drawn from the combined distribution'
      : `proposed by ${proposer} (${roleName(token.by, models)})`;
  const names = token.vote.own.map(({ by }) => roleName(by, models));
  const bars = barsOf(token).map((bar) => drawBar(bar, bar.member === null ? '' : (names[bar.member] ?? '')));
  return make(
    'li',
    { className: 'vote' },
    make('h4', { textContent: `Token ${number}: ${quoted(token.text)}, ${origin}` }),
    make('ul', { className: 'vote-bars', ariaLabel: 'Probability of this token, combined and by model' }, ...bars),
  );
};

export class VoteView {
  readonly #list = make('ol', { className: 'vote-list' });
  readonly node = make('section', { className: 'votes', hidden: true }, make('h3', {}, 'Votes'), this.#list);

  show({ votes, before, models }: Pick<Moment, 'votes' | 'before' | 'models'>): void {
    this.node.hidden = votes.length === 0;
    this.#list.replaceChildren(...votes.map((vote, i) => drawToken(vote, before + i + 1, models)));
  }
}
