// The choice between the bundled judges of steps: a reward model, or a layer that reads the draft's hidden states. A judge
// of the visitor's own is chosen with their other models.
import type { SystemFacts } from '../../src/index.ts';
import { element } from '../shared/elements.ts';
import { bundledChoice } from './bundled-models.ts';
import type { Choice, Family } from './family.ts';

export class JudgeChoice {
  readonly #row = element('judges', HTMLElement);
  readonly #select = element('judge', HTMLSelectElement);

  constructor(change: (judge: Choice) => void) {
    this.#select.addEventListener('change', () => change(bundledChoice(this.#select.value)));
  }

  show(system: SystemFacts, family: Family): void {
    const judge = system.needs.includes('prm') ? family.sources(system, []).prm : undefined;
    const offered = [...this.#select.options].some(({ value }) => value === judge);
    this.#row.hidden = !offered;
    if (offered) this.#select.value = judge as string;
  }
}
