// A button that copies a text and says for a moment whether it could. Where the browser refuses, the text can be selected.
const SHOWN_MS = 2000;

export const copyOnClick = (button: HTMLButtonElement, text: () => string): void => {
  const { textContent, ariaLabel } = button;
  button.addEventListener('click', async () => {
    const result = await navigator.clipboard.writeText(text()).then(
      () => 'Copied',
      () => 'Copy failed',
    );
    // Screen readers read the label instead of the text.
    Object.assign(button, { textContent: result, ariaLabel: result });
    setTimeout(() => Object.assign(button, { textContent, ariaLabel }), SHOWN_MS);
  });
};
