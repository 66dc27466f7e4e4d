// Offers of models to the systems that cannot run with this target: its own MTP layer, models that were published for
// it, the bundled target, whose partners come with the page, or a model of the visitor's own.
import { BUNDLED_PARTNERS, type ModelRole } from '../../src/index.ts';
import { element, make } from '../shared/elements.ts';
import { BUNDLED } from './bundled-models.ts';
import { type Choice, roleName } from './family.ts';

/** A model that goes with the target. */
export interface Partner {
  readonly role: ModelRole;
  readonly choice: Choice;
  /** Of its button. */
  readonly text: string;
}

export interface OfferActions {
  /** Adds a model to the loaded target. */
  add(role: ModelRole, choice: Choice): void;
  loadBundled(): void;
  /** Opens the form for a model of the visitor's own. */
  openForm(role: ModelRole): void;
}

const [WHOLE] = BUNDLED;

export class OffersView {
  readonly #actions: OfferActions;
  readonly #line = make('p', { id: 'offers', className: 'muted row tight', hidden: true });

  constructor(actions: OfferActions) {
    this.#actions = actions;
  }

  /** `absent`: the roles that some system needs and that nothing fills. */
  show(target: Choice, absent: readonly ModelRole[], partners: readonly Partner[]): void {
    const { add, loadBundled, openForm } = this.#actions;
    const own = absent.filter((role) => !partners.some((each) => each.role === role));
    const bundled = typeof target.source === 'string' && own.some((role) => BUNDLED_PARTNERS[WHOLE.name]?.[role]);
    const [first] = own;
    // A model that is one press away stands below the system's summary; a form for one's own is for experts.
    if (partners.length > 0 || bundled) element('about', HTMLElement).after(this.#line);
    else element('advanced', HTMLElement).append(this.#line);
    this.#line.hidden = absent.length === 0;
    this.#line.replaceChildren(
      'Systems in grey need another model:',
      ...partners.map(({ role, choice, text }) => this.#button(text, () => add(role, choice))),
      ...(bundled
        ? [this.#button(`The bundled target, ${(WHOLE.weights / 1e6).toFixed(1)} M weights`, loadBundled)]
        : []),
      ...(first
        ? [this.#button(own.length > 1 ? 'Your own …' : `Your own ${roleName(first)} …`, () => openForm(first))]
        : []),
    );
  }

  #button(text: string, press: () => void): HTMLElement {
    const button = make('button', { type: 'button', className: 'small' }, text);
    button.addEventListener('click', press);
    return button;
  }
}
