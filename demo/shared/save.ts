// Gives a text to the visitor as a file.
import { make } from './elements.ts';

/** Safari and Firefox begin to read the file after the click: https://bugs.webkit.org/show_bug.cgi?id=211234 */
const READ_MS = 60_000;

export const saveFile = (name: string, text: string, type: string): void => {
  const href = URL.createObjectURL(new Blob([text], { type }));
  make('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), READ_MS);
};
