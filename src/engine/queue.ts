// One device does one run at a time. Later runs wait in a queue and can see their place in it.
import type { Idle } from './idle.ts';

export interface Ticket extends Disposable {
  /** How many come before this one; at 0 it may run. */
  readonly ahead: number;
  /** Resolves when `ahead` has changed from `seen`, or when the signal fires. */
  moved(seen: number, signal: AbortSignal): Promise<void>;
}

export class Queue {
  readonly #queue: { wake: () => void }[] = [];
  readonly #idle: Idle | null;

  /** `idle`: begins when nothing is in the queue. */
  constructor(idle: Idle | null = null) {
    this.#idle = idle;
  }

  /** Disposing the ticket leaves the queue. */
  join(): Ticket {
    const queue = this.#queue;
    const idle = this.#idle;
    const place = { wake: (): void => {} };
    queue.push(place);
    idle?.end();
    return {
      get ahead() {
        return queue.indexOf(place);
      },
      moved: (seen, signal) =>
        new Promise((resolve) => {
          if (signal.aborted || queue.indexOf(place) !== seen) return resolve();
          place.wake = () => {
            signal.removeEventListener('abort', place.wake);
            resolve();
          };
          signal.addEventListener('abort', place.wake);
        }),
      [Symbol.dispose]() {
        const index = queue.indexOf(place);
        if (index < 0) return;
        queue.splice(index, 1);
        if (queue.length === 0) idle?.begin();
        for (const { wake } of queue.slice(index)) wake();
      },
    };
  }
}
