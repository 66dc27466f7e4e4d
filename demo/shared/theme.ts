// Light and dark. Each page sets the theme before its first paint (the choice kept here, or else the system's); this is the
// switch. Until someone uses it the page follows the system.
import { element } from './elements.ts';

const chosen = (): string | null => {
  try {
    return localStorage.getItem('theme');
  } catch {
    return null; // storage is refused (private mode, sandboxed frame)
  }
};

export const startTheme = (): void => {
  const { dataset } = document.documentElement;
  const follow = ({ matches }: MediaQueryListEvent): void => {
    if (!chosen()) dataset.theme = matches ? 'dark' : 'light';
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', follow);
  element('theme', HTMLButtonElement).addEventListener('click', () => {
    system.removeEventListener('change', follow); // where nothing can be stored the choice lasts as long as the page
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('theme', dataset.theme);
    } catch {}
  });
};
