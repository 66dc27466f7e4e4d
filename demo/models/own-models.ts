// The visitor's own model for a role: by address, from files, or a target on another machine. The API key of that
// machine is kept in memory only, in the source that is loaded.
import { type ModelRole, remote } from '../../src/index.ts';
import { element } from '../shared/elements.ts';
import { type Choice, mayBeOnnx } from './family.ts';

export type Choose = (choice: Choice, role: ModelRole) => void;

const field = (id: string): HTMLInputElement => element(id, HTMLInputElement);

export class OwnModels {
  readonly #role = element('own-role', HTMLSelectElement);
  readonly #choose: Choose;

  constructor(choose: Choose) {
    this.#choose = choose;
    this.#role.addEventListener('change', () => this.#show());
    element('by-address', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      const url = field('address').value.trim();
      this.#take({ label: url, source: { kind: 'url', url } });
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

  /** Takes files that belong to one model. */
  take(files: readonly File[]): void {
    const largest = files.toSorted((a, b) => b.size - a.size)[0];
    if (largest) this.#take({ label: largest.name, source: { kind: 'files', files } });
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
