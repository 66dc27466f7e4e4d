// A button that copies a text and says for a moment whether it could. Where the browser refuses, the text can be selected.
const SHOWN_MS = 2000;

export const copyOnClick = (button: HTMLButtonElement, text: () => string): void => {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    button.textContent = await navigator.clipboard.writeText(text()).then(
      () => 'Copied',
      () => 'Copy failed',
    );
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN_MS);
  });
};
