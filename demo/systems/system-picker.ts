// The choice of a decoding system, and its knobs. Groups, titles, summaries and knobs all come from the systems' own
// facts.
import {
  type Loaded,
  type ModelRole,
  type RunRequest,
  SYSTEM_GROUPS,
  SYSTEMS,
  type SystemFacts,
} from '../../src/index.ts';
import { type Family, type ModelNames, namesOf, roleName } from '../models/family.ts';
import { showLegendOfChoice } from '../run/legend.ts';
import { element, make, say } from '../shared/elements.ts';
import { withArticle } from '../shared/words.ts';
import { DocumentField } from './document-field.ts';
import { KnobPanel } from './knob-panel.ts';

const GUARANTEES = {
  exact: {
    badge: '= exact',
    about: 'Never changes the answer: the tokens of plain decoding at temperature 0, its distribution otherwise.',
  },
  approximate: {
    badge: '≈ approximate',
    about:
      'May change the answer to save time: what the draft wrote can stay, whether or not the target would write it.',
  },
} as const;
const EXACT_ENSEMBLE =
  'Writes what the full vote of all models would write: its tokens at temperature 0, its distribution otherwise.';

const listed = (roles: readonly ModelRole[]): string => roles.map((role) => withArticle(roleName(role))).join(' and ');

/** The page opens with the first of these that exists. */
const FAVOURITES = ['dflash', 'autoregressive'];

export class SystemPicker {
  readonly #select = element('system', HTMLSelectElement);
  readonly #knobs = new KnobPanel(element('knobs', HTMLElement), element('more-knobs', HTMLElement));
  readonly document = new DocumentField();
  #fitted: Loaded['systems'] = [];
  #models: ModelNames = {};
  /** The address names the chosen system, and no models have been offered yet. */
  #named: boolean;
  /** What is wrong with the system that the address names, until another is chosen. */
  #note = '';

  /** `?system=eagle3` opens the page with that system. */
  constructor(change: () => void) {
    for (const [id, label] of Object.entries(SYSTEM_GROUPS)) {
      const options = SYSTEMS.filter(({ group }) => group === id).map((system) => new Option(system.title, system.id));
      this.#select.append(make('optgroup', { label }, ...options));
    }
    const wanted = new URLSearchParams(location.search).get('system');
    this.#named = this.#choose((system) => system.id === wanted);
    if (!this.#named) this.#choose(isFavourite);
    if (wanted && !this.#named) this.#note = `The link names the system “${wanted}”, which is none of these. `;
    this.#select.addEventListener('change', () => {
      this.#note = '';
      this.#show();
      change();
    });
    this.#show();
  }

  get system(): SystemFacts {
    return SYSTEMS.find(({ id }) => id === this.#select.value) ?? (SYSTEMS[0] as SystemFacts);
  }

  /** The chosen system with its settings and its document. A race reads them once, for all its runs. */
  get request(): Required<Pick<RunRequest, 'system' | 'knobs'>> & Pick<RunRequest, 'document'> {
    const { text } = this.document;
    const document = text === undefined ? {} : { document: text };
    return { system: this.system.id, knobs: this.#knobs.settings, ...document };
  }

  /** Disables the systems that this family lacks models for; if the chosen one is among them, chooses another. */
  offer(family: Family): void {
    for (const option of this.#select.options) {
      const system = SYSTEMS.find(({ id }) => id === option.value);
      const missing = system ? family.missing(system) : [];
      option.disabled = missing.length > 0;
      option.text = `${system?.title}${missing.length > 0 ? ` (needs ${listed(missing)})` : ''}`;
    }
    const missing = family.missing(this.system);
    if (missing.length > 0) {
      if (this.#named) this.#note = `The link names ${this.system.title}, which needs ${listed(missing)}. `;
      this.#choose((system) => family.missing(system).length === 0);
    }
    this.#named = false;
    this.#show();
  }

  /** Chooses a system, where the next family allows it. */
  prefer(id: string): void {
    this.#choose((system) => system.id === id);
    this.#note = '';
    this.#show();
  }

  /** Takes the knobs as the loaded models have them. */
  fit(loaded: Pick<Loaded, 'systems' | 'models'>): void {
    this.#fitted = loaded.systems;
    this.#models = namesOf(loaded);
    this.#show();
  }

  /** Shows the system of a recording, without its knobs. */
  showRecorded(id: string): void {
    this.#choose((system) => system.id === id);
    this.#show();
    for (const place of ['knobs', 'advanced']) element(place, HTMLElement).hidden = true;
  }

  #choose(fits: (system: SystemFacts) => boolean): boolean {
    const found = SYSTEMS.find(fits);
    if (found) this.#select.value = found.id;
    return found !== undefined;
  }

  #show(): void {
    const { id, title, summary, paper, guarantee, group, knobs } =
      this.#fitted.find((each) => each.id === this.system.id) ?? this.system;
    const badge = element('guarantee', HTMLButtonElement);
    badge.textContent = GUARANTEES[guarantee].badge;
    badge.dataset.hint = group === 'ensemble' ? EXACT_ENSEMBLE : GUARANTEES[guarantee].about;
    badge.dataset.guarantee = guarantee;
    const link = element('paper', HTMLAnchorElement);
    link.hidden = paper === '';
    link.href = paper || '#';
    link.ariaLabel = `Paper: ${title}`;
    say('about', `${this.#note}${summary}`);
    showLegendOfChoice(this.system, this.#models);
    this.#knobs.show(id, knobs);
    this.document.show(id);
  }
}

const isFavourite = ({ id }: SystemFacts): boolean =>
  id === FAVOURITES.find((each) => SYSTEMS.some((system) => system.id === each));
