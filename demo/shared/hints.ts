// Explanations in one popover: a control with `data-hint` shows its text when it is pointed at, focused or pressed.
// Escape closes it. It stays within the page, below its control or above it, and covers nothing but other content.
import { make } from './elements.ts';

/** Distance from the control and from the edges of the window, in pixels. */
const GAP = 8;
/** The pointer may cross from the control to the popover. */
const LINGER = 150;

const box = make('div', { id: 'hint', className: 'hint', role: 'tooltip', popover: 'manual' });
let shown: Element | null = null;
let leaving: ReturnType<typeof setTimeout> | undefined;

/** Places a fixed box at an element, inside the window. */
export const placeAt = (floating: HTMLElement, { left, top, bottom }: DOMRect): void => {
  const { clientWidth, clientHeight } = document.documentElement;
  const { width, height } = floating.getBoundingClientRect();
  const below = bottom + GAP;
  const fits = below + height + GAP <= clientHeight || top - GAP - height < GAP;
  floating.style.left = `${Math.max(GAP, Math.min(left, clientWidth - width - GAP))}px`;
  floating.style.top = `${Math.max(GAP, fits ? below : top - GAP - height)}px`;
};

/** Shows text or nodes at an element. */
export const showHint = (at: Element, ...content: readonly (Node | string)[]): void => {
  clearTimeout(leaving);
  if (!box.isConnected) document.body.append(box);
  if (shown && shown !== at) shown.removeAttribute('aria-describedby');
  shown = at;
  box.replaceChildren(...content);
  box.showPopover();
  place(at);
};

/** At the first line of an element that is broken over lines. */
const place = (at: Element): void => placeAt(box, at.getClientRects()[0] ?? at.getBoundingClientRect());

export const hideHint = (): void => {
  clearTimeout(leaving);
  shown?.removeAttribute('aria-describedby');
  shown = null;
  if (box.isConnected) box.hidePopover();
};

/** The pointer has left this: its explanation is hidden soon, unless the pointer comes back to it. */
export const leaveHint = (left: Element | null): void => {
  if (!left || (left !== shown && left !== box)) return;
  clearTimeout(leaving);
  leaving = setTimeout(hideHint, LINGER);
};

/** A word with its explanation. */
export const hinted = (text: string, about: string): HTMLButtonElement => {
  const button = make('button', { type: 'button', className: 'term' }, text);
  button.dataset.hint = about;
  return button;
};

const controlOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-hint]') : null;

const explain = (control: HTMLElement): void => {
  showHint(control, control.dataset.hint ?? '');
  control.setAttribute('aria-describedby', box.id);
};

/** What is explained has been scrolled: by a key that moved on, or by the visitor, until it is out of sight. */
const follow = (scrolled: Node): void => {
  if (!shown || !scrolled.contains(shown)) return;
  const { top, bottom } = shown.getBoundingClientRect();
  if (bottom < 0 || top > document.documentElement.clientHeight) hideHint();
  else place(shown);
};

/** One set of listeners serves every such control of the page, whenever it was made. */
export const startHints = (): void => {
  document.addEventListener('pointerover', ({ target }) => {
    if (target === box) clearTimeout(leaving);
    const control = controlOf(target);
    if (control && control !== shown) explain(control);
  });
  document.addEventListener('pointerout', ({ target }) => {
    leaveHint(target === box ? box : controlOf(target));
  });
  document.addEventListener('focusin', ({ target }) => {
    const control = controlOf(target);
    if (control?.matches(':focus-visible')) explain(control);
  });
  document.addEventListener('focusout', ({ target }) => {
    if (controlOf(target)) hideHint();
  });
  document.addEventListener('click', ({ target }) => {
    const control = controlOf(target);
    if (control) explain(control);
    else if (target !== box && !(shown && target instanceof Node && shown.contains(target))) hideHint();
  });
  document.addEventListener('scroll', ({ target }) => target instanceof Node && follow(target), {
    capture: true,
    passive: true,
  });
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || !shown) return;
      const asked = shown.matches(':focus, :focus *'); // not where the pointer happens to be
      hideHint();
      if (asked) event.stopPropagation(); // Escape would also stop a run
    },
    { capture: true },
  );
};
