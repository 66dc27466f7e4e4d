// What models of the visitor's own would take, before any of them is downloaded: a row a model, the sum against what
// this device has, and whether it fits. Where that is beyond doubt they are loaded at once.
import type { Preflight } from '../../src/index.ts';
import { element, megabytes, say } from '../shared/elements.ts';
import { sentence } from '../shared/faults.ts';
import { roleName } from './family.ts';

/** Of the memory that there is, or of any device that runs this page. */
const BEYOND_DOUBT = { share: 0.25, bytes: 512e6 };

const size = (bytes: number): string => (bytes < 1e9 ? megabytes(bytes) : `${(bytes / 1e9).toFixed(1)} GB`);

export const isBeyondDoubt = ({ fits, device, limits: { memory } }: Preflight): boolean =>
  fits && device <= (memory === null ? BEYOND_DOUBT.bytes : BEYOND_DOUBT.share * memory);

const cell = (text: string, tag: 'td' | 'th' = 'td'): HTMLElement =>
  Object.assign(document.createElement(tag), { textContent: text });

const row = (head: string, ...cells: readonly string[]): HTMLTableRowElement => {
  const line = document.createElement('tr');
  const first = cell(head, 'th');
  first.setAttribute('scope', 'row');
  line.append(first, ...cells.map((text) => cell(text)));
  return line;
};

const describeLimits = ({ limits: { memory, buffer } }: Preflight): string => {
  const known =
    memory === null ? 'How much memory this device has, no page is told' : `This computer has ${size(memory)}`;
  return `${known}; one buffer holds ${size(buffer)}.`;
};

export class FitView {
  readonly #panel = element('fit', HTMLElement);
  readonly #load = element('fit-load', HTMLButtonElement);
  #answer: (go: boolean) => void = () => {};

  constructor() {
    this.#load.addEventListener('click', () => this.#answer(true));
    element('fit-leave', HTMLButtonElement).addEventListener('click', () => this.#answer(false));
  }

  hide(): void {
    this.#answer(false);
    this.#panel.hidden = true;
  }

  /** Shows it, and tells whether to go on: at once where there is no doubt, else when the visitor has said so. */
  async ask(found: Preflight): Promise<boolean> {
    this.#show(found);
    const clear = isBeyondDoubt(found);
    element('fit-choice', HTMLElement).hidden = clear;
    if (clear) return true;
    this.#load.focus();
    const go = await new Promise<boolean>((resolve) => {
      this.#answer = resolve;
    });
    element('fit-choice', HTMLElement).hidden = true;
    if (!go) this.#panel.hidden = true;
    return go;
  }

  #show(found: Preflight): void {
    const { parts, fits, why, hint, device, download, tokens } = found;
    this.#answer(false);
    this.#panel.hidden = false;
    this.#panel.dataset.fits = `${fits}`;
    say('fit-title', fits ? '✓ Fits' : '✗ Does not fit');
    say('fit-why', fits ? describeLimits(found) : `Does not fit: ${why}. ${hint} ${describeLimits(found)}`);
    say('fit-load', fits ? 'Load' : 'Load anyway');
    const body = element('fit-parts', HTMLElement);
    body.replaceChildren(
      ...parts.map(({ role, name, download: bytes, weights, cache, scratch }) => {
        const line = row(
          sentence(roleName(role)).replace(/\.$/, ''),
          size(bytes),
          size(weights + scratch),
          size(cache),
        );
        line.title = name;
        return line;
      }),
      row('Together', size(download), size(device)),
    );
    body.lastElementChild?.lastElementChild?.setAttribute('colspan', '2');
    say('fit-tokens', `Cache for ${tokens} tokens`);
  }
}
