// The panel of models besides the bundled ones: the last one used, the published ones, the one that is loaded, and what
// drafts for it. The list of published models is fetched when the panel is opened.
import type { CatalogueEntry } from '../../src/catalogue/catalogue.ts';
import type { Loaded, ModelRole, SystemFacts } from '../../src/index.ts';
import { element, make, megabytes } from '../shared/elements.ts';
import type { CatalogueView, Memory, ModelPick } from './catalogue-view.ts';
import type { Choice } from './family.ts';
import { roleName } from './family.ts';
import { type Remembered, remember, remembered } from './remembered-model.ts';

interface Actions {
  /** Loads a target and what drafts for it. */
  load(pick: ModelPick): void;
  /** Adds a model to the loaded target. */
  add(role: ModelRole, choice: Choice): void;
  readonly memory: Memory;
}

/** The catalogue's code and data are a chunk of their own. */
const catalogue = () => import('../../src/catalogue/catalogue.ts');
const views = () => import('./catalogue-view.ts');

export class ModelsPanel {
  readonly #actions: Actions;
  readonly #published = make('details', { id: 'published' }, make('summary', {}, 'Published models'));
  readonly #loaded = make('div', { className: 'loaded-model', hidden: true });
  readonly #offers = make('p', { id: 'offers', className: 'row tight', hidden: true });
  #view: Promise<CatalogueView> | null = null;
  /** Of the target that is loaded, if the catalogue has it. */
  #entry: CatalogueEntry | null = null;

  constructor(actions: Actions) {
    this.#actions = actions;
    const own = element('own', HTMLDetailsElement);
    own.before(this.#loaded, this.#published);
    element('about', HTMLElement).after(this.#offers);
    this.#published.addEventListener('toggle', () => {
      if (this.#published.open) void this.#open();
    });
    void this.#offerLast();
  }

  /** Opens the list at a model, for the visitor to look at. */
  async show(id: string): Promise<void> {
    this.#published.open = true;
    (await this.#open()).open(id);
  }

  /** The card of a target that is not bundled. */
  async showLoaded({ models: { target } }: Loaded, choice: Choice, from: Remembered | null): Promise<void> {
    const bundled = typeof choice.source === 'string';
    this.#loaded.hidden = bundled || !target;
    this.#entry = null;
    if (bundled || !target) return;
    const facts = [target.family, `${megabytes(target.bytes)} on the device`, `${target.context} tokens of context`];
    this.#loaded.replaceChildren(make('strong', {}, choice.label), make('small', {}, facts.join(' · ')));
    remember(from);
    if (from?.kind === 'entry') this.#entry = (await catalogue()).catalogueEntry(from.id) ?? null;
  }

  /** The models that systems lack with this target and that were published for it, each with its size. */
  async offer(missing: (system: SystemFacts) => readonly ModelRole[], system: readonly SystemFacts[]): Promise<void> {
    const entry = this.#entry;
    const absent = new Set(system.flatMap((each) => missing(each)));
    const partners = entry?.partners.filter(({ role }) => absent.has(role)) ?? [];
    this.#offers.hidden = partners.length === 0;
    if (!entry || partners.length === 0) return;
    const { catalogueAddress, catalogueEntry } = await catalogue();
    this.#offers.replaceChildren(
      'Systems that need a drafter can have one:',
      ...partners.flatMap(({ role, id }) => {
        const partner = catalogueEntry(id);
        if (!partner) return [];
        const size = partner.files[0] ? `${Math.round(partner.files[0].megabytes)} MB` : 'size not known';
        const button = make(
          'button',
          { type: 'button', className: 'small' },
          `${roleName(role)}: ${partner.title}, ${size}`,
        );
        const choice: Choice = { label: partner.title, source: { kind: 'url', url: catalogueAddress(partner) } };
        button.addEventListener('click', () => this.#actions.add(role, choice));
        return [button];
      }),
    );
  }

  #open(): Promise<CatalogueView> {
    this.#view ??= views().then(
      ({ CatalogueView }) =>
        new CatalogueView(this.#published, (pick) => this.#actions.load(pick), this.#actions.memory),
    );
    return this.#view.then(async (view) => {
      await view.refresh();
      return view;
    });
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
      const target: Choice = { label: last.url, source: { kind: 'url', url: last.url } };
      return { target, partner: null, system: 'prompt-lookup', remember: last };
    }
    const [{ catalogueEntry }, { pickOf }] = await Promise.all([catalogue(), views()]);
    const entry = catalogueEntry(last.id);
    return entry?.files[last.file] ? pickOf(entry, last.file, last.partner) : null;
  }
}
