// The models that are stored on this device, with their sizes and a button that deletes each.
import type { Engine, StoredModel } from '../../src/index.ts';
import { element, make, megabytes, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';

export class StoredView {
  readonly #engine: Engine;
  readonly #panel = element('stored', HTMLDetailsElement);

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#panel.addEventListener('toggle', () => void this.refresh());
  }

  /** Reads the list again, if it is open. */
  async refresh(): Promise<void> {
    if (!this.#panel.open) return;
    try {
      this.#show(await this.#engine.storedModels());
    } catch (error) {
      showFault(error);
    }
  }

  #show(models: readonly StoredModel[]): void {
    const all = models.reduce((sum, { bytes }) => sum + bytes, 0);
    const what = models.length === 1 ? 'One model' : `${models.length} models`;
    say('stored-total', models.length === 0 ? 'No model is stored.' : `${what}, ${megabytes(all)}`);
    element('stored-list', HTMLElement).replaceChildren(...models.map((model) => this.#row(model)));
  }

  #row({ name, address, bytes, complete }: StoredModel): HTMLElement {
    const remove = make('button', { type: 'button', className: 'quiet', textContent: 'Delete' });
    remove.setAttribute('aria-label', `Delete ${name}`);
    remove.addEventListener('click', () => void this.#delete(name, remove));
    return make(
      'tr',
      {},
      make('th', { scope: 'row', title: address }, name),
      make('td', {}, `${megabytes(bytes)}${complete ? '' : ', incomplete'}`),
      make('td', {}, remove),
    );
  }

  async #delete(name: string, button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    hideFault();
    try {
      await this.#engine.deleteStored(name);
    } catch (error) {
      showFault(error); // another tab may have deleted it
    }
    await this.refresh();
  }
}
