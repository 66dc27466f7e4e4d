// The strip under the answer: a tick for every committed token at the moment it was committed, coloured by how it came
// about. Even ticks are plain decoding; a system that commits several tokens a round shows clusters.

import type { Source } from '../src/trace.ts';
import { element } from './elements.ts';

/** Milliseconds that the strip spans at least. */
const LEAST_SPAN = 1000;

export class Strip {
  readonly #canvas = element('strip', HTMLCanvasElement);
  #ticks: { at: number; source: Source }[] = [];
  #scheduled = false;

  constructor() {
    new ResizeObserver(() => this.#schedule()).observe(this.#canvas);
    new MutationObserver(() => this.#schedule()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }

  clear(): void {
    this.#ticks = [];
    this.#schedule();
  }

  add(at: number, sources: readonly Source[]): void {
    for (const source of sources) this.#ticks.push({ at, source });
    this.#schedule();
  }

  /** At most once a frame, however fast tokens come. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  #draw(): void {
    const context = this.#canvas.getContext('2d');
    if (!context) return;
    const scale = window.devicePixelRatio;
    const width = this.#canvas.clientWidth;
    const height = this.#canvas.clientHeight;
    this.#canvas.width = Math.round(width * scale);
    this.#canvas.height = Math.round(height * scale);
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`);
    context.fillStyle = colour('line');
    context.fillRect(0, height - 1, width, 1);
    const start = this.#ticks[0]?.at ?? 0;
    const span = Math.max(LEAST_SPAN, (this.#ticks.at(-1)?.at ?? 0) - start);
    for (const { at, source } of this.#ticks) {
      context.fillStyle = colour(source);
      context.fillRect(((at - start) / span) * (width - 2), 6, 2, height - 7);
    }
  }
}
