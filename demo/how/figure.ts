// A figure of the page: a drawing that a recording fills, a sentence about the moment it shows, and the controls. It
// loads when it comes near or the page has been idle, plays when it is seen, and pauses when it is not.

import { make } from '../shared/elements.ts';
import { wantsStillness } from '../shared/stillness.ts';
import { Player } from '../stage/player.ts';

export interface Drawing {
  readonly node: HTMLElement;
  /** Below the controls: what to see in it, or its result. */
  readonly about: string;
  /** Seconds from one moment to the next. */
  readonly step: number;
  /** The last moment, counted from 0. */
  readonly last: number;
  draw(moment: number): void;
  /** The moment in words. */
  says(moment: number): string;
}

/** Milliseconds after which a figure loads, wherever it is. */
const IDLE = 2000;

const FAILED = 'This figure could not be loaded. Check the connection, then reload the page.';

class Figure {
  readonly #node: HTMLElement;
  #player: Player | null = null;
  #seen = false;

  constructor(node: HTMLElement) {
    this.#node = node;
  }

  async load(drawing: (end: () => void) => Promise<Drawing>): Promise<void> {
    try {
      this.#place(await drawing(() => this.#player?.end()));
    } catch {
      this.#node.replaceChildren(make('p', { role: 'alert' }, FAILED));
    }
  }

  /** The first time it plays from its beginning; from then on the reader decides. */
  seen(visible: boolean): void {
    if (!this.#player) return;
    if (!visible && this.#seen) this.#player.pause();
    if (!visible || this.#seen) return;
    this.#seen = true;
    this.#player.start();
  }

  #place({ node, about, step, last, draw, says }: Drawing): void {
    const button = make('button', { type: 'button' }, 'Play');
    const slider = make('input', { type: 'range', min: '0', step: `${step}`, value: '0', ariaLabel: 'Moment' });
    const now = make('p', { className: 'now' });
    const momentAt = (seconds: number): number => Math.min(last, Math.floor(seconds / step + 1e-6));
    this.#player = new Player({
      ...{ button, slider, duration: last * step },
      draw: (seconds) => {
        const moment = momentAt(seconds);
        draw(moment);
        const text = says(moment);
        if (now.textContent !== text) now.textContent = text;
      },
      says: (seconds) => says(momentAt(seconds)),
    });
    const controls = make('div', { className: 'figure-player' }, button, slider);
    this.#node.replaceChildren(node, now, controls, make('figcaption', { className: 'muted' }, about));
    if (wantsStillness()) this.#player.end();
    else this.#player.show(last * step); // until it is seen and plays: its first moment is an empty frame
  }
}

/** Fills the figure with this id. A drawing can ask for the end of its recording. */
export const startFigure = (id: string, drawing: (end: () => void) => Promise<Drawing>): void => {
  const node = document.getElementById(id) as HTMLElement;
  const figure = new Figure(node);
  const start = async (): Promise<void> => {
    clearTimeout(idle);
    near.disconnect();
    await figure.load(drawing);
    const seen = new IntersectionObserver(([entry]) => figure.seen(entry?.isIntersecting ?? false), { threshold: 0.4 });
    seen.observe(node);
  };
  const idle = setTimeout(start, IDLE);
  const near = new IntersectionObserver(([entry]) => void (entry?.isIntersecting && start()), {
    rootMargin: '50% 0px',
  });
  near.observe(node);
};
