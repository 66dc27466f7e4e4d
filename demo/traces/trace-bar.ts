// The trace bar: the run on the page can be saved, shared and replayed, and an opened trace takes its place. It works
// without a GPU too.
import type { Outcome } from '../run/outcome.ts';
import { element, make, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { placeAt } from '../shared/hints.ts';
import { saveFile } from '../shared/save.ts';
import { placeOf, type Recording, recordings, titleOf, traceOf } from './recordings.ts';
import { decodeTrace, encodeTrace, readTrace, type TraceFile, writeTrace } from './trace-file.ts';

/** Chat and mail programs accept addresses up to about this length. */
const LONGEST_ADDRESS = 8192;

const kilobytes = (characters: number): string => `${(characters / 1000).toFixed(1)} kB`;

/** `slower`: how many times slower than the recorded run. */
export type Play = (file: TraceFile, slower: number) => Promise<void>;

export class TraceBar {
  readonly #play: Play;
  readonly #menu = element('trace', HTMLElement);
  readonly #speed = element('trace-speed', HTMLSelectElement);
  #current: TraceFile | null = null;
  /** How many traces were opened. */
  opened = 0;

  constructor(play: Play) {
    this.#play = play;
    this.#menu.addEventListener('toggle', () => {
      this.#placeMenu();
      void this.#offerExamples();
    });
    const picker = element('trace-file', HTMLInputElement);
    element('trace-open', HTMLButtonElement).addEventListener('click', () => picker.click());
    picker.addEventListener('change', () => {
      const [file] = picker.files ?? [];
      if (file) void this.open(file);
      picker.value = ''; // the same file may be chosen again
    });
    element('trace-save', HTMLButtonElement).addEventListener('click', () => this.#save());
    element('trace-share', HTMLButtonElement).addEventListener('click', () => void this.#share());
    element('trace-play', HTMLButtonElement).addEventListener('click', () => void this.#replay());
  }

  /** Takes a finished run, which can be saved from now on. */
  take({ events }: Outcome, plain: Outcome | null, about: Omit<TraceFile, 'events' | 'plain'>): void {
    this.#setCurrent({ ...about, events, ...(plain && { plain: plain.events }) });
    say('trace-about', '');
  }

  #placeMenu(): void {
    placeAt(this.#menu, element('trace-menu', HTMLElement).getBoundingClientRect());
  }

  /** The recordings of this site. Only their list is fetched, until one is chosen. */
  async #offerExamples(): Promise<void> {
    const box = element('trace-examples-box', HTMLElement);
    if (!box.hidden) return;
    const all = await recordings().catch((): readonly Recording[] => []); // without them files can be opened still
    if (all.length === 0) return;
    const buttons = all.map((recording) => {
      const button = make('button', { type: 'button', className: 'small' }, titleOf(recording.system));
      button.addEventListener('click', () => void this.#show(() => traceOf(recording), 'the examples'));
      return button;
    });
    element('trace-examples', HTMLElement).replaceChildren(...buttons);
    box.hidden = false;
    this.#placeMenu();
  }

  async open(file: File): Promise<void> {
    await this.#show(async () => readTrace(await file.text()), file.name);
  }

  async openAddress(text: string): Promise<void> {
    await this.#show(() => decodeTrace(text), 'the link');
  }

  async #show(read: () => Promise<TraceFile>, from: string): Promise<void> {
    hideFault();
    try {
      const file = await read();
      this.opened++;
      this.#setCurrent(file);
      const where = file.device ? `, recorded on ${placeOf(file.device)}` : '';
      say('trace-about', `${file.title}, from ${from}${where}`);
      await this.#replay();
    } catch (error) {
      showFault(error);
    }
  }

  #setCurrent(file: TraceFile): void {
    this.#current = file;
    for (const id of ['trace-save', 'trace-share', 'trace-play']) element(id, HTMLButtonElement).disabled = false;
  }

  async #replay(): Promise<void> {
    if (!this.#current) return;
    this.#menu.hidePopover();
    await this.#play(this.#current, Number(this.#speed.value));
  }

  #save(): void {
    if (!this.#current) return;
    const name = `outrider-${this.#current.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.jsonl`;
    saveFile(name, writeTrace(this.#current), 'application/jsonl');
    say('trace-about', `Saved as ${name}`);
  }

  /** Uses the share sheet of the system, or the clipboard. The page's address becomes the link either way. */
  async #share(): Promise<void> {
    if (!this.#current) return;
    const url = new URL(`#race&trace=${await encodeTrace(this.#current)}`, location.href).href;
    if (url.length > LONGEST_ADDRESS) {
      const sizes = `${kilobytes(url.length)}, limit ${kilobytes(LONGEST_ADDRESS)}`;
      say('trace-about', `The run is too long for a link (${sizes}). Save it and send the file.`);
      element('trace-save', HTMLButtonElement).focus();
      return;
    }
    history.replaceState(null, '', url);
    const data = { title: `Outrider: ${this.#current.title}`, url };
    try {
      const sheet = navigator.canShare?.(data) ?? false;
      if (sheet) await navigator.share(data);
      else await navigator.clipboard.writeText(url);
      say('trace-about', `${sheet ? 'Shared' : 'Copied'} a link that holds the whole run (${kilobytes(url.length)}).`);
    } catch {
      say('trace-about', 'The link could not be copied. Copy it from the address bar of the browser.');
    }
  }
}
