// Each rule for writing finds its fault in a bad sample, and nothing in the good one next to it.
import { expect, it } from 'vitest';
import { intervals } from '../src/base/statistics.ts';
import {
  anchorsOf,
  brokenExamples,
  deadLinks,
  documentShape,
  doubleEntries,
  figuresOutsideTables,
  retiredWords,
} from './prose.mjs';
import { withTables } from './tables.mjs';

it.each([
  ['README.md', 'Nobody reads it.', 'It is never read.'],
  ['src/decode/core/x.ts', '// drawn from its law', '// drawn from its distribution'],
  ['src/model/x.ts', 'const gaugeOf = 1;', 'const statisticsOf = 1;'],
  ['src/gpu/x.ts', 'const turn = 1;', 'const submission = 1;'],
  ['src/gpu/x.ts', 'class HeldToken {}', 'class DeviceToken {}'],
  ['src/gpu/x.ts', 'const turn = 1;', 'const inTurn = 1;'],
  ['src/decode/core/x.ts', 'class Memory {}', 'class PrefixCache {}'],
  ['src/weights/x.ts', 'const bandRows = 1;', 'const blockRows = 1;'],
  ['src/kernels/cache/x.ts', 'const cutOf = 1;', 'const chunkBoundaryOf = 1;'],
  ['src/model/load/x.ts', 'const placement = 1;', 'const layout = 1;'],
  ['src/decode/core/x.ts', 'const lanes = 1;', 'const sequences = 1;'],
  ['src/model/families/x.ts', 'const slots = 1;', 'const specs = 1;'],
  ['shaders/x/x.wgsl', 'fn settle() {}', 'fn argmax() {}'],
  ['docs/x.md', 'Three on end, and what is left.', 'Three in a row, and the rest.'],
])('retired words in %s: %s', (path, bad, good) => {
  expect(retiredWords(path, bad)).not.toEqual([]);
  expect(retiredWords(path, good)).toEqual([]);
});

it('words keep their ordinary meaning elsewhere', () => {
  expect(retiredWords('demo/chat/x.ts', 'const turn = { role: "user" };')).toEqual([]);
  expect(retiredWords('src/kernels/x.ts', 'const lanes = 32; const keyboard = 1;')).toEqual([]);
  expect(retiredWords('src/model/cache/x.ts', 'const slot = 3;')).toEqual([]);
  expect(retiredWords('docs/log/x.md', 'The test `ensemble-law` took 20 s.')).toEqual([]);
  expect(retiredWords('docs/x.md', 'The test `ensemble-law` took 20 s.')).toHaveLength(1);
});

it('a word has one entry in the glossary', () => {
  const entries = (word: string) => `| word | meaning |\n| --- | --- |\n| **draft** | a |\n| **${word}** | b |`;
  expect(doubleEntries(entries('Draft'))).toHaveLength(1);
  expect(doubleEntries(entries('drafter'))).toEqual([]);
});

it('documents are short, and so are their lines', () => {
  const [long, lines] = ['word '.repeat(26), 'line\n'.repeat(151)];
  expect(documentShape('docs/x.md', long)).toHaveLength(1);
  expect(documentShape('docs/x.md', lines)).toHaveLength(1);
  expect(documentShape('docs/log/x.md', lines)).toEqual([]);
  expect(documentShape('docs/x.md', `| ${long} |\n\`\`\`\n${long}\n\`\`\`\n[text](${'x'.repeat(130)})`)).toEqual([]);
});

it('links, anchors and paths lead somewhere', () => {
  const files: Record<string, string> = { 'docs/a.md': '# A `b`: c\n\n# A b c', 'src/x.ts': '' };
  const read = (path: string) => files[path] ?? null;
  const check = (text: string) => deadLinks('docs/y.md', text, read);
  expect(check('[a](b.md)')).toHaveLength(1);
  expect(check('[a](a.md#z)')).toHaveLength(1);
  expect(check('[a](#z)')).toHaveLength(1);
  expect(check('<img src="b.png" />')).toHaveLength(1);
  expect(check('see `src/y.ts`')).toHaveLength(1);
  expect(check('[a](a.md#a-b-c) [b](a.md#a-b-c-1) [c](https://x.example/) `src/x.ts` `src/NAME.ts` `[d](e)`')).toEqual(
    [],
  );
  expect([...anchorsOf('## Does it *pay*? 2 × 3')]).toEqual(['does-it-pay-2--3']);
});

it.each([
  'It is 1.79 times as fast.',
  'It is 2 × plain.',
  'It takes 38 % of the tokens.',
  'It writes 101 tokens/s.',
  'It needs .61 of them.',
])('a figure outside a generated table: %s', (bad) => {
  expect(figuresOutsideTables('README.md', bad)).toHaveLength(1);
  expect(figuresOutsideTables('README.md', `<!-- table: x -->\n${bad}\n<!-- /table -->`)).toEqual([]);
  expect(figuresOutsideTables('README.md', `\`\`\`\n${bad}\n\`\`\``)).toEqual([]);
});

it('versions, sizes and knobs are no figures of a system', () => {
  const text =
    'Node 20.19, Vue 3.5, [2211.17192](https://arxiv.org/abs/2211.17192), 2.8 M parameters, 16.8 MB, `tau=0.03`';
  expect(figuresOutsideTables('README.md', text)).toEqual([]);
});

it('a table that differs from its results is made anew', () => {
  const runs = { x: { file: 'x.json', date: '2026-01-01', command: 'run', machine: 'a machine' } };
  const results = { x: { columns: ['a'], rows: [['1']] } };
  const facts = { folder: '.', systems: [], groups: {}, runs, results, intervals };
  const stale = '<!-- table: x -->\n| a |\n| --- |\n| 2 |\n<!-- /table -->';
  const fresh = withTables(stale, facts);
  expect(fresh).not.toBe(stale);
  expect(fresh).toContain('| 1 |');
  expect(withTables(fresh, facts)).toBe(fresh);
  expect(() => withTables(stale.replace(': x', ': y'), facts)).toThrow('no such table: y');
});

it('examples that do not parse', () => {
  const example = (code: string) => `Text.\n\`\`\`ts\n${code}\n\`\`\`\n`;
  expect(
    brokenExamples('docs/x.md', example('export default { id: `a`, // a comment that swallows the rest };')),
  ).toHaveLength(1);
  expect(brokenExamples('docs/x.md', example('export default { id: `a` }; // a comment'))).toEqual([]);
  expect(brokenExamples('docs/x.md', example('for await (const event of run()) …'))).toEqual([]);
});
