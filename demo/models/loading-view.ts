// The loading bar. Download, upload and compilation overlap: the bar shows their mean over all models and never moves
// back, and the line names the first phase that is not finished. Screen readers are told each quarter, not every percent.
import type { LoadProgress, ModelRole } from '../../src/index.ts';
import { element, megabytes, say } from '../shared/elements.ts';
import { capitalised } from '../shared/words.ts';
import { roleName } from './family.ts';

const PHASES = ['download', 'upload', 'compile'] as const;
const WORDS = { download: 'downloading', upload: 'uploading to the GPU', compile: 'compiling shaders' } as const;

export class LoadingView {
  readonly #bar = element('bar', HTMLProgressElement);
  readonly #cancel = element('cancel', HTMLButtonElement);
  #roles: readonly ModelRole[] = [];
  #latest = new Map<string, LoadProgress>();

  /** Shows a load of these roles until `finish`; the signal fires when the visitor cancels. */
  start(label: string, roles: readonly ModelRole[]): AbortSignal {
    const abort = new AbortController();
    this.#roles = roles;
    this.#latest = new Map();
    this.#bar.value = 0;
    this.#cancel.disabled = false;
    this.#cancel.onclick = () => abort.abort();
    say('phase', `Opening ${label}`);
    say('load-status', `Opening ${label}`);
    return abort.signal;
  }

  show(progress: LoadProgress): void {
    this.#latest.set(`${progress.role} ${progress.phase}`, progress);
    const steps = this.#roles.flatMap((role) => PHASES.map((phase) => `${role} ${phase}`));
    const done = (step: string): number => {
      const { loaded = 0, total = 0 } = this.#latest.get(step) ?? {};
      return total > 0 ? loaded / total : 0;
    };
    const mean = steps.reduce((sum, step) => sum + done(step), 0) / steps.length;
    this.#bar.value = Math.max(this.#bar.value, mean);
    const quarters = Math.floor(4 * this.#bar.value);
    if (quarters > 0 && quarters < 4) say('load-status', `${25 * quarters} % loaded`);
    const current = steps.find((step) => this.#latest.has(step) && done(step) < 1);
    if (!current) return;
    const { phase, amount } = describe(this.#latest.get(current) as LoadProgress);
    say('phase', `${phase}: ${amount}`);
    say('stage-phase', `${phase}:`);
    say('stage-amount', amount);
  }

  finish(text: string, complete: boolean): void {
    this.#bar.value = complete ? 1 : 0;
    this.#cancel.disabled = true;
    say('phase', text);
    say('load-status', text);
    say('stage-phase', complete ? 'The models are loaded.' : '');
    say('stage-amount', '');
  }
}

const describe = ({ role, phase, loaded, total }: LoadProgress) => ({
  phase: `${capitalised(roleName(role))}, ${WORDS[phase]}`,
  amount: phase === 'compile' ? `${loaded} of ${total}` : `${megabytes(loaded)} of ${megabytes(total)}`,
});
