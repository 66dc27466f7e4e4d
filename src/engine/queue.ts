// One device, one run at a time: whoever comes later waits in line and can see how long the line is.

export interface Ticket extends Disposable {
  /** How many are served before this one; 0 = it is its turn. */
  readonly ahead: number;
  /** Resolves when `ahead` is no longer what the caller saw, or when the signal fires. */
  moved(seen: number, signal: AbortSignal): Promise<void>;
}

export class Queue {
  readonly #line: { wake: () => void }[] = [];

  /** Disposing the ticket leaves the line. */
  join(): Ticket {
    const line = this.#line;
    const place = { wake: (): void => {} };
    line.push(place);
    return {
      get ahead() {
        return line.indexOf(place);
      },
      moved: (seen, signal) =>
        new Promise((resolve) => {
          if (signal.aborted || line.indexOf(place) !== seen) return resolve();
          place.wake = () => {
            signal.removeEventListener('abort', place.wake);
            resolve();
          };
          signal.addEventListener('abort', place.wake);
        }),
      [Symbol.dispose]() {
        const index = line.indexOf(place);
        if (index < 0) return;
        line.splice(index, 1);
        for (const { wake } of line.slice(index)) wake();
      },
    };
  }
}
