// Shows what the visitor's own models would take before any is downloaded: a row for each model, the total, and whether
// it fits. Models that certainly fit are loaded without asking.
import type { Preflight } from '../../src/index.ts';
import { element, make, say, size } from '../shared/elements.ts';
import { capitalised } from '../shared/words.ts';
import { roleName } from './family.ts';

/** Below this share of the known memory, or this size if it is unknown, models certainly fit. */
const CERTAIN = { share: 0.25, bytes: 512e6 };

const certainlyFits = ({ fits, device, limits: { memory } }: Preflight): boolean =>
  fits && device <= (memory === null ? CERTAIN.bytes : CERTAIN.share * memory);

const row = (head: string, ...cells: readonly string[]): HTMLTableRowElement =>
  make('tr', {}, make('th', { scope: 'row' }, head), ...cells.map((text) => make('td', {}, text)));

const describeLimits = ({ limits: { memory, buffer } }: Preflight): string => {
  const known =
    memory === null ? 'The browser does not report the memory of this device' : `This computer has ${size(memory)}`;
  return `${known}. One buffer holds at most ${size(buffer)}.`;
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

  /** Shows the result and returns whether to load. It asks the visitor unless the models certainly fit. */
  async ask(found: Preflight): Promise<boolean> {
    this.#show(found);
    const certain = certainlyFits(found);
    element('fit-choice', HTMLElement).hidden = certain;
    if (certain) return true;
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
        const line = row(capitalised(roleName(role)), size(bytes), size(weights + scratch), size(cache));
        line.title = name;
        return line;
      }),
      row('Total', size(download), size(device)),
    );
    body.lastElementChild?.lastElementChild?.setAttribute('colspan', '2');
    say('fit-tokens', `Cache for ${tokens} tokens`);
  }
}
