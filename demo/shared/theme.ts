// Light and dark. index.html sets the theme before the first paint (the choice kept here, or else the system's);
// this is the switch.
import { element } from './elements.ts';

export const startTheme = (): void => {
  element('theme', HTMLButtonElement).addEventListener('click', () => {
    const { dataset } = document.documentElement;
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('theme', dataset.theme);
    } catch {
      // Storage is refused (private mode, sandboxed frame): the choice lasts as long as the page.
    }
  });
};
