// The Calibrate button. SpecGuard compares the signals of a step with what is usual for the draft model. Bundled drafts
// come with that measured; for other drafts it is measured here, on problems that the draft answers alone, and stored.
import type { Engine } from '../../src/index.ts';
import { element, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';

/** Of the validation problems: nothing is measured on those. */
const PROMPTS = 8;
/** Enough tokens for the steps of an answer. */
const MAX_TOKENS = 160;

const range = ([least, most]: readonly [number, number]): string => `${least.toFixed(2)} to ${most.toFixed(2)}`;

export class CalibrationView {
  readonly #row = element('calibration', HTMLElement);
  readonly #button = element('calibrate', HTMLButtonElement);
  readonly #engine: Engine;
  #running: AbortController | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#button.addEventListener('click', () => {
      if (this.#running) this.#running.abort();
      else void this.#calibrate();
    });
  }

  show(wanted: boolean): void {
    this.#row.hidden = !wanted;
    if (!wanted) this.#running?.abort();
  }

  async #calibrate(): Promise<void> {
    const abort = new AbortController();
    this.#running = abort;
    this.#button.textContent = 'Stop';
    hideFault();
    try {
      const all: readonly { question: string }[] = await (await fetch('./problems-validation.json')).json();
      const prompts = all
        .slice(0, PROMPTS)
        .map(({ question }) => ({ messages: [{ role: 'user', content: question }] }));
      const { calibration, kept } = await this.#engine.calibrate({
        prompts,
        maxTokens: MAX_TOKENS,
        signal: abort.signal,
        onProgress: (done, answers) => say('calibration-about', `The draft model answers alone: ${done} of ${answers}`),
      });
      const where = kept ? 'Stored with the draft model.' : 'Valid until the draft model is loaded again.';
      const { steps, logprob } = calibration;
      say('calibration-about', `Measured ${steps} steps, log-probability ${range(logprob)}. ${where}`);
    } catch (error) {
      const stopped = showFault(error).code === 'aborted';
      say('calibration-about', stopped ? 'Stopped. The earlier calibration still applies.' : '');
    } finally {
      this.#running = null;
      this.#button.textContent = 'Calibrate';
    }
  }
}
