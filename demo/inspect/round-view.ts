// One round: what was drafted as a tree, the committed path on its first line, rejected drafts branching off below; and
// every token with what target and drafter gave it.
import { describeRound, spokenRound } from '../run/round-text.ts';
import { type Cell, type Fate, layOut, visible } from '../run/rounds.ts';
import { make } from '../shared/elements.ts';
import { type Moment, type Row, rowsOf } from './moments.ts';
import './tokens.css';

/** What became of a token, in a word and a sign. */
const FATES: Readonly<Record<Fate, string>> = {
  anchor: 'anchor',
  drafted: '✓ accepted',
  rejected: '✗ rejected',
  past: 'behind the end',
  corrected: '✎ corrected',
  bonus: '+ bonus',
  routed: '↑ by the target',
  sampled: 'by the target',
};

const drawCell = ({ text, fate, row, column, up }: Cell): HTMLElement => {
  const cell = make(fate === 'rejected' ? 's' : 'span', { className: `cell ${fate}`, textContent: visible(text) });
  cell.style.gridArea = `${row + 1} / ${column + 1}`;
  cell.style.setProperty('--up', `${up}`);
  if (up > 0) cell.classList.add('branch');
  return cell;
};

const percent = (probability: number): string => {
  const hundred = 100 * probability;
  if (hundred > 0 && hundred < 0.1) return '< 0.1 %';
  return `${hundred.toFixed(hundred < 9.95 ? 1 : 0)} %`;
};

const share = (probability: number | null, who: 'target' | 'draft'): HTMLElement => {
  if (probability === null) return make('td', { className: 'muted', textContent: '–' });
  const bar = make('span', { className: `share by-${who}` });
  bar.style.setProperty('--share', `${100 * probability}%`);
  return make('td', { className: 'probability' }, bar, make('span', {}, percent(probability)));
};

const drawRow = ({ text, fate, place, target, draft, instead }: Row): HTMLElement => {
  const shown = make(fate === 'rejected' ? 's' : 'span', { className: `cell ${fate}`, textContent: visible(text) });
  const others = instead.map(({ text, probability }) => `“${visible(text)}” ${percent(probability)}`).join(', ');
  const row = make(
    'tr',
    {},
    make('td', { textContent: `${place}` }),
    make('th', { scope: 'row' }, shown),
    make('td', { className: `fate ${fate}`, textContent: FATES[fate] }),
    share(draft, 'draft'),
    share(target, 'target'),
    make('td', { className: 'muted', textContent: others || '–' }),
  );
  row.dataset.fate = fate;
  return row;
};

const HEADINGS = ['Place', 'Token', 'What became of it', 'Drafter gave it', 'Target gave it', 'Target’s other choices'];

export class RoundView {
  readonly #spoken = make('p', { className: 'hidden', id: 'round-spoken' });
  readonly #about = make('p', { className: 'muted', id: 'round-about' });
  readonly #tree = make('div', { className: 'tree', id: 'round-tree', tabIndex: 0, role: 'img' });
  readonly #body = make('tbody');
  readonly #table = make(
    'div',
    { className: 'tokens', tabIndex: 0, role: 'region', ariaLabel: 'Tokens of the round' },
    make(
      'table',
      { id: 'round-tokens' },
      make('thead', {}, make('tr', {}, ...HEADINGS.map((text) => make('th', { scope: 'col', textContent: text })))),
      this.#body,
    ),
  );
  readonly node = make('section', { className: 'round' }, this.#about, this.#tree, this.#spoken, this.#table);

  constructor() {
    this.#tree.ariaLabel = 'The round’s drafts';
    this.#tree.setAttribute('aria-describedby', this.#spoken.id);
  }

  /** Of the whole run: the room that its trees need, so that nothing moves from round to round. */
  start(moments: readonly Moment[]): void {
    const tall = moments.some((moment) => layOut(moment).some(({ row }) => row > 1));
    this.#tree.classList.toggle('tall', tall);
  }

  show(moment: Moment): void {
    this.#about.textContent = describeRound(moment);
    this.#spoken.textContent = spokenRound(moment);
    const cells = layOut(moment);
    const drawn = cells.map(drawCell);
    this.#tree.replaceChildren(...drawn);
    const rows = rowsOf(moment).map(drawRow);
    this.#body.replaceChildren(...rows);
    // Where it is decided is what there is to see.
    const end = drawn[cells.findIndex(({ fate }) => fate !== 'anchor' && fate !== 'drafted')];
    const turn = rows.find(({ dataset }) => dataset.fate !== 'drafted');
    this.#tree.scrollLeft = (end?.offsetLeft ?? 0) - this.#tree.clientWidth / 2;
    this.#table.scrollTop = (turn?.offsetTop ?? 0) - this.#table.clientHeight / 2;
  }
}
