import { expect, test } from 'vitest';
import { readRemembered } from './remembered-model.ts';

test('what the page wrote is read again, and anything else is nothing', () => {
  for (const model of [
    { kind: 'entry', id: 'qwen3-4b', file: 0, partner: 'qwen3-0.6b' },
    { kind: 'entry', id: 'phi-4-mini', file: 1, partner: null },
    { kind: 'address', url: 'https://example.org/model.gguf' },
  ])
    expect(readRemembered(JSON.stringify(model))).toEqual(model);
  for (const other of [
    null,
    '',
    'null',
    '{',
    '[]',
    '7',
    '{"kind":"address","url":"javascript:alert(1)"}',
    '{"kind":"address","url":"https://"}',
    '{"kind":"entry","id":7,"file":0,"partner":null}',
    '{"kind":"entry","id":"a","file":"0","partner":null}',
    '{"kind":"entry","id":"a","file":0}',
  ])
    expect(readRemembered(other), `${other}`).toBeNull();
});
