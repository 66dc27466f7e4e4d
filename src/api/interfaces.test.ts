// docs/guide/interfaces.md against the source: every name in a column is a name of that interface.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OBSERVED } from '../widget/attributes.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

/** Where the names of each column are declared, in the order of the columns. */
const SOURCES: readonly string[] = [
  read('engine/request.ts'),
  read('api/openai-types.ts') + read('api/openai-request.ts') + read('api/openai-tool-types.ts'),
  read('api/ai-sdk.ts') + read('api/completion.ts'),
  read('api/prompt-api.ts') + read('api/prompt-input.ts') + read('api/prompt-load.ts') + read('api/prompt-session.ts'),
  [...OBSERVED, read('widget/properties.ts'), read('widget/events.ts'), read('widget/chat-element.ts')].join('\n'),
  read('cli/commands/generate.ts') + read('cli/request-options.ts') + read('cli/messages.ts') + read('cli/program.ts'),
];

const rows = readFileSync(join(import.meta.dirname, '../../docs/guide/interfaces.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| [a-z]/.test(line))
  .map((line) => line.split('|').slice(2, -1));

it('every name of the table is one of its interface', () => {
  expect(rows.length).toBeGreaterThan(15);
  const strange = rows.flatMap((cells) =>
    cells.flatMap((cell, column) =>
      [...cell.matchAll(/`([^`]+)`/g)]
        .map(([, name = '']) => name.replace('()', ''))
        .filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(SOURCES[column] ?? ''))
        .map((name) => `column ${column + 1}: ${name}`),
    ),
  );
  expect(strange).toEqual([]);
});
