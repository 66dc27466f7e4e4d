// The guided tour: a card that highlights the element it explains. It is not modal, so the page stays usable. Arrow
// keys go back and forth, Esc ends the tour, and the focus returns to where it was.
import { make } from '../shared/elements.ts';
import { bringIntoView } from '../shared/stillness.ts';
import { createTour, type Stop, type TourHost } from './tour-stops.ts';
import './tour.css';

const STOPPED = 'The run was stopped. Press Back or Next to go on, or end the tour.';

export class Tour {
  readonly #host: TourHost;
  readonly #stops: readonly Stop[] = createTour();
  readonly #title = make('h2', { id: 'tour-title', tabIndex: -1 });
  readonly #text = make('p', { id: 'tour-text', ariaLive: 'polite' });
  readonly #count = make('p', { className: 'muted', id: 'tour-count' });
  readonly #back = make('button', { type: 'button', textContent: '← Back' });
  readonly #next = make('button', { type: 'button', className: 'primary' });
  readonly #end = make('button', { type: 'button', className: 'quiet', textContent: 'End tour' });
  readonly #card = make('section', { className: 'tour', id: 'tour-card', role: 'dialog' });
  readonly #from = document.activeElement;
  readonly #ended: () => void;
  #at = 0;
  #going = 0;

  constructor(host: TourHost, ended: () => void) {
    this.#host = host;
    this.#ended = ended;
    this.#card.setAttribute('aria-labelledby', this.#title.id);
    this.#card.append(
      make('div', { className: 'row between' }, this.#title, this.#count),
      this.#text,
      make(
        'div',
        { className: 'row between' },
        this.#end,
        make('div', { className: 'row tight' }, this.#back, this.#next),
      ),
    );
    this.#back.addEventListener('click', () => void this.#go(this.#at - 1));
    this.#next.addEventListener('click', () => void this.#go(this.#at + 1));
    this.#end.addEventListener('click', () => this.end());
    this.#card.addEventListener('keydown', (event) => this.#key(event));
    document.body.append(this.#card);
    document.body.classList.add('touring');
    void this.#go(0);
  }

  end(): void {
    this.#going++;
    this.#point(null);
    delete document.body.dataset.reveal;
    this.#card.remove();
    document.body.classList.remove('touring');
    if (this.#from instanceof HTMLElement) this.#from.focus();
    this.#ended();
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Escape') this.end();
    else if (event.key === 'ArrowRight' && !this.#next.disabled) void this.#go(this.#at + 1);
    else if (event.key === 'ArrowLeft' && !this.#back.disabled) void this.#go(this.#at - 1);
    else return;
    event.preventDefault();
  }

  async #go(to: number): Promise<void> {
    const stop = this.#stops[to];
    if (!stop) {
      this.end();
      return;
    }
    const going = ++this.#going;
    const last = to === this.#stops.length - 1;
    this.#at = to;
    this.#title.textContent = stop.title;
    this.#count.textContent = `${to + 1} of ${this.#stops.length}`;
    this.#text.textContent = stop.waiting ?? '…';
    this.#next.textContent = last ? 'Done' : 'Next →';
    this.#back.disabled = to === 0;
    this.#next.disabled = true;
    document.body.dataset.reveal = stop.reveals ?? 'all';
    this.#title.focus({ preventScroll: true });
    this.#point(null);
    const explained = stop.explain(this.#host);
    this.#point(stop.at);
    const text = await explained;
    if (going !== this.#going) return;
    this.#text.textContent = text ?? STOPPED;
    this.#next.disabled = false;
    this.#point(stop.at);
  }

  /** Highlights one element of the page, or none. */
  #point(selector: string | null): void {
    for (const node of document.querySelectorAll('.toured')) node.classList.remove('toured');
    const node = selector && document.querySelector(selector);
    if (!node) return;
    node.classList.add('toured');
    bringIntoView(node);
  }
}
