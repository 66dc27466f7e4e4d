// The guide's reference against the source: every attribute, property, event, variable, part and slot is in a table,
// and nothing else is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OBSERVED } from './attributes.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
const guide = read('../../docs/guide/widget-reference.md');
const view = read('view.ts') + read('answer-view.ts');

/** What stands as code in the first column of the table below a heading, and in the second where that is asked for. */
const listed = (heading: string, columns = 1): readonly string[] => {
  const [, section = ''] = guide.split(`### ${heading}\n`);
  const rows = (section.split('\n#')[0] ?? '').split('\n').filter((line) => /^\| `/.test(line));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, columns + 1)
      .join('|'),
  );
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)).sort();
};

const unique = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort();
const found = (text: string, pattern: RegExp): readonly string[] =>
  unique([...text.matchAll(pattern)].flatMap(([, names = '']) => names.split(' ')));

it.each([
  ['Attributes', OBSERVED],
  ['Events', found(read('events.ts'), /^ {2}'([\w-]+)': CustomEvent/gm)],
  ['Variables', found(read('style.css'), /var\((--outrider-[\w-]+)/g)],
  ['Slots', found(view, /make\('slot', \{ name: '([\w-]+)'/g)],
  [
    'Properties without an attribute',
    [
      ...found(read('properties.ts'), /prototype, \{ ([\w:, ]+) \}\)/g).filter((name) => name.endsWith(':')),
      ...found(read('properties.ts') + read('chat-element.ts'), /^ {2}get (\w+)/gm),
    ].map((name) => name.replace(':', '')),
  ],
  [
    'Methods',
    found(read('chat-element.ts'), /^ {2}(?:async )?((?:load|send|stop|reset|storedModels|deleteStored)\()/gm).map(
      (name) => `${name})`,
    ),
  ],
])('%s', (heading, names) => {
  expect(names.length).toBeGreaterThan(2);
  expect(listed(heading).map((name) => name.replace(/\((text|name)\)/, '()'))).toEqual(unique(names));
});

it('Parts', () => {
  const parts = found(view, /part: [`']([\w -]+)[`'$]/g).filter((part) => part !== '');
  const running = found(view, /'part', this\.#running \? '([\w ]+)'/g);
  expect(parts.length).toBeGreaterThan(20);
  expect(unique(listed('Parts', 2))).toEqual(unique([...parts, ...running]));
});
