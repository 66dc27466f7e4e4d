// SpecGuard holds a step's signals against what is usual for the draft. The bundled drafts bring that along; for a draft of
// the visitor's own it is measured here, on problems that it answers alone, and kept beside it.
import type { Session } from '../session.ts';
import { element, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';

/** From the end of the list: the page asks from its beginning. */
const PROMPTS = 8;
/** Of an answer: enough for its steps. */
const MAX_TOKENS = 160;

const range = ([least, most]: readonly [number, number]): string => `${least.toFixed(2)} to ${most.toFixed(2)}`;

export class CalibrationView {
  readonly #row = element('calibration', HTMLElement);
  readonly #button = element('calibrate', HTMLButtonElement);
  readonly #session: Session;
  #running: AbortController | null = null;

  constructor(session: Session) {
    this.#session = session;
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
      const all: readonly { question: string }[] = await (await fetch('./problems.json')).json();
      const prompts = all.slice(-PROMPTS).map(({ question }) => ({ messages: [{ role: 'user', content: question }] }));
      const { calibration, kept } = await this.#session.engine.calibrate({
        prompts,
        maxTokens: MAX_TOKENS,
        signal: abort.signal,
        onProgress: (done, answers) => say('calibration-about', `The draft answers alone: ${done} of ${answers}`),
      });
      const where = kept ? 'kept beside the draft' : 'good until the draft is loaded anew';
      const { steps, logprob } = calibration;
      say('calibration-about', `${steps} steps, log-probability ${range(logprob)}: ${where}.`);
    } catch (error) {
      const stopped = showFault(error).code === 'aborted';
      say('calibration-about', stopped ? 'Stopped: what was usual before still counts.' : '');
    } finally {
      this.#running = null;
      this.#button.textContent = 'Calibrate';
    }
  }
}
