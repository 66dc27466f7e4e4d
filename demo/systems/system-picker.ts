// Which decoding system, and its knobs: everything here comes from the systems' own declarations but the sentences.
import { type DecodingSystem, type Loaded, SYSTEMS } from '../../src/index.ts';
import { type Family, type ModelNames, namesOf, roleName } from '../models/family.ts';
import { showLegendOfChoice } from '../run/legend.ts';
import { element, say } from '../shared/elements.ts';
import { KnobPanel, type Settings } from './knob-panel.ts';

/** For visitors; a system without a sentence still has its title, paper and knobs. */
const ABOUT: Readonly<Record<string, string>> = {
  autoregressive: 'One pass of the target for each token: what everything else is measured against.',
  'draft-model': 'A small model writes a few tokens ahead; the target checks them all in one pass.',
  'prompt-lookup': 'No model drafts: what followed the same words earlier in the text is proposed again.',
  dflash: 'A small network reads what the target was thinking and drafts a whole block in one pass.',
  blockpilot: 'DFlash with a block size for each prompt: a small policy picks the one that is fastest on this device.',
  eagle3: 'One layer on the target’s own features drafts a tree of continuations; the longest right path is kept.',
  ensemble: 'Several models vote on every token, and every one of them reads every token.',
  'ensemble-parallel': 'The same vote, with the passes of all models in one submission to the GPU.',
  'ensemble-speculative': 'The smallest model writes ahead; all together decide on what it wrote.',
  'cos-naive': 'The smallest model writes ahead; all decide on it, and nothing is drawn behind it.',
  cos: 'Models take turns: whoever checks a draft adds a token of its own for the others to check.',
  rsd: 'The draft writes steps; a reward model lets the good ones stay, and the target writes the others.',
  arbitrage: 'A router guesses whether the target would write a better step, without asking it.',
  specguard: 'No judge: the draft’s own certainty and what its attention rests on decide on each step.',
  confidence: 'A step stays where the draft was sure of every token: the least that a judge must beat.',
  random: 'Steps are escalated by a coin: what any rule must beat.',
  oracle: 'Both models write every step and the better one stays: the best a router could do, and the dearest.',
  'draft-only': 'The draft writes every step.',
  'target-only': 'The target writes every step.',
  majority: 'Several answers are drawn at once; the result that most agree on wins.',
  'best-of-n': 'Several answers are drawn at once; the one with the highest reward wins.',
};

const GUARANTEES = {
  exact: { badge: '= exact', title: 'Never changes the answer: the same tokens, or the same distribution' },
  approximate: { badge: '≈ approximate', title: 'May change the answer, and says what it keeps' },
} as const;

/** Each system is in one of them. */
const GROUPS: Readonly<Record<string, (system: DecodingSystem) => boolean>> = {
  'The target’s own answer': ({ guarantee, joins }) => guarantee === 'exact' && !joins,
  'Several models vote': ({ joins }) => joins === true,
  'Steps and answers are judged': ({ guarantee, joins }) => guarantee === 'approximate' && !joins,
};

/** The best that there is for the bundled target. */
const FAVOURITES = ['dflash', 'autoregressive'];

export class SystemPicker {
  readonly #select = element('system', HTMLSelectElement);
  readonly #knobs = new KnobPanel(element('knobs', HTMLElement));
  #fitted: Loaded['systems'] = [];
  #models: ModelNames = {};

  /** `?system=eagle3` opens the page with that one. */
  constructor(change: () => void) {
    for (const [label, fits] of Object.entries(GROUPS)) {
      const group = Object.assign(document.createElement('optgroup'), { label });
      group.append(...SYSTEMS.filter(fits).map(({ id, title }) => new Option(title, id)));
      this.#select.append(group);
    }
    const wanted = new URLSearchParams(location.search).get('system');
    this.#choose((system) => system.id === wanted) || this.#choose(favourite);
    this.#select.addEventListener('change', () => {
      this.#show();
      change();
    });
    this.#show();
  }

  get system(): DecodingSystem {
    return SYSTEMS.find(({ id }) => id === this.#select.value) ?? (SYSTEMS[0] as DecodingSystem);
  }

  get settings(): Settings {
    return this.#knobs.settings;
  }

  /** Greys out what this family has no models for, and gives up a choice that became impossible. */
  offer(family: Family): void {
    for (const option of this.#select.options) {
      const system = SYSTEMS.find(({ id }) => id === option.value);
      const missing = system ? family.missing(system) : [];
      option.disabled = missing.length > 0;
      const lacks = missing.map((role) => roleName(role)).join(' and a ');
      option.text = `${system?.title}${lacks && ` (needs a ${lacks})`}`;
    }
    if (family.missing(this.system).length > 0) this.#choose((system) => family.missing(system).length === 0);
    this.#show();
  }

  /** The knobs as the loaded models have them. */
  fit(loaded: Pick<Loaded, 'systems' | 'models'>): void {
    this.#fitted = loaded.systems;
    this.#models = namesOf(loaded);
    this.#show();
  }

  /** A recording was made with this one. */
  pretend(id: string): void {
    this.#choose((system) => system.id === id);
    this.#show();
    element('knobs', HTMLElement).replaceChildren();
  }

  #choose(fits: (system: DecodingSystem) => boolean): boolean {
    const found = SYSTEMS.find(fits);
    if (found) this.#select.value = found.id;
    return found !== undefined;
  }

  #show(): void {
    const { id, title, paper, guarantee, knobs } =
      this.#fitted.find((each) => each.id === this.system.id) ?? this.system;
    const badge = element('guarantee', HTMLElement);
    badge.textContent = GUARANTEES[guarantee].badge;
    badge.title = GUARANTEES[guarantee].title;
    badge.dataset.guarantee = guarantee;
    const link = element('paper', HTMLAnchorElement);
    link.hidden = paper === '';
    link.href = paper || '#';
    link.ariaLabel = `Paper: ${title}`;
    say('about', ABOUT[id] ?? '');
    showLegendOfChoice(this.system, this.#models);
    this.#knobs.show(id, knobs);
  }
}

const favourite = ({ id }: DecodingSystem): boolean =>
  id === FAVOURITES.find((each) => SYSTEMS.some((system) => system.id === each));
