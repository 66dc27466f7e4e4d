// One round: its draft tree, with the committed path on the first row and rejected drafts branching off below, and a
// table of its tokens with their probabilities.

import { type Moment, type Row, rowsOf } from '../run/moments.ts';
import { alternativesText, describeRound, STATUSES, spokenRound } from '../run/round-text.ts';
import { type Cell, layOut, mostRows, visible } from '../run/rounds.ts';
import { make } from '../shared/elements.ts';
import { hinted } from '../shared/hints.ts';
import { percent } from '../shared/percent.ts';
import './tokens.css';

const ANCHOR = 'Anchor: the last committed token, which the drafts continue.';

export const drawCell = ({ text, status, row, column, up }: Cell): HTMLElement => {
  const cell = make(status === 'rejected' ? 's' : 'span', {
    className: `cell ${status}`,
    textContent: visible(text),
  });
  cell.dataset.hint = status === 'anchor' ? ANCHOR : `${STATUSES[status]}.`;
  cell.style.gridArea = `${row + 1} / ${column + 1}`;
  cell.style.setProperty('--up', `${up}`);
  if (up > 0) cell.classList.add('branch');
  return cell;
};

const share = (probability: number | null, who: 'target' | 'draft'): HTMLElement => {
  if (probability === null) return make('td', { className: 'muted', textContent: '–' });
  const bar = make('span', { className: `share by-${who}` });
  bar.style.setProperty('--share', `${100 * probability}%`);
  return make('td', { className: 'probability' }, bar, make('span', {}, percent(probability)));
};

const drawRow = ({ text, status, place, target, draft, alternatives }: Row): HTMLElement => {
  const shown = make(status === 'rejected' ? 's' : 'span', { className: `cell ${status}`, textContent: visible(text) });
  const others = alternativesText(alternatives.slice(0, MOST_ALTERNATIVES));
  const row = make(
    'tr',
    {},
    make('td', { textContent: `${place}` }),
    make('th', { scope: 'row' }, shown),
    make('td', { className: `status ${status}`, textContent: STATUSES[status] }),
    share(draft, 'draft'),
    share(target, 'target'),
    make('td', { className: 'muted', textContent: others || '–' }),
  );
  row.dataset.status = status;
  return row;
};

/** More would be wider than the page. */
const MOST_ALTERNATIVES = 2;

/** Headings with what they mean. */
const HEADINGS = [
  ['Position', 'Position after the last committed token. Drafts of one position are branches of a tree.'],
  ['Token', 'A word, a part of a word or punctuation. ␣ is a space, ↵ a line end, ∎ the end of the answer.'],
  ['Status', 'What the target decided.'],
  ['Drafter gives', 'Probability of the token by the drafter.'],
  ['Target gives', 'Probability of the token by the target.'],
  ['Alternatives', 'The two other tokens that the target finds most probable.'],
] as const;

export class RoundView {
  readonly #spoken = make('p', { className: 'hidden', id: 'round-spoken' });
  readonly #about = make('p', { className: 'muted', id: 'round-about' });
  readonly #tree = make('div', { className: 'tree', id: 'round-tree', tabIndex: 0, role: 'img' });
  readonly #body = make('tbody');
  readonly table = make(
    'div',
    { className: 'tokens', tabIndex: 0, role: 'region', ariaLabel: 'Tokens of the round' },
    make(
      'table',
      { id: 'round-tokens' },
      make(
        'thead',
        {},
        make('tr', {}, ...HEADINGS.map(([text, about]) => make('th', { scope: 'col' }, hinted(text, about)))),
      ),
      this.#body,
    ),
  );
  readonly node = make('section', { className: 'round' }, this.#about, this.#tree, this.#spoken);

  constructor() {
    this.#tree.ariaLabel = 'Drafts of the round';
    this.#tree.setAttribute('aria-describedby', this.#spoken.id);
  }

  /** Reserves the height that the trees of this run need, so that nothing moves from round to round. */
  start(moments: readonly Moment[]): void {
    this.#tree.style.setProperty('--rows', `${Math.max(2, mostRows(moments))}`);
  }

  show(moment: Moment): void {
    this.#about.textContent = describeRound(moment);
    this.#spoken.textContent = spokenRound(moment);
    const cells = layOut(moment);
    const drawn = cells.map(drawCell);
    this.#tree.replaceChildren(...drawn);
    const rows = rowsOf(moment).map(drawRow);
    this.#body.replaceChildren(...rows);
    // Scroll the tree to the first token that is not an accepted draft. The table shows all its rows.
    const end = drawn[cells.findIndex(({ status }) => status !== 'anchor' && status !== 'drafted')];
    this.#tree.scrollLeft = (end?.offsetLeft ?? 0) - this.#tree.clientWidth / 2;
  }
}
