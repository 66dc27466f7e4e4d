// The panel of models besides the bundled ones: the last one used, the published ones, the one that is loaded, and what
// drafts for it. The list of published models is fetched when the panel is opened.
import type { CatalogueEntry } from '../../src/catalogue/catalogue.ts';
import type { Loaded, ModelRole } from '../../src/index.ts';
import { element, make, megabytes, size } from '../shared/elements.ts';
import { showFault } from '../shared/faults.ts';
import { lazily } from '../shared/lazily.ts';
import type { Memory, ModelPick } from './catalogue-view.ts';
import { type Choice, choiceAt, OWN_MTP_LAYER, publishedChoice, roleName } from './family.ts';
import { type OfferActions, OffersView, type Partner } from './offers-view.ts';
import { type Remembered, remember, remembered } from './remembered-model.ts';

interface Actions extends OfferActions {
  /** Loads a target and what drafts for it. */
  load(pick: ModelPick): void;
  readonly memory: Memory;
}

/** The catalogue's code and data are a chunk of their own. */
const catalogue = () => import('../../src/catalogue/catalogue.ts');
const views = () => import('./catalogue-view.ts');

export class ModelsPanel {
  readonly #actions: Actions;
  readonly #published = make('details', { id: 'published' }, make('summary', {}, 'Published models'));
  readonly #loaded = make('div', { className: 'loaded-model', hidden: true });
  readonly #offers: OffersView;
  readonly #view = lazily(
    views,
    ({ CatalogueView }) => new CatalogueView(this.#published, (pick) => this.#actions.load(pick), this.#actions.memory),
  );
  /** Of the target that is loaded, if the catalogue has it. */
  #entry: CatalogueEntry | null = null;

  constructor(actions: Actions) {
    this.#actions = actions;
    this.#offers = new OffersView(actions);
    const own = element('own', HTMLDetailsElement);
    own.before(this.#loaded, this.#published);
    this.#published.addEventListener('toggle', () => {
      if (this.#published.open) this.#open().catch(showFault);
    });
    void this.#offerLast();
  }

  /** Another target is about to be loaded: nothing of the last one stays. */
  leave(): void {
    this.#entry = null;
    this.#loaded.hidden = true;
  }

  /** The card of a target that is not bundled. */
  async showLoaded({ models: { target } }: Loaded, choice: Choice, from: Remembered | null): Promise<void> {
    const bundled = typeof choice.source === 'string';
    this.#loaded.hidden = bundled || !target;
    this.#entry = null;
    if (bundled || !target) return;
    const facts = [target.family, `${megabytes(target.bytes)} in GPU memory`, `${target.context} tokens of context`];
    this.#loaded.replaceChildren(make('strong', {}, choice.label), make('small', {}, facts.join(' · ')));
    remember(from);
    if (from?.kind === 'entry') this.#entry = (await catalogue()).catalogueEntry(from.id) ?? null;
  }

  /** Offers what systems lack with this target. `mtp`: its files also hold an MTP layer. */
  async offer(target: Choice, absent: readonly ModelRole[], mtp: boolean): Promise<void> {
    const entry = this.#entry;
    const own: readonly Partner[] =
      mtp && absent.includes('mtp') ? [{ role: 'mtp', choice: OWN_MTP_LAYER, text: `Use ${OWN_MTP_LAYER.label}` }] : [];
    this.#offers.show(target, absent, [...own, ...(entry ? await this.#publishedFor(entry, absent) : [])]);
  }

  async #publishedFor({ partners }: CatalogueEntry, absent: readonly ModelRole[]): Promise<readonly Partner[]> {
    const { catalogueAddress, catalogueEntry } = await catalogue();
    return partners.flatMap(({ role, id }) => {
      const partner = absent.includes(role) && catalogueEntry(id);
      if (!partner) return [];
      const takes = partner.files[0] ? size(partner.files[0].megabytes * 1e6) : 'size not known';
      const choice = publishedChoice(partner, catalogueAddress(partner));
      return [{ role, choice, text: `${roleName(role)}: ${choice.label}, ${takes}` }];
    });
  }

  async #open(): Promise<void> {
    await (await this.#view()).refresh();
  }

  async #offerLast(): Promise<void> {
    const last = remembered();
    if (!last) return;
    const pick = await this.#pickOf(last);
    if (!pick) return;
    const again = make('button', { type: 'button', className: 'small' }, `Load ${pick.target.label} again`);
    const drop = make('button', { type: 'button', className: 'quiet small' }, 'Forget');
    const row = make('p', { className: 'row tight', id: 'last-model' }, 'Last time: ', again, drop);
    again.addEventListener('click', () => {
      row.remove();
      this.#actions.load(pick);
    });
    drop.addEventListener('click', () => {
      row.remove();
      remember(null);
    });
    this.#published.before(row);
  }

  async #pickOf(last: Remembered): Promise<ModelPick | null> {
    if (last.kind === 'address') {
      return { target: choiceAt(last.url), partner: null, system: 'prompt-lookup', remember: last };
    }
    const [{ catalogueEntry }, { pickOf }] = await Promise.all([catalogue(), views()]);
    const entry = catalogueEntry(last.id);
    return entry?.files[last.file] ? pickOf(entry, last.file, last.partner) : null;
  }
}
