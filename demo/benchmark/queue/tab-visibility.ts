// Browsers slow hidden tabs down, so nothing is measured in one: the queue waits, and a run during which the tab was
// hidden, for however short a time, does not count.

export class Attention {
  /** How often the tab was hidden. */
  hides = 0;
  readonly #told: (hidden: boolean) => void;

  constructor(told: (hidden: boolean) => void) {
    this.#told = told;
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.hides++;
      this.#told(document.hidden);
    });
  }

  async visible(signal: AbortSignal): Promise<void> {
    while (document.hidden && !signal.aborted)
      await new Promise<void>((resolve) => {
        document.addEventListener('visibilitychange', () => resolve(), { once: true });
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
  }
}
