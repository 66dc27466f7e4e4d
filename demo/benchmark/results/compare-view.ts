// Compares two saved results.
import { type Fault, toFault } from '../../../src/index.ts';
import { element, make } from '../../shared/elements.ts';
import { sentence } from '../../shared/faults.ts';
import { short } from './columns.ts';
import { compare } from './compare.ts';
import { type ResultFile, readResult } from './result-file.ts';

const figure = (value: number | null): string => (value === null ? '–' : short(value));

const ratio = (value: number | null): string => (value === null ? '–' : `× ${value.toFixed(2)}`);

export class CompareView {
  readonly #files: (ResultFile | null)[] = [null, null];

  constructor() {
    for (const index of [0, 1]) {
      const input = element(`compare-${index + 1}`, HTMLInputElement);
      input.addEventListener('click', () => {
        input.value = ''; // so that a file that was mended can be chosen again
      });
      input.addEventListener('change', () => void this.#open(index, input.files?.[0]));
    }
  }

  async #open(index: number, file: File | undefined): Promise<void> {
    if (!file) return;
    const fault = element('compare-fault', HTMLElement);
    fault.hidden = true;
    element(`compare-${index + 1}-name`, HTMLElement).textContent = file.name;
    try {
      this.#files[index] = readResult(await file.text(), file.name);
    } catch (error) {
      this.#files[index] = null;
      const { message, hint }: Fault = toFault(error);
      fault.textContent = `${sentence(message)} ${hint}`;
      fault.hidden = false;
    }
    this.#show();
  }

  #show(): void {
    const [first, second] = this.#files;
    const box = element('compared', HTMLElement);
    box.hidden = !first || !second;
    if (!first || !second) return;
    const { differences, rows } = compare(first, second);
    const heads = [
      'System',
      'First',
      'Second',
      'Speed ratio',
      '× baseline, first',
      '× baseline, second',
      'Memory ratio',
    ];
    const lines = rows.map((row) =>
      make(
        'tr',
        {},
        make('th', { scope: 'row' }, row.title),
        make('td', {}, figure(row.first)),
        make('td', {}, figure(row.second)),
        make('td', {}, `${ratio(row.speed)}${row.speed !== null && !row.apart ? ' (within the spread)' : ''}`),
        make('td', {}, figure(row.speedups[0])),
        make('td', {}, figure(row.speedups[1])),
        make('td', {}, ratio(row.memory)),
      ),
    );
    const table = make(
      'table',
      { className: 'figures' },
      make('caption', {}, 'Median tokens per second. Ratios are the second file divided by the first.'),
      make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', { scope: 'col' }, head)))),
      make('tbody', {}, ...lines),
    );
    const items = differences.map((text) => make('li', {}, text));
    box.replaceChildren(
      make(
        'p',
        {},
        items.length > 0 ? 'The two measurements differ in:' : 'Both measurements have the same plan and device.',
      ),
      make('ul', { className: 'differences' }, ...items),
      table,
    );
  }
}
