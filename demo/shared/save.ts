// Gives a text to the visitor as a file.
import { make } from './elements.ts';

export const saveFile = (name: string, text: string, type: string): void => {
  const href = URL.createObjectURL(new Blob([text], { type }));
  make('a', { href, download: name }).click();
  URL.revokeObjectURL(href);
};
