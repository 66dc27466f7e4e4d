// Whether the tab is visible. Browsers slow hidden tabs down, so the queue waits while it is hidden, and a run during
// which it was hidden, however briefly, does not count.

export class TabVisibility {
  /** How often the tab was hidden. */
  hides = 0;

  /** Calls `onChange` whenever the tab is hidden or shown. */
  constructor(onChange: (hidden: boolean) => void) {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.hides++;
      onChange(document.hidden);
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
