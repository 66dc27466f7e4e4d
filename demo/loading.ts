// The loading bar. Download, upload and compilation overlap; the bar is their mean and never moves backwards, and the
// line names the first of them that is not finished.
import type { LoadProgress } from '../src/index.ts';
import { element, megabytes, say } from './elements.ts';

const PHASES = ['download', 'upload', 'compile'] as const;
const WORDS = { download: 'Downloading', upload: 'To the GPU', compile: 'Compiling shaders' } as const;

export class LoadingView {
  readonly #bar = element('bar', HTMLProgressElement);
  readonly #cancel = element('cancel', HTMLButtonElement);
  #latest = new Map<LoadProgress['phase'], LoadProgress>();

  /** Shows a load until `finish`; the signal fires when the visitor cancels. */
  start(label: string): AbortSignal {
    const abort = new AbortController();
    this.#latest = new Map();
    this.#bar.value = 0;
    this.#cancel.disabled = false;
    this.#cancel.onclick = () => abort.abort();
    say('phase', `Opening ${label}`);
    return abort.signal;
  }

  show(progress: LoadProgress): void {
    this.#latest.set(progress.phase, progress);
    const done = (phase: LoadProgress['phase']): number => {
      const { loaded = 0, total = 0 } = this.#latest.get(phase) ?? {};
      return total > 0 ? loaded / total : 0;
    };
    const mean = PHASES.reduce((sum, phase) => sum + done(phase), 0) / PHASES.length;
    this.#bar.value = Math.max(this.#bar.value, mean);
    const current = PHASES.find((phase) => this.#latest.has(phase) && done(phase) < 1);
    if (current) say('phase', this.#describe(current));
  }

  finish(text: string, complete: boolean): void {
    this.#bar.value = complete ? 1 : 0;
    this.#cancel.disabled = true;
    say('phase', text);
  }

  #describe(phase: LoadProgress['phase']): string {
    const { loaded = 0, total = 0 } = this.#latest.get(phase) ?? {};
    const amount = phase === 'compile' ? `${loaded} of ${total}` : `${megabytes(loaded)} of ${megabytes(total)}`;
    return `${WORDS[phase]}: ${amount}`;
  }
}
