// The published models: what each is, what it takes, its licence, and what drafts for it. Nothing is fetched before the
// visitor presses Download.
import {
  CATALOGUE,
  type CatalogueEntry,
  catalogueAddress,
  catalogueEntry,
  catalogueMemory,
} from '../../src/catalogue/catalogue.ts';
import type { ModelRole } from '../../src/index.ts';
import { make, size } from '../shared/elements.ts';
import { type Choice, publishedChoice, roleName } from './family.ts';
import type { Remembered } from './remembered-model.ts';

/** A target, what drafts for it, and the system that suits them. */
export interface ModelPick {
  readonly target: Choice;
  readonly partner: readonly [ModelRole, Choice] | null;
  readonly system: string;
  readonly remember: Remembered;
}

/** Bytes of memory that this computer has; null: the browser does not say. */
export type Memory = () => Promise<number | null>;

const amount = (megabytes: number): string => size(megabytes * 1e6);

const billions = (parameters: number): string =>
  parameters < 999.5e6 ? `${Math.round(parameters / 1e6)} M` : `${(parameters / 1e9).toFixed(1)} B`;

const KNOWN = {
  weights: 'we ran these weights',
  config: 'we read its config, and have not run its weights',
  name: 'we know only its name',
} as const;

/** Keys and values, scratch and the page itself come on top of the weights. */
const ROOM = 1.3;

/** The decoding system by what drafts; without a drafter the prompt itself does. */
const SYSTEM_OF: Readonly<Record<string, string>> = {
  draft: 'draft-model',
  dflash: 'dflash',
  dspark: 'dspark',
  eagle3: 'combined',
};

const choiceOf = (entry: CatalogueEntry, file = 0): Choice => publishedChoice(entry, catalogueAddress(entry, file));

/** What a load of this entry takes. */
export const pickOf = (entry: CatalogueEntry, file: number, partnerId: string | null): ModelPick => {
  const partner = entry.partners.find(({ id }) => id === partnerId);
  const drafter = partner && catalogueEntry(partner.id);
  return {
    target: choiceOf(entry, file),
    partner: partner && drafter ? [partner.role, choiceOf(drafter)] : null,
    system: SYSTEM_OF[partner?.role ?? ''] ?? 'prompt-lookup',
    remember: { kind: 'entry', id: entry.id, file, partner: drafter ? drafter.id : null },
  };
};

/** The one to suggest: the best of those whose size is known. */
const suggested = ({ partners }: CatalogueEntry): string | null =>
  partners.find(({ id }) => catalogueEntry(id)?.files.length)?.id ?? null;

/** A download to offer by itself: the first file of an entry with the best drafter. */
export const offerOf = (id: string): { readonly text: string; readonly pick: ModelPick } => {
  const entry = catalogueEntry(id);
  if (!entry) throw new Error(`the catalogue has no ${id}`);
  const partner = suggested(entry);
  const megabytes = [entry, catalogueEntry(partner ?? '')].reduce((sum, of) => sum + (of?.files[0]?.megabytes ?? 0), 0);
  return { text: `${entry.title}, ${amount(megabytes)}, ${entry.licence.name}`, pick: pickOf(entry, 0, partner) };
};

const link = (text: string, href: string): HTMLElement =>
  href === '' ? make('span', {}, text) : make('a', { href, target: '_blank', rel: 'noreferrer' }, text);

const fact = (name: string, ...value: readonly (Node | string)[]): HTMLElement =>
  make('div', {}, make('dt', {}, name), make('dd', {}, ...value));

/** One model, closed until it is chosen. */
class EntryView {
  readonly root: HTMLElement;
  readonly #entry: CatalogueEntry;
  readonly #details = make('details', { name: 'catalogue-entry' });
  readonly #files = make('select', { ariaLabel: 'File' });
  readonly #partners = make('select', { ariaLabel: 'Drafted by' });
  readonly #load = make('button', { type: 'button', className: 'primary' });
  readonly #need = make('span');
  readonly #fit = make('span', { className: 'fits' });

  /** Bytes of the device's memory; null: not known. */
  #memory: number | null = null;

  constructor(entry: CatalogueEntry, choose: (pick: ModelPick) => void) {
    this.#entry = entry;
    const { title, goodAt, licence, parameters, context, repository, files, known } = entry;
    const takes = make('span', { className: 'size' }, amount(files[0]?.megabytes ?? 0));
    this.#details.append(
      make('summary', {}, make('span', { className: 'name' }, title), takes, make('small', {}, goodAt)),
      make(
        'dl',
        { className: 'facts' },
        fact('Parameters', parameters === null ? 'not known' : billions(parameters)),
        fact('Context', context === null ? 'not known' : `${context.toLocaleString('en')} tokens`),
        fact('On the device', this.#need, ' ', this.#fit),
        fact('Licence', link(licence.name, licence.url)),
        fact('Files', link(repository, `https://huggingface.co/${repository}`)),
        fact('Tried', KNOWN[known]),
      ),
      ...(licence.terms ? [make('p', { className: 'terms' }, licence.terms)] : []),
      this.#choices(),
      this.#load,
    );
    this.#load.addEventListener('click', () => choose(this.#pick()));
    this.#details.addEventListener('toggle', () => {
      if (this.#details.open) this.#details.scrollIntoView({ block: 'nearest' });
    });
    this.#partners.addEventListener('change', () => this.#label());
    this.#files.addEventListener('change', () => {
      this.#label();
      this.#judge();
    });
    this.#label();
    this.#judge();
    this.root = make('li', {}, this.#details);
  }

  /** Whether it is shown: all are, unless the list is cut to those of which some file fits. */
  show(memory: number | null, onlyFitting: boolean): boolean {
    this.#memory = memory;
    this.#judge();
    this.root.hidden = onlyFitting && !this.#entry.files.some((_, file) => this.#fits(file));
    return !this.root.hidden;
  }

  get #file(): number {
    return Number(this.#files.value || 0);
  }

  #fits(file: number): boolean {
    return this.#memory === null || (catalogueMemory(this.#entry, file) ?? 0) * 1e6 * ROOM <= this.#memory;
  }

  /** What the chosen file takes on the device, and whether that is there. */
  #judge(): void {
    const memory = this.#memory;
    this.#need.textContent = amount(catalogueMemory(this.#entry, this.#file) ?? 0);
    const found = this.#fits(this.#file) ? '✓ fits' : `✗ more than the ${amount((memory ?? 0) / 1e6)} here`;
    this.#fit.textContent = memory === null ? '' : found;
  }

  #choices(): HTMLElement {
    const { files, partners } = this.#entry;
    for (const [i, { precision, megabytes }] of files.entries())
      this.#files.append(new Option(`${precision}, ${amount(megabytes)}`, `${i}`));
    this.#partners.append(new Option('nothing: the prompt is looked up', ''));
    for (const { role, id } of partners) {
      const [file] = catalogueEntry(id)?.files ?? [];
      const takes = file ? amount(file.megabytes) : 'size not known';
      this.#partners.append(new Option(`${catalogueEntry(id)?.title}, ${roleName(role)}, ${takes}`, id));
    }
    this.#partners.value = suggested(this.#entry) ?? '';
    const row = (name: string, select: HTMLElement): HTMLElement =>
      make('label', { className: 'pick' }, make('span', {}, name), select);
    return make(
      'div',
      { className: 'picks' },
      ...(files.length > 1 ? [row('File', this.#files)] : []),
      ...(partners.length > 0 ? [row('Drafted by', this.#partners)] : []),
    );
  }

  #pick(): ModelPick {
    return pickOf(this.#entry, this.#file, this.#partners.value || null);
  }

  #label(): void {
    const own = this.#entry.files[this.#file]?.megabytes ?? 0;
    const partner = catalogueEntry(this.#partners.value);
    const more = partner?.files[0]?.megabytes;
    const unknown = partner && more === undefined ? ' and a drafter' : '';
    this.#load.textContent = `Download ${amount(own + (more ?? 0))}${unknown}`;
    this.#load.ariaLabel = `${this.#load.textContent}: ${this.#entry.title}${partner ? ` with ${partner.title}` : ''}`;
  }
}

export class CatalogueView {
  readonly #entries: readonly EntryView[];
  readonly #onlyFitting = make('input', { type: 'checkbox' });
  readonly #about = make('p', { className: 'muted', role: 'status' });
  readonly #memory: Memory;

  constructor(place: HTMLElement, choose: (pick: ModelPick) => void, memory: Memory) {
    this.#memory = memory;
    this.#entries = CATALOGUE.filter(({ role }) => role === 'target').map((entry) => new EntryView(entry, choose));
    this.#onlyFitting.addEventListener('change', () => void this.refresh());
    place.append(
      make(
        'p',
        { className: 'muted' },
        'Nothing is fetched before you press Download. Sizes are those of the download.',
      ),
      make('label', { className: 'check' }, this.#onlyFitting, 'Only what fits this device'),
      this.#about,
      make('ul', { className: 'catalogue' }, ...this.#entries.map(({ root }) => root)),
    );
  }

  /** Reads the device's memory again, once it is known. */
  async refresh(): Promise<void> {
    const memory = await this.#memory();
    const shown = this.#entries.filter((entry) => entry.show(memory, this.#onlyFitting.checked));
    const known =
      memory === null
        ? 'This browser does not say how much memory there is'
        : `This computer has ${amount(memory / 1e6)}`;
    this.#about.textContent = `${known}. ${shown.length} of ${this.#entries.length} models are shown.`;
  }
}
