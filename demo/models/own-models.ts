// The visitor's own model for a role: by name or address, from files, or a target on another machine. The API key of
// that machine is kept in memory only, in the source that is loaded.
import type { FoundModel } from '../../src/catalogue/find-model.ts';
import { type ModelRole, OutriderError, remote } from '../../src/index.ts';
import { element, make, megabytes, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { type Choice, choiceAt, mayBeOnnx } from './family.ts';

export type Choose = (choice: Choice, role: ModelRole) => void;

const field = (id: string): HTMLInputElement => element(id, HTMLInputElement);

export class OwnModels {
  readonly #role = element('own-role', HTMLSelectElement);
  readonly #form = element('by-address', HTMLFormElement);
  readonly #found = make('div', { className: 'found', hidden: true });
  readonly #choose: Choose;
  #search = new AbortController();

  constructor(choose: Choose) {
    this.#choose = choose;
    this.#role.addEventListener('change', () => {
      if (element('fault', HTMLElement).closest('.models')) hideFault(); // it was about another role
      this.#show();
    });
    this.#form.append(this.#found);
    field('address').addEventListener('input', () => this.#forget());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#lookUp(field('address').value.trim());
    });
    element('by-server', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      const [address, model] = [field('server').value.trim(), field('server-model').value.trim()];
      const fallBack = field('server-fall-back').checked ? 'draft' : 'fail';
      const source = remote(address, model, field('server-key').value || undefined, { fallBack });
      this.#take({ label: `${model} at ${new URL(address).host}`, source });
    });
    const files = field('files');
    files.addEventListener('click', () => {
      files.value = ''; // so that the same files can be chosen again
    });
    files.addEventListener('change', () => this.take([...(files.files ?? [])]));
    this.#show();
  }

  /** Opens the form for a role. */
  open(role: ModelRole): void {
    element('own', HTMLDetailsElement).open = true;
    this.#role.value = role;
    this.#show();
    field('address').focus();
  }

  /** Takes files that belong to one model. */
  take(files: readonly File[]): void {
    const largest = files.toSorted((a, b) => b.size - a.size)[0];
    if (largest) this.#take({ label: largest.name, source: { kind: 'files', files } });
  }

  /** A name, or the address of a model's page, is looked up first; any other address is loaded. */
  async #lookUp(text: string): Promise<void> {
    this.#forget();
    hideFault();
    const search = this.#search;
    const { findModel, repositoryOf } = await import('../../src/catalogue/find-model.ts');
    if (search.signal.aborted) return;
    if (repositoryOf(text) === null) return this.#takeAddress(text);
    say('proposed', `Asking for the files of ${text} …`);
    try {
      const found = await findModel(text, { signal: search.signal });
      if (!search.signal.aborted) this.#propose(found);
    } catch (error) {
      if (!search.signal.aborted) showFault(error, this.#form);
    } finally {
      if (!search.signal.aborted) say('proposed', '');
    }
  }

  #takeAddress(text: string): void {
    if (/^https?:\/\//.test(text) && URL.canParse(text)) {
      this.#take(choiceAt(text));
      return;
    }
    const what = `“${text}” is neither an address nor the name of a model`;
    showFault(
      new OutriderError('bad-request', what, 'An address begins with https://, a name is owner/model.'),
      this.#form,
    );
  }

  /** What was found and what it would download. Nothing is fetched before the visitor presses the button. */
  #propose({ address, file, bytes, why, licence, gated, others }: FoundModel): void {
    const pick = make('select', { ariaLabel: 'File' }, new Option(`${file}, ${megabytes(bytes)}`, address));
    for (const other of others) pick.append(new Option(`${other.file}, ${megabytes(other.bytes)}`, other.address));
    const load = make('button', { type: 'button', className: 'primary' }, `Download ${megabytes(bytes)}`);
    pick.addEventListener('change', () => {
      const chosen = others.find((other) => other.address === pick.value);
      load.textContent = `Download ${megabytes(chosen?.bytes ?? bytes)}`;
    });
    load.addEventListener('click', () => {
      this.#forget();
      this.#takeAddress(pick.value);
    });
    const terms = gated
      ? 'Its page asks you to accept its terms with an account: the download may be refused.'
      : `Licence: ${licence ?? 'not stated on its page'}.`;
    this.#found.replaceChildren(
      make('p', {}, make('strong', {}, file), ` was chosen: ${why}.`),
      ...(others.length > 0 ? [pick] : []),
      make('p', { className: 'terms' }, terms),
      load,
    );
    this.#found.hidden = false;
    load.focus();
  }

  #forget(): void {
    this.#search.abort();
    this.#search = new AbortController();
    this.#found.hidden = true;
    say('proposed', '');
  }

  #take(choice: Choice): void {
    this.#choose(choice, this.#role.value as ModelRole);
  }

  #show(): void {
    const isRemote = this.#role.value === 'remote';
    element('by-server', HTMLFormElement).hidden = !isRemote;
    for (const id of ['by-address', 'drop']) element(id, HTMLElement).hidden = isRemote;
    element('onnx-choice', HTMLElement).hidden = !mayBeOnnx(this.#role.value);
  }
}
