// The table of results, updated while they arrive: a row for each system with its prompts, figures and errors.
import type { DeviceCard } from '../../../src/index.ts';
import { element, make } from '../../shared/elements.ts';
import { sentence } from '../../shared/faults.ts';
import { many } from '../../shared/words.ts';
import { type Cell, type Plan, type Row, runsPerCell } from '../queue/plan.ts';
import { COLUMNS } from './columns.ts';
import { resultOf } from './result-row.ts';

const GUARANTEES = { exact: '= exact', approximate: '≈ approximate', peer: 'peer' } as const;

const SIGNS: Readonly<Record<Cell['state'], string>> = { waiting: '·', running: '◌', done: '✓', failed: '✗' };

const cellNode = (cell: Cell, index: number, runs: number): HTMLElement => {
  const state = cell.fault
    ? `${cell.state}, ${cell.fault.message}`
    : `${cell.state}, ${cell.runs} of ${many(runs, 'run')}`;
  const node = make(
    'li',
    { title: `Prompt ${index + 1}: ${state}` },
    make('span', { ariaHidden: 'true' }, SIGNS[cell.state]),
  );
  node.append(make('span', { className: 'hidden' }, `Prompt ${index + 1}: ${state}`));
  node.dataset.state = cell.state;
  return node;
};

interface Line {
  readonly node: HTMLTableRowElement;
  readonly state: HTMLElement;
  readonly prompts: HTMLElement;
  readonly figures: readonly HTMLElement[];
  readonly retry: HTMLButtonElement;
}

export class ResultTable {
  readonly #body = element('rows', HTMLTableSectionElement);
  readonly #lines = new Map<Row, Line>();
  readonly #retry: (row: Row) => void;
  #plan: Plan | null = null;
  #all: readonly Row[] = [];

  constructor(retry: (row: Row) => void) {
    this.#retry = retry;
    const heads = COLUMNS.map(({ title, about, more }) =>
      make('th', { scope: 'col', className: more ? 'more' : '' }, title, ...(about ? [make('small', {}, about)] : [])),
    );
    element('columns', HTMLTableRowElement).append(...heads);
  }

  start(plan: Plan, rows: readonly Row[], card: DeviceCard | null): void {
    this.#plan = plan;
    this.#all = rows;
    this.#lines.clear();
    for (const row of rows) this.#lines.set(row, this.#line(row));
    this.#body.replaceChildren(...[...this.#lines.values()].map(({ node }) => node));
    for (const row of rows) this.show(row, card);
  }

  show(row: Row, card: DeviceCard | null): void {
    const line = this.#lines.get(row);
    if (!line || !this.#plan) return;
    const runs = runsPerCell(row, this.#all, this.#plan.repeat);
    const failed = row.cells.some(({ state }) => state === 'failed');
    line.state.textContent = sentence(row.state);
    line.state.dataset.fault = `${row.fault !== null}`;
    line.prompts.replaceChildren(...row.cells.map((cell, i) => cellNode(cell, i, runs)));
    const result = resultOf(row, this.#all, this.#plan, card);
    for (const [i, column] of COLUMNS.entries()) {
      const cell = line.figures[i];
      if (cell) cell.textContent = row.samples.length > 0 ? column.text(result) : '–';
    }
    line.retry.hidden = !failed;
  }

  /** Disables the Retry buttons while the queue runs. */
  freeze(frozen: boolean): void {
    for (const { retry } of this.#lines.values()) retry.disabled = frozen;
  }

  #line(row: Row): Line {
    const badge = make('span', { className: 'badge' }, GUARANTEES[row.guarantee]);
    badge.dataset.guarantee = row.guarantee;
    const state = make('p', { className: 'state' });
    const prompts = make('ul', { className: 'cells' });
    const retry = make('button', { type: 'button', className: 'quiet', hidden: true, textContent: 'Retry' });
    retry.ariaLabel = `Retry ${row.title}`;
    retry.addEventListener('click', () => this.#retry(row));
    const figures = COLUMNS.map(({ title, more }) => {
      const cell = make('td', { className: more ? 'more' : '' });
      cell.dataset.label = title;
      return cell;
    });
    const head = make(
      'th',
      { scope: 'row' },
      make('div', { className: 'row tight' }, make('strong', {}, row.title), badge),
      prompts,
      make('div', { className: 'row tight' }, state, retry),
    );
    const node = make('tr', {}, head, ...figures);
    node.dataset.system = row.name;
    return { node, state, prompts, figures, retry };
  }
}
