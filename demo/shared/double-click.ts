// Buttons that start something and then stop it.

/** The second click of a double click does not stop what the first one has started. */
export const forgiveDoubleClick = (button: HTMLButtonElement, running: () => boolean): void =>
  button.addEventListener(
    'click',
    (event) => {
      if (event.detail < 2 || !running()) return; // keys click with 0
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true }, // before the listeners of the button
  );
