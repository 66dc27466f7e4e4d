import { describe, expect, test } from 'vitest';
import { type Part, parseMarkdown } from './markdown.ts';

const p = (...children: Part['children']): Part => ({ tag: 'p', children });
const texts = (parts: readonly (Part | string)[] | null): string =>
  (parts ?? []).map((part) => (typeof part === 'string' ? part : texts(part.children))).join('');
const tags = (parts: readonly (Part | string)[] | null): readonly string[] =>
  (parts ?? []).flatMap((part) => (typeof part === 'string' ? [] : [part.tag, ...tags(part.children)]));

test('headings, lists, emphasis and blocks of code are parts', () => {
  expect(
    parseMarkdown('# Sum\n\nAdd **both** `a < b && c`:\n\n1. one\n2. two\n\n```js\nif (a < b) return "<p>";\n```'),
  ).toEqual([
    { tag: 'h4', children: ['Sum'] },
    p('Add ', { tag: 'strong', children: ['both'] }, ' ', { tag: 'code', children: ['a < b && c'] }, ':'),
    {
      tag: 'ol',
      children: [
        { tag: 'li', children: ['one'] },
        { tag: 'li', children: ['two'] },
      ],
    },
    { tag: 'pre', language: 'js', children: [{ tag: 'code', children: ['if (a < b) return "<p>";'] }] },
  ]);
  expect(tags(parseMarkdown('| a | b |\n| - | - |\n| 1 | *2* |'))).toEqual([
    'table',
    'tr',
    'th',
    'th',
    'tr',
    'td',
    'td',
    'em',
  ]);
});

test('plain text has nothing to format', () => {
  expect(parseMarkdown('In 5 days Leo plants 25 trees.\n\nThe answer is 52.')).toBeNull();
  expect(parseMarkdown('a < b & c > d')).toBeNull();
  expect(parseMarkdown('')).toBeNull();
});

test('a program without fences keeps its lines and their indentation', () => {
  const program = '# Numbers of Fibonacci\ndef fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) * **kw';
  expect(parseMarkdown(program)).toBeNull();
  expect(parseMarkdown(`    if n < 2:\n        return n\n\n# Then\nprint(fib(3))`)).toBeNull();
  expect(tags(parseMarkdown(`Use **this**:\n\n\`\`\`py\n${program}\n\`\`\``))).toEqual(['p', 'strong', 'pre', 'code']);
  expect(tags(parseMarkdown('- one\n    more of one\n- two'))).toEqual(['ul', 'li', 'li']);
});

describe('what a model may write', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="x()">b</b>',
    '<iframe src="https://evil.org"></iframe>',
    '![picture](https://evil.org/track.png)',
    '[run](javascript:alert(1))',
    '[run](data:text/html,<script>1</script>)',
    '[run](//evil.org)',
    '<javascript:alert(1)>',
  ])('%s stays text', (hostile) => {
    const parts = parseMarkdown(`**x**\n\n${hostile}`);
    expect(texts(parts)).toContain(hostile);
    expect(tags(parts).filter((tag) => tag !== 'p' && tag !== 'strong')).toEqual([]);
  });

  test('a link keeps an address of the web alone', () => {
    expect(parseMarkdown('[a](https://example.org/?q=<1>)')).toMatchObject([
      { tag: 'p', children: [{ tag: 'a', href: 'https://example.org/?q=<1>', children: ['a'] }] },
    ]);
  });

  test('nesting without end, and a text that is too long, are shown as they are', () => {
    for (const text of ['>'.repeat(20_000), '- '.repeat(5000), '[['.repeat(5000), 'x'.repeat(200_000)]) {
      const began = performance.now();
      const parts = parseMarkdown(text);
      expect(performance.now() - began).toBeLessThan(5000);
      expect(tags(parts).length).toBeLessThan(1000);
    }
  });
});
