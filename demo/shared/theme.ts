// The switch between light and dark. Each page sets its theme before the first paint: the stored choice, or else the
// system's. A page without a stored choice follows the system.
import { element } from './elements.ts';
import { store, stored } from './stored.ts';

export const startTheme = (): void => {
  const { dataset } = document.documentElement;
  const follow = ({ matches }: MediaQueryListEvent): void => {
    if (!stored('theme')) dataset.theme = matches ? 'dark' : 'light';
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', follow);
  element('theme', HTMLButtonElement).addEventListener('click', () => {
    system.removeEventListener('change', follow); // without storage the choice lasts as long as the page
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    store('theme', dataset.theme);
  });
};
