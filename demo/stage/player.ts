// The clock of a recording on the page: it plays, pauses and is scrubbed, by pointer or keyboard. Where reduced motion is
// wanted it starts at the end and plays only when asked to.
import { wantsStillness } from '../shared/stillness.ts';

/** Milliseconds between two pictures, at least: each repaints much of the page, often while a model loads. */
const FRAME = 60;

/** Seconds: moments closer than this are the same. */
const SAME = 0.001;

export interface Controls {
  readonly button: HTMLButtonElement;
  readonly slider: HTMLInputElement;
  /** Seconds. */
  readonly duration: number;
  /** `playing`: it goes on from there. */
  draw(seconds: number, playing: boolean): void;
  /** What a screen reader says for a moment; default: its time. */
  says?(seconds: number): string;
}

export class Player {
  readonly #controls: Controls;
  #at = 0;
  #playing = false;

  constructor(controls: Controls) {
    this.#controls = controls;
    const { slider, button, duration } = controls;
    slider.max = `${duration}`;
    slider.addEventListener('input', () => {
      this.#playing = false;
      this.show(slider.valueAsNumber);
    });
    button.addEventListener('click', () => {
      if (this.#playing) this.pause();
      else this.play(this.#at >= duration ? 0 : this.#at);
    });
  }

  /** Plays from the beginning, or shows the end where nothing may move. */
  start(): void {
    if (wantsStillness()) this.end();
    else this.play(0);
  }

  play(from: number): void {
    this.show(from);
    if (this.#playing) return;
    this.#playing = true;
    this.#label();
    let before = performance.now();
    const tick = (now: number): void => {
      if (!this.#playing) return;
      requestAnimationFrame(tick);
      if (now - before < FRAME) return;
      // A tab in the background draws no frames: it goes on where it was.
      const at = this.#at + Math.min(0.1, (now - before) / 1000);
      before = now;
      if (at >= this.#controls.duration) this.end();
      else this.show(at);
    };
    requestAnimationFrame(tick);
  }

  pause(): void {
    this.#playing = false;
    this.#label();
  }

  /** Goes to the next of these ascending moments, or with `back` to the one before; returns its time. */
  step(moments: readonly number[], back: boolean): number {
    this.#playing = false;
    const { duration } = this.#controls;
    const next = back
      ? (moments.findLast((moment) => moment < this.#at - SAME) ?? 0)
      : (moments.find((moment) => moment > this.#at + SAME) ?? duration);
    this.show(next);
    return next;
  }

  end(): void {
    this.#playing = false;
    this.show(this.#controls.duration);
  }

  /** Shows this moment, without playing on from a paused one. */
  show(at: number): void {
    const { slider, duration } = this.#controls;
    this.#at = at;
    slider.value = `${at}`;
    slider.ariaValueText = this.#controls.says?.(at) ?? `${at.toFixed(1)} of ${duration} seconds`;
    this.#label();
    this.#controls.draw(at, this.#playing);
  }

  #label(): void {
    const { button, duration } = this.#controls;
    const label = this.#playing ? 'Pause' : this.#at >= duration ? 'Play again' : 'Play';
    if (button.textContent !== label) button.textContent = label;
  }
}
