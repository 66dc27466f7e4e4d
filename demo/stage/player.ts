// The clock of the stage: it plays, pauses and is scrubbed, by pointer or keyboard. Where reduced motion is wanted it
// starts at the end and plays only when asked to.
import { element } from '../shared/elements.ts';
import { wantsStillness } from '../shared/stillness.ts';
import { DURATION } from './scene.ts';

export class Player {
  readonly #button = element('stage-play', HTMLButtonElement);
  readonly #slider = element('stage-at', HTMLInputElement);
  readonly #draw: (seconds: number) => void;
  #at = 0;
  #playing = false;

  constructor(draw: (seconds: number) => void) {
    this.#draw = draw;
    this.#slider.max = `${DURATION}`;
    this.#slider.addEventListener('input', () => {
      this.#playing = false;
      this.#show(this.#slider.valueAsNumber);
    });
    this.#button.addEventListener('click', () => {
      if (this.#playing) this.pause();
      else this.play(this.#at >= DURATION ? 0 : this.#at);
    });
  }

  /** Plays from the beginning, or shows the end where nothing may move. */
  start(): void {
    if (wantsStillness()) this.end();
    else this.play(0);
  }

  play(from: number): void {
    this.#show(from);
    if (this.#playing) return;
    this.#playing = true;
    this.#label();
    let before = performance.now();
    const tick = (now: number): void => {
      if (!this.#playing) return;
      // A tab in the background draws no frames: it goes on where it was.
      const at = this.#at + Math.min(0.1, (now - before) / 1000);
      before = now;
      if (at >= DURATION) this.end();
      else this.#show(at);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause(): void {
    this.#playing = false;
    this.#label();
  }

  end(): void {
    this.#playing = false;
    this.#show(DURATION);
  }

  #show(at: number): void {
    this.#at = at;
    this.#slider.value = `${at}`;
    this.#slider.ariaValueText = `${at.toFixed(1)} of ${DURATION} seconds`;
    this.#label();
    this.#draw(at);
  }

  #label(): void {
    const label = this.#playing ? 'Pause' : this.#at >= DURATION ? 'Play again' : 'Play';
    if (this.#button.textContent !== label) this.#button.textContent = label;
  }
}
