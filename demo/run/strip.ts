// The strip under the answer: a bar for every round at the time of its commit. Its height is the number of tokens, its
// colours are their sources. The background is darker where a run fell back to plain decoding. A second lane shows
// plain decoding of the same prompt on the same time scale.
import type { Source, TraceEvent } from '../../src/trace/index.ts';
import { element } from '../shared/elements.ts';

/** The strip spans at least this many milliseconds. */
const LEAST_SPAN = 1000;
const GAP = 6;
/** Names of the two lanes, on their right. */
const NAMES = { width: 56, of: ['system', 'plain'] } as const;

interface Bar {
  readonly at: number;
  readonly source: readonly Source[];
}

interface Lane {
  readonly bars: Bar[];
  /** From the fall-back to plain decoding until drafting starts again. */
  readonly pauses: { from: number; to: number | null }[];
}

const emptyLane = (): Lane => ({ bars: [], pauses: [] });

/** Measured from the first token, so that lanes compare decoding without reading the prompt. */
const lengthOf = ({ bars }: Lane): number => (bars.at(-1)?.at ?? 0) - (bars[0]?.at ?? 0);

export class Strip {
  readonly #canvas = element('strip', HTMLCanvasElement);
  #lanes: Lane[] = [emptyLane(), emptyLane()];
  #scheduled = false;

  constructor() {
    new ResizeObserver(() => this.#schedule()).observe(this.#canvas);
    new MutationObserver(() => this.#schedule()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }

  /** Clears this lane and the lanes below it. */
  start(lane: number): void {
    this.#lanes = [...this.#lanes.slice(0, lane), emptyLane()];
    this.#schedule();
  }

  add(to: number, event: TraceEvent): void {
    const lane = this.#lanes[to];
    if (event.type === 'fall-back' && event.to === 'plain') lane?.pauses.push({ from: event.at, to: null });
    const pause = lane?.pauses.at(-1);
    if (event.type === 'fall-back' && event.to === 'speculation' && pause) pause.to = event.at;
    if (event.type !== 'commit') return;
    lane?.bars.push({ at: event.at, source: event.source });
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
    const { clientWidth } = this.#canvas;
    const height = this.#canvas.clientHeight;
    this.#canvas.width = Math.round(clientWidth * scale);
    this.#canvas.height = Math.round(height * scale);
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`);
    const width = clientWidth - (this.#lanes.length > 1 ? NAMES.width : 0);
    context.font = '12px system-ui, sans-serif';
    const span = Math.max(LEAST_SPAN, ...this.#lanes.map(lengthOf));
    const each = height / Math.max(1, this.#lanes.length);
    const fill = (name: string, x: number, y: number, w: number, h: number): void => {
      context.fillStyle = colour(name);
      context.fillRect(x, y, w, h);
    };
    this.#lanes.forEach(({ bars, pauses }, lane) => {
      const floor = (lane + 1) * each - 1;
      const x = (at: number): number => ((at - (bars[0]?.at ?? 0)) / span) * (width - 3);
      for (const { from, to } of pauses)
        fill('sunken', x(from), floor - each + GAP, x(to ?? bars.at(-1)?.at ?? from) - x(from), each - GAP);
      const unit = (each - GAP) / Math.max(1, ...bars.map(({ source }) => source.length));
      for (const { at, source } of bars)
        for (const [i, one] of source.entries()) fill(one, x(at), floor - (i + 1) * unit, 3, unit - (unit > 3 ? 1 : 0));
      fill('line', 0, floor, width, 1);
      context.fillStyle = colour('muted');
      if (this.#lanes.length > 1) context.fillText(NAMES.of[lane] ?? '', width + 8, floor - 2);
    });
  }
}
