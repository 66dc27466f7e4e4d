// Who votes beside the bundled target in an ensemble: a choice that only ensembles have. Models of one's own are brought
// where models are.
import { element } from '../shared/elements.ts';
import type { Choice, Family } from './family.ts';

const bundled = (name: string): Choice => ({ label: `the bundled ${name}`, source: name });

/** The draft is what an ensemble takes by itself. */
const CHOICES: Readonly<Record<string, readonly Choice[]>> = {
  draft: [],
  mid: [bundled('mid')],
  both: [bundled('mid'), bundled('draft')],
};

export class MemberChoice {
  readonly #row = element('members', HTMLElement);
  readonly #select = element('member', HTMLSelectElement);

  constructor(change: (members: readonly Choice[]) => void) {
    this.#select.addEventListener('change', () => change(CHOICES[this.#select.value] ?? []));
  }

  show(joins: boolean, family: Family): void {
    if (!family.joined) this.#select.value = 'draft';
    const brought = family.joined && this.#select.value === 'draft';
    this.#row.hidden = !joins || family.target.source !== 'target' || brought;
  }
}
