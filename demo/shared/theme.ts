// The switch between light and dark. Each page sets its theme before the first paint: the stored choice, or else the
// system's. A page without a stored choice follows the system.
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
    system.removeEventListener('change', follow); // without storage the choice lasts as long as the page
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('theme', dataset.theme);
    } catch {}
  });
};
