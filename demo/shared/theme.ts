// The switch between light and dark. public/theme.js sets a page's theme before the first paint, and follows the system
// until one is chosen.
import { element } from './elements.ts';
import { store } from './stored.ts';

export const startTheme = (): void => {
  const { dataset } = document.documentElement;
  element('theme', HTMLButtonElement).addEventListener('click', () => {
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    dataset.chosen = '';
    store('theme', dataset.theme);
  });
};
