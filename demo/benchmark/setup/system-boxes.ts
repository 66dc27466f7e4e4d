// Which systems: a box for each that there are models for, and a line for those with settings of their own.
import { type BenchEntry, readEntry } from '../../../src/cli/bench/report.ts';
import { type DecodingSystem, SYSTEMS } from '../../../src/index.ts';
import { type Family, roleName } from '../../models/family.ts';
import { element, make } from '../../shared/elements.ts';

const GROUPS: Readonly<Record<string, (system: DecodingSystem) => boolean>> = {
  'Exact: the target’s own answer': ({ guarantee, joins }) => guarantee === 'exact' && !joins,
  'Several models vote': ({ joins }) => joins === true,
  'Step by step: accuracy for speed': ({ guarantee, joins }) => guarantee === 'approximate' && !joins,
};

const AT_FIRST = ['dflash', 'draft-model'];

/** `dflash:block-size=4, rsd:delta=0.9` */
export const readVariants = (text: string): readonly BenchEntry[] =>
  text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(readEntry);

export class SystemBoxes {
  readonly #boxes: readonly HTMLInputElement[];
  readonly #variants = element('variants', HTMLInputElement);

  /** `?systems=dflash,eagle3` checks those. */
  constructor() {
    const wanted = new URLSearchParams(location.search).get('systems')?.split(',') ?? AT_FIRST;
    const groups = Object.entries(GROUPS).map(([legend, fits]) => {
      const choices = SYSTEMS.filter(fits).map(({ id, title }) => {
        const box = make('input', { type: 'checkbox', name: 'system', value: id, checked: wanted.includes(id) });
        if (id === 'autoregressive') Object.assign(box, { checked: true, disabled: true });
        return make('label', { className: 'box' }, box, make('span', {}, title));
      });
      return make(
        'fieldset',
        { className: 'boxes' },
        make('legend', {}, legend),
        make('div', { className: 'row tight' }, ...choices),
      );
    });
    element('systems', HTMLElement).replaceChildren(...groups);
    this.#boxes = [...document.querySelectorAll<HTMLInputElement>('input[name=system]')];
    this.#variants.addEventListener('input', () => this.#variants.setCustomValidity(''));
  }

  /** Greys out what this family has no models for. */
  offer(family: Family): void {
    for (const box of this.#boxes) {
      const system = SYSTEMS.find(({ id }) => id === box.value) as DecodingSystem;
      const lacks = family.missing(system);
      box.disabled = lacks.length > 0 || box.value === 'autoregressive';
      if (lacks.length > 0) box.checked = false;
      const label = box.parentElement as HTMLElement;
      label.title = lacks.length > 0 ? `Needs a ${lacks.map((role) => roleName(role)).join(' and a ')}` : '';
    }
  }

  /** Throws where a setting is wrong. */
  get chosen(): readonly BenchEntry[] {
    const boxes = this.#boxes.filter(({ checked, disabled }) => checked && !disabled).map(({ value }) => value);
    return [...boxes.map(readEntry), ...readVariants(this.#variants.value)];
  }
}
