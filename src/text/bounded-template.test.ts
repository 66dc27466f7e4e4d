// Templates within bounds: published ones render as the library alone renders them; hostile ones end soon, with a name.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Template } from '@huggingface/jinja';
import { describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { BoundedTemplate } from './bounded-template.ts';

const SHARED = resolve(import.meta.dirname, '../../../shared/golden/templates');
const TALK = Array.from({ length: 9 }, (_, i) => ({
  role: i === 0 ? 'system' : i % 2 ? 'user' : 'assistant',
  content: `Text ${i} with <think>words</think> and\n  two lines. `,
}));
const variables = (messages: readonly unknown[] = TALK) => ({
  messages,
  add_generation_prompt: true,
  tools: null,
  documents: null,
  bos_token: '<s>',
  eos_token: '</s>',
});

const outcome = (render: () => string): string => {
  try {
    return render();
  } catch (error) {
    if (error instanceof OutriderError && error.code === 'bad-checkpoint') throw error;
    return `throws ${(error as Error).message}`;
  }
};

describe('a chat template within bounds', () => {
  it.skipIf(!existsSync(SHARED))('renders every published template as the library does, also for 400 messages', () => {
    const names = readdirSync(SHARED).filter((name) => name.endsWith('.jinja'));
    expect(names.length).toBeGreaterThan(50);
    const many = Array.from({ length: 400 }, (_, i) => ({
      role: i % 2 ? 'assistant' : 'user',
      content: 'word '.repeat(60),
    }));
    for (const name of names) {
      const source = readFileSync(resolve(SHARED, name), 'utf8');
      for (const messages of [TALK, TALK.slice(1, 2), many]) {
        const bounded = outcome(() => new BoundedTemplate(source).render(variables(messages)));
        // Names of months are in English here, and in the machine's language there.
        expect(bounded, name).toBe(outcome(() => new Template(source).render(variables(messages))));
      }
    }
  });

  const doubled = (what: string): string =>
    `{% set ns = namespace(a=${what}) %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}{{ ns.a }}`;
  const HOSTILE: Readonly<Record<string, string>> = {
    'a range': '{% for i in range(1000000000) %}{% endfor %}',
    'a range backwards': '{{ range(1000000000, 0, -1) | length }}',
    'a range of nothing': '{{ range(0, 1, 1 / 1000000000000) | length }}',
    'nested loops': `${'{% for a in range(1000) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`,
    'loops that do nothing': `${'{% for a in range(8000) %}'.repeat(3)}${'{% endfor %}'.repeat(3)}`,
    'a macro that calls itself twice':
      '{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
    'a macro that calls itself for ever': '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    'a text that doubles': doubled("'ab'"),
    'a list that doubles': doubled('[1]'),
    'a list in a list in a list': `{% set ns = namespace(a=['x']) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a | tojson }}`,
    'an object in an object': `{% set ns = namespace(a={}) %}{% for i in range(60) %}{% set ns.a = {'l': ns.a, 'r': ns.a} %}{% endfor %}{{ ns.a ~ '' }}`,
    'namespaces in namespaces': '{% set a = namespace(x=1) %}{% set b = namespace(x=[a, a]) %}{{ b | tojson }}',
    'a namespace in itself': '{% set a = namespace(x=1) %}{% set a.x = a %}{{ a }}',
    'a replacement': `{{ ${"'a'".padEnd(3, ' ')}.replace('', 'x' * 1) }}{% set t = 'aaaaaaaaaaaaaaaa' %}${'{% set t = t.replace("a", t) %}'.repeat(9)}{{ t }}`,
    'a replacement by another name': `{% set ns = namespace(t='aaaaaaaaaaaaaaaa') %}{% for i in range(9) %}{% set f = ns.t.replace %}{% set ns.t = f('a', ns.t) %}{% endfor %}{{ ns.t }}`,
    'a replacement of nothing': `{% set t = 'aaaaaaaaaaaaaaaa' %}${'{% set t = t | replace("", t) %}'.repeat(9)}{{ t }}`,
    'a long separator': `{% set t = range(8000) | join('x') %}{{ range(8000) | join(t) | length }}`,
    'a wide indent': "{{ ['a', 'b'] | join('\\n') | indent(100000000) | length }}",
    'a wide JSON': '{{ [[[1]]] | tojson(indent=100000000) | length }}',
    'arguments in a list': "{{ ['a', 'b'] | join(*['x']) }}",
    'the clock':
      "{% for i in range(8000) %}{% for j in range(8000) %}{% set x = strftime_now('%d') %}{% endfor %}{% endfor %}",
    'names that are not there': '{% for i in range(8000) %}{% for j in range(8000) %}{{ x.y }}{% endfor %}{% endfor %}',
    'a thousand spaces': `${' '.repeat(60_000)}{{ 1 }}`,
    'half a million characters': '{{ 1 }}'.repeat(80_000),
    'brackets in brackets': `{{ ${'['.repeat(100_000)} }}`,
    'parentheses in parentheses': `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`,
    'loops in loops': `${'{% for a in [1, 2] %}'.repeat(4000)}${'{% endfor %}'.repeat(4000)}`,
    'a split': `{% set t = range(8000) | join('aa') %}{% for i in range(8000) %}{% set x = t.split('a') %}{% endfor %}`,
    sorting: '{% for i in range(8000) %}{% set x = range(8000) | sort(reverse=true) %}{% endfor %}',
    exponents: '{{ 10 ** 10000 }}',
    'a slice of a slice': `{% set t = range(8000) | join(' ') %}{% for i in range(8000) %}{% set x = t[::-1] %}{% endfor %}`,
  };

  it.each(Object.entries(HOSTILE))('ends soon: %s', (_, source) => {
    const before = process.memoryUsage().heapUsed;
    const start = performance.now();
    expect(() => {
      const text = new BoundedTemplate(source).render(variables());
      throw new Error(`it rendered ${text.length} characters: ${text.slice(0, 100)}`);
    }).toThrow(/^(chat template: |Maximum call stack|Exponentiation|Missing|Unexpected|Cannot|Unknown operator)/);
    expect(performance.now() - start).toBeLessThan(3000); // 550 milliseconds on a quiet machine
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(400 * 2 ** 20);
  });
});
