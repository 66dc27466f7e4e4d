// Work for the time in which an engine has nothing to do. It stops as soon as something runs.

/** Milliseconds without a run or a load. */
const QUIET = 1000;

export class Idle {
  readonly #work: (still: () => boolean) => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `work` goes on for as long as `still` says so. */
  constructor(work: (still: () => boolean) => Promise<void>) {
    this.#work = work;
  }

  begin(): void {
    this.end();
    const timer = setTimeout(() => void this.#work(() => this.#timer === timer), QUIET);
    this.#timer = timer;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
