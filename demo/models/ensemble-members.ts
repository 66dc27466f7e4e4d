// The choice of bundled models that vote with the bundled target in an ensemble. Members of the visitor's own are
// chosen with their other models.
import { element } from '../shared/elements.ts';
import { bundledChoice } from './bundled-models.ts';
import type { Choice, Family } from './family.ts';

/** Without named members an ensemble takes the draft model. */
const CHOICES: Readonly<Record<string, readonly Choice[]>> = {
  draft: [],
  mid: [bundledChoice('mid')],
  both: [bundledChoice('mid'), bundledChoice('draft')],
};

export class MemberChoice {
  readonly #row = element('members', HTMLElement);
  readonly #select = element('member', HTMLSelectElement);

  constructor(change: (members: readonly Choice[]) => void) {
    this.#select.addEventListener('change', () => change(CHOICES[this.#select.value] ?? []));
  }

  show(joins: boolean, family: Family): void {
    if (!family.hasMembers) this.#select.value = 'draft';
    const own = family.hasMembers && this.#select.value === 'draft';
    this.#row.hidden = !joins || family.target.source !== 'target' || own;
  }
}
