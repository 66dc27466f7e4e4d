// docs/guide/output.md against the source: it names every event and every metric, and no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FIELDS } from './check-events.ts';
import { METRICS } from './metrics/metrics.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/guide/output.md'), 'utf8');

/** The names in the first column of the table with this head. */
const namesIn = (head: string): string[] => {
  const rows =
    page
      .slice(page.indexOf(`| ${head} |`))
      .split('\n\n')[0]
      ?.split('\n')
      .slice(2) ?? [];
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
};

it('names every event', () => expect(namesIn('event').sort()).toEqual(Object.keys(FIELDS).sort()));
it('names every metric', () => expect(namesIn('metric').sort()).toEqual(Object.keys(METRICS).sort()));
