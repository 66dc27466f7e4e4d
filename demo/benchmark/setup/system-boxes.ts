// The choice of systems: a checkbox for each, and a text line for systems with other settings. Groups and titles are
// the systems' own facts.
import { type BenchEntry, readEntry } from '../../../src/cli/bench/report.ts';
import { SYSTEM_GROUPS, SYSTEMS, type SystemFacts } from '../../../src/index.ts';
import { type Family, roleName } from '../../models/family.ts';
import { element, make } from '../../shared/elements.ts';
import { withArticle } from '../../shared/words.ts';

/** Checked unless the address says otherwise. */
const INITIAL = ['dflash', 'draft-model'];

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
    const wanted = new URLSearchParams(location.search).get('systems')?.split(',') ?? INITIAL;
    const groups = Object.entries(SYSTEM_GROUPS).map(([group, legend]) => {
      const choices = SYSTEMS.filter((system) => system.group === group).map(({ id, title, summary }) => {
        const box = make('input', { type: 'checkbox', name: 'system', value: id, checked: wanted.includes(id) });
        if (id === 'autoregressive') Object.assign(box, { checked: true, disabled: true });
        return make('label', { className: 'box', title: summary }, box, make('span', {}, title));
      });
      return make(
        'fieldset',
        { className: 'boxes' },
        make('legend', {}, legend),
        make('div', { className: 'row tight' }, ...choices),
      );
    });
    const unknown = wanted.filter((id) => id !== '' && !SYSTEMS.some((system) => system.id === id));
    const note = `The link names what is none of these systems: ${unknown.join(', ')}.`;
    element('systems', HTMLElement).replaceChildren(
      ...(unknown.length > 0 ? [make('p', { className: 'muted' }, note)] : []),
      ...groups,
    );
    this.#boxes = [...document.querySelectorAll<HTMLInputElement>('input[name=system]')];
    this.#variants.addEventListener('input', () => this.#variants.setCustomValidity(''));
  }

  /** Disables the systems that this family lacks models for. */
  offer(family: Family): void {
    for (const box of this.#boxes) {
      const system = SYSTEMS.find(({ id }) => id === box.value) as SystemFacts;
      const lacks = family.missing(system);
      box.disabled = lacks.length > 0 || box.value === 'autoregressive';
      if (lacks.length > 0) box.checked = false;
      const label = box.parentElement as HTMLElement;
      const needs = `Needs ${lacks.map((role) => withArticle(roleName(role))).join(' and ')}.`;
      label.title = lacks.length > 0 ? `${needs} ${system.summary}` : system.summary;
    }
  }

  /** Checks exactly these systems, and no variants. */
  choose(systems: readonly string[]): void {
    for (const box of this.#boxes)
      box.checked = box.value === 'autoregressive' || (systems.includes(box.value) && !box.disabled);
    this.#variants.value = '';
  }

  /** Throws if a setting is wrong. */
  get chosen(): readonly BenchEntry[] {
    const boxes = this.#boxes.filter(({ checked, disabled }) => checked && !disabled).map(({ value }) => value);
    return [...boxes.map(readEntry), ...readVariants(this.#variants.value)];
  }
}
