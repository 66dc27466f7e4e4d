// docs/guide/output.md as tests read it: what the page says that a script can read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '../../docs/guide/output.md'), 'utf8');

/** The names in the first column of the table with this head, sorted. */
export const namesIn = (head: string): string[] => {
  const rows =
    page
      .slice(page.indexOf(`| ${head} |`))
      .split('\n\n')[0]
      ?.split('\n')
      .slice(2) ?? [];
  return rows
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
    .sort();
};
