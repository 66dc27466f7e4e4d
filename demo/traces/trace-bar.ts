// A trace in the visitor's hands: the run that is on the page can be saved, shared and played again; one that is opened
// takes its place. Without a GPU too.
import type { Outcome } from '../run/outcome.ts';
import type { Problem } from '../run/problems.ts';
import { element, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import type { TraceFile } from './trace-file.ts';

/** Of an address: chats and mail pass this much on. */
const LONGEST_ADDRESS = 8192;

const kilobytes = (characters: number): string => `${(characters / 1000).toFixed(1)} kB`;

/** `slower`: how many times slower than it ran. */
export type Play = (file: TraceFile, slower: number) => Promise<void>;

export class TraceBar {
  readonly #play: Play;
  readonly #pace = element('trace-pace', HTMLSelectElement);
  #held: TraceFile | null = null;

  constructor(play: Play) {
    this.#play = play;
    const picker = element('trace-file', HTMLInputElement);
    element('trace-open', HTMLButtonElement).addEventListener('click', () => picker.click());
    picker.addEventListener('change', () => {
      const [file] = picker.files ?? [];
      if (file) void this.open(file);
      picker.value = ''; // the same file may be chosen again
    });
    element('trace-save', HTMLButtonElement).addEventListener('click', () => void this.#save());
    element('trace-share', HTMLButtonElement).addEventListener('click', () => void this.#share());
    element('trace-play', HTMLButtonElement).addEventListener('click', () => void this.#again());
  }

  /** What a run left: it can be saved from here on. */
  hold({ events }: Outcome, plain: Outcome | null, about: { title: string; problem: Problem; device: string }): void {
    this.#hold({ ...about, events, ...(plain && { plain: plain.events }) });
    say('trace-about', '');
  }

  async open(file: File): Promise<void> {
    await this.#show(async () => (await import('./trace-file.ts')).readTrace(await file.text()), file.name);
  }

  async openAddress(text: string): Promise<void> {
    await this.#show(async () => (await import('./trace-file.ts')).decodeTrace(text), 'the address');
  }

  async #show(read: () => Promise<TraceFile>, from: string): Promise<void> {
    hideFault();
    try {
      const file = await read();
      this.#hold(file);
      const where = file.device ? `, recorded on ${file.device}` : '';
      say('trace-about', `${file.title}, from ${from}${where}`);
      await this.#again();
    } catch (error) {
      showFault(error);
    }
  }

  #hold(file: TraceFile): void {
    this.#held = file;
    for (const id of ['trace-save', 'trace-share', 'trace-play']) element(id, HTMLButtonElement).disabled = false;
  }

  async #again(): Promise<void> {
    if (this.#held) await this.#play(this.#held, Number(this.#pace.value));
  }

  async #save(): Promise<void> {
    if (!this.#held) return;
    const { writeTrace } = await import('./trace-file.ts');
    const href = URL.createObjectURL(new Blob([writeTrace(this.#held)], { type: 'application/jsonl' }));
    const name = this.#held.title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    Object.assign(document.createElement('a'), { href, download: `outrider-${name}.jsonl` }).click();
    URL.revokeObjectURL(href);
    say('trace-about', `Saved as outrider-${name}.jsonl`);
  }

  /** By the system's own sheet where there is one, else by the clipboard; the page's address becomes the link either way. */
  async #share(): Promise<void> {
    if (!this.#held) return;
    const { encodeTrace } = await import('./trace-file.ts');
    const url = new URL(`#race&trace=${await encodeTrace(this.#held)}`, location.href).href;
    if (url.length > LONGEST_ADDRESS) {
      say('trace-about', `Too long for an address (${kilobytes(url.length)}): save it, and send the file.`);
      element('trace-save', HTMLButtonElement).focus();
      return;
    }
    history.replaceState(null, '', url);
    const data = { title: `Outrider: ${this.#held.title}`, url };
    try {
      if (navigator.canShare?.(data)) await navigator.share(data);
      else await navigator.clipboard.writeText(url);
      say('trace-about', `A link of ${kilobytes(url.length)} that holds the whole run is copied.`);
    } catch {
      say('trace-about', "The page's address is the link now: copy it from there.");
    }
  }
}
