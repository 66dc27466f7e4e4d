// The focus stays where it was: a control that is disabled while something runs gets it back afterwards, and where a
// control has gone, what it was part of takes its place. Without this the browser moves the focus to the page's start.

let last: HTMLElement | null = null;
/** From the control outwards, while it was part of the page. */
let around: readonly HTMLElement[] = [];

const canTake = (node: HTMLElement): boolean =>
  node.isConnected && !node.matches(':disabled') && node.checkVisibility();

const restore = (): void => {
  if (!last || document.activeElement !== document.body) return;
  const waits = last.isConnected && last.checkVisibility() && !canTake(last); // disabled for now
  const place = [last, ...around].find((node) => canTake(node));
  if (waits || !place) return;
  if (place !== last && !place.hasAttribute('tabindex')) place.tabIndex = -1;
  place.focus({ preventScroll: true });
};

export const keepFocus = (): void => {
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    last = target;
    around = [];
    for (let node = target.parentElement; node && node !== document.body; node = node.parentElement)
      if (node.matches('section, main, fieldset, form, dialog')) around = [...around, node];
  });
  // A control that could keep the focus has been left on purpose.
  document.addEventListener('focusout', ({ target }) => {
    if (target === last && last && canTake(last)) last = null;
  });
  let scheduled = false;
  const look = (): void => {
    if (scheduled || !last) return;
    scheduled = true;
    // The browser takes the focus from a disabled control with the next frame.
    requestAnimationFrame(() => {
      scheduled = false;
      restore();
    });
  };
  new MutationObserver(look).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled', 'hidden'],
  });
};
