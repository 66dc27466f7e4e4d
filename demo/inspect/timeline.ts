// The timeline of a run: a bar for every round, with committed tokens above the line and rejected drafts below it; a
// slider, and a button that plays the rounds at their recorded times or slower.

import type { Moment } from '../run/moments.ts';
import { describeRound } from '../run/round-text.ts';
import { visible } from '../run/rounds.ts';
import { make } from '../shared/elements.ts';

const SLOWER: readonly (readonly [number, string])[] = [
  [1, 'real time'],
  [4, '4× slower'],
  [16, '16× slower'],
  [64, '64× slower'],
];

/** Half a slider's thumb: distance of the first and last bar from the edges. */
const INSET = 8;
/** Share of the height above the line. */
const UPPER = 0.68;

export class Timeline {
  readonly #moved: (index: number) => void;
  readonly #canvas = make('canvas', { className: 'timeline', ariaHidden: 'true' });
  readonly #slider = make('input', { type: 'range', min: '1', value: '1', id: 'moment', ariaLabel: 'Round' });
  readonly #play = make('button', { type: 'button', id: 'play', textContent: '▶ Play' });
  readonly #speed = make('select', { id: 'play-speed', ariaLabel: 'Playback speed' });
  readonly #title = make('h3', { id: 'moment-title', className: 'moment-title' });
  readonly node: HTMLElement;
  #moments: readonly Moment[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(moved: (index: number) => void) {
    this.#moved = moved;
    for (const [times, label] of SLOWER) this.#speed.add(new Option(label, `${times}`, false, times === 4));
    const controls = make('div', { className: 'row tight' }, this.#play, this.#speed);
    this.node = make(
      'section',
      { className: 'timeline-box', ariaLabel: 'Timeline' },
      make('div', { className: 'row between' }, this.#title, controls),
      make('div', { className: 'timeline-track' }, this.#canvas, this.#slider),
    );
    this.#slider.addEventListener('input', () => {
      this.#stop();
      this.#show();
    });
    this.#play.addEventListener('click', () => this.#toggle());
    this.#canvas.addEventListener('click', ({ offsetX }) => {
      const { clientWidth } = this.#canvas;
      this.go(Math.round(((offsetX - INSET) / (clientWidth - 2 * INSET)) * (this.#moments.length - 1)));
    });
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
    new MutationObserver(() => this.#draw()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }

  /**
   * Shows another run, at the first round where the target replaced one word by another: that explains itself. Else at
   * the first round where it disagreed, or the first with drafts.
   */
  start(moments: readonly Moment[]): void {
    this.#stop();
    this.#moments = moments;
    this.#slider.max = `${moments.length}`;
    const telling = moments.findIndex(isTelling);
    const disagreed = telling < 0 ? moments.findIndex(isDisagreement) : telling;
    const drafted = moments.findIndex(({ pieces, step }) => pieces.length > 0 || step !== null);
    this.go(Math.max(0, disagreed < 0 ? drafted : disagreed));
  }

  get index(): number {
    return this.#slider.valueAsNumber - 1;
  }

  go(index: number): void {
    this.#stop();
    this.#set(index);
  }

  #set(index: number): void {
    this.#slider.valueAsNumber = index + 1;
    this.#show();
  }

  #show(): void {
    const moment = this.#moments[this.index];
    if (!moment) return;
    const last = this.#moments.at(-1)?.round ?? 0;
    this.#title.textContent = `Round ${moment.round} of ${last}`;
    const said = moment.committed.map(({ text }) => visible(text)).join('');
    this.#slider.ariaValueText = `${this.#title.textContent}: ${describeRound(moment)}. “${said.trim()}”`;
    this.#draw();
    this.#moved(this.index);
  }

  #toggle(): void {
    if (this.#timer !== undefined) this.#stop();
    else {
      if (this.index >= this.#moments.length - 1) this.#set(0);
      this.#play.textContent = '❚❚ Pause';
      this.#next();
    }
  }

  #next(): void {
    const [now, next] = [this.#moments[this.index], this.#moments[this.index + 1]];
    if (!now || !next) this.#stop();
    else
      this.#timer = setTimeout(
        () => {
          this.#set(this.index + 1);
          this.#next();
        },
        (next.at - now.at) * Number(this.#speed.value),
      );
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = '▶ Play';
  }

  #draw(): void {
    const context = this.#canvas.getContext('2d');
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (!context || width === 0) return;
    const scale = window.devicePixelRatio;
    this.#canvas.width = Math.round(width * scale);
    this.#canvas.height = Math.round(height * scale);
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`);
    const line = Math.round(height * UPPER);
    const each = (width - 2 * INSET) / Math.max(1, this.#moments.length - 1);
    const bar = Math.max(1, Math.min(14, each - 1));
    const most = Math.max(1, ...this.#moments.map(({ committed }) => committed.length));
    const worst = Math.max(1, ...this.#moments.map(rejectedOf));
    const x = (i: number): number => INSET + i * each - bar / 2;
    context.fillStyle = colour('sunken');
    context.fillRect(x(this.index) - 3, 0, bar + 6, height);
    for (const [i, moment] of this.#moments.entries()) {
      const unit = (line - 4) / most;
      for (const [j, { source }] of moment.committed.entries()) {
        context.fillStyle = colour(source);
        context.fillRect(x(i), line - (j + 1) * unit, bar, Math.max(1, unit - (unit > 3 ? 1 : 0)));
      }
      const down = (rejectedOf(moment) / worst) * (height - line - 2);
      context.strokeStyle = colour('bad');
      if (down > 0) context.strokeRect(x(i) + 0.5, line + 1.5, Math.max(0.5, bar - 1), Math.max(1, down - 1));
    }
    context.fillStyle = colour('muted');
    context.fillRect(0, line, width, 1);
    context.strokeStyle = colour('focus');
    context.lineWidth = 2;
    context.strokeRect(x(this.index) - 2, 1, bar + 4, height - 2);
  }
}

const rejectedOf = ({ pieces, path }: Moment): number => Math.max(0, pieces.length - path.length);

/** The target rejected a draft, or a step was escalated to it. */
const isDisagreement = (moment: Moment): boolean => rejectedOf(moment) > 0 || moment.route?.to === 'target';

/** The first rejected draft and the token of the target in its place are both legible: no space, no line end. */
const isTelling = ({ pieces, parents, path, committed }: Moment): boolean => {
  const own = committed.at(-1);
  const rejected = pieces.find((_, node) => node > 0 && parents[node] === path.at(-1));
  return own?.source === 'corrected' && own.text.trim() !== '' && (rejected?.trim() ?? '') !== '';
};
