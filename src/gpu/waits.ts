// Waiting for the device. Firefox looks for finished work ten times a second and at each submit, so whatever waits for
// the device there takes up to 100 ms. While something is waited for, an empty list of commands is submitted again and
// again, which makes Firefox look. Delete this file once Firefox waits for no interval (docs/log.md).

/** Of waits without work in a row, all but the first take this long only where the browser looks at intervals. */
const INTERVAL_MS = 50;
/** Between two empty submissions; browsers make four of it in a chain of timers. */
const NUDGE_MS = 1;

export class Waits {
  readonly #queue: GPUQueue;
  /** Whether finished work is looked for at intervals only. */
  #intervals = false;
  #waiting = 0;

  constructor(queue: GPUQueue) {
    this.#queue = queue;
  }

  /** Finds out how this browser waits; the device has nothing to do yet. */
  async measure(): Promise<void> {
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) {
      const began = performance.now();
      await this.#queue.onSubmittedWorkDone().catch(() => undefined); // a lost device is told by `failure`
      waits.push(performance.now() - began);
    }
    this.#intervals = Math.min(...waits.slice(1)) > INTERVAL_MS;
  }

  /** `done`, which the device resolves, as soon as the browser can know of it. */
  async for<T>(done: Promise<T>): Promise<T> {
    if (!this.#intervals) return done;
    if (this.#waiting++ === 0) this.#nudge();
    return done.finally(() => this.#waiting--);
  }

  #nudge(): void {
    setTimeout(() => {
      if (this.#waiting === 0) return;
      this.#queue.submit([]);
      this.#nudge();
    }, NUDGE_MS);
  }
}
