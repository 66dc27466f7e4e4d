// Templates that are made to hang or to fill memory. Each ends soon with an error that says which bound it passed, or
// within its bounds.
import { describe, expect, it } from 'vitest';
import { OutriderError } from '../../base/errors.ts';
import { processorLimit } from '../../testing/slowness.ts';
import { compileTemplate } from './render.ts';
import { TemplateFault } from './values.ts';

const messages = Array.from({ length: 9 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `Text ${i}\n` }));

describe('a hostile chat template', () => {
  const doubled = (what: string): string =>
    `{% set ns = namespace(a=${what}) %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}{{ ns.a }}`;
  const HOSTILE: Record<string, string> = {
    'a range': '{% for i in range(1000000000) %}{% endfor %}',
    'a range backwards': '{{ range(1000000000, 0, -1) | length }}',
    'a range of nothing': '{{ range(0, 1, 1 / 1000000000000) | length }}',
    'nested loops': `${'{% for a in range(1000) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`,
    'loops that do nothing': `${'{% for a in range(8000) %}'.repeat(3)}${'{% endfor %}'.repeat(3)}`,
    'a macro that calls itself twice':
      '{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
    'a macro that calls itself for ever': '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    'a text ten thousand million times': "{{ 'x' * 10000000000 }}",
    'a list that grows':
      '{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = ns.x + [i] %}{% endfor %}',
    'a text that doubles': doubled("'ab'"),
    'a long text written again and again': "{% set t = 'a' * 1000000 %}{% for i in range(1000) %}{{ t }}{% endfor %}",
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
    'long separators of JSON':
      "{% set s = ',' * 200000 %}{{ ([[1] * 40] * 50) | tojson(separators=(s, ':')) | length }}",
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
    'a loop that calls itself for ever': '{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}',
    'a loop that calls itself twice': '{% for x in range(30) recursive %}{{ loop([1, 2]) }}{% endfor %}',
    'a tuple ten thousand million times': '{{ (1, 2) * 10000000000 }}',
    'nothing ten thousand million times': '{{ [] * 10000000000 }}',
    'lists that are added up':
      "{{ range(8000) | map('list') | sum(start=[]) }}{{ [range(8000) | list] * 8000 | sum(start=[]) }}",
    'a batch that is filled up': "{{ [1] | batch(1000000000, 'x') | list }}",
    'slices of nothing': "{{ [] | slice(1000000000, 'x') | list }}",
    'a wide center': "{{ 'a' | center(1000000000) }}",
    'a wide column': "{{ 'a'.ljust(1000000000) }}",
    'wide zeros': "{{ '1'.zfill(1000000000) }}",
    'a wide number': "{% for i in range(80000) %}{% set x = '%999999d' % 1 %}{% endfor %}",
    'wide fields': "{% for i in range(80000) %}{% set x = '{:999999}{:999999}'.format(1, 1) %}{% endfor %}",
    'texts without an end': `{{ ${"'".repeat(100_001)} }}`,
    'tags without an end': '{% '.repeat(80_000),
    'raw without an end': '{% raw %}{% '.repeat(20_000),
    digits: `{{ ${'1'.repeat(200_000)} }}`,
    'digits with underscores': `{{ ${'1_'.repeat(100_000)} }}`,
    escapes: `{{ '${'\\\\x'.repeat(60_000)}' }}`,
    'white space before tags': `${' '.repeat(200)}{%- set x = 1 -%}`.repeat(1000),
    signs: `{{ ${'-'.repeat(200_000)}1 }}`,
    nots: `{{ ${'not '.repeat(60_000)}1 }}`,
    comparisons: `{{ 1${' < 2'.repeat(60_000)} }}`,
    groups: "{% for i in range(8000) %}{% set x = range(8000) | groupby('a') %}{% endfor %}",
    'a slice of a slice': `{% set t = range(8000) | join(' ') %}{% for i in range(8000) %}{% set x = t[::-1] %}{% endfor %}`,
  };

  /** Each is one step, on a text of a million characters. */
  const LONG_STEPS = [
    ...[
      't.upper()',
      't.lower()',
      't.title()',
      't.strip()',
      't.isalpha()',
      "t.find('b')",
      "t.count('b')",
      "t.split('b')",
    ],
    ...[
      "t.replace('b', 'c')",
      "t.startswith('b')",
      't.splitlines()',
      "t.rsplit('b', 1)",
      "t.format('b')",
      "t.partition('b')",
      't.swapcase()',
      't.istitle()',
      't.splitlines(true)',
      "t.find('b', 1, -1)",
      't.center(1000001)',
      't.zfill(1000001)',
    ],
    ...[
      't | upper',
      't | title',
      't | trim',
      't | length',
      't | wordcount',
      't | tojson',
      't | e',
      't | indent',
      't | int',
      't | float',
      't | striptags',
      't | urlencode',
      't | truncate(900000)',
      't | batch(2)',
      't | slice(2)',
    ],
    ...[
      "'b' in t",
      't == u',
      't < u',
      '[t] ~ 1',
      "t ~ 'b'",
      't[0]',
      't[::2]',
      "t % 'b'",
      '[t] | tojson',
      't | reverse',
    ],
    ...[
      't | list',
      't is upper',
      "[t, u] | join('b')",
      't | first',
      "{'a': t} ~ 1",
      't * 1',
      't + u',
      "(t | safe) + 'b'",
    ],
  ];
  for (const expression of LONG_STEPS)
    HOSTILE[`a long text: ${expression}`] =
      "{% set t = 'a' * 1000000 %}{% set u = 'a' * 1000000 %}{% for i in range(20000) %}{% set x = " +
      `${expression} %}{% endfor %}`;

  /** Each changes its text in very many places. */
  const MANY_CHANGES = [
    ['é', 't | tojson(ensure_ascii=true)'],
    ['\\n', '[t] ~ 1'],
    [' ', '[t] ~ 1'],
    ['&', 't | e'],
    ['!', 't | urlencode'],
    ['a ', 't | title'],
    ['a ', 't.title()'],
    ['aA', 't.swapcase()'],
  ];
  for (const [part, expression] of MANY_CHANGES)
    HOSTILE[`many changes of '${part}': ${expression}`] =
      `{% set t = '${part}' * 300000 %}{% for i in range(20000) %}{% set x = ${expression} %}{% endfor %}`;

  it.each(Object.entries(HOSTILE))('ends soon: %s', (_, source) => {
    const before = process.memoryUsage().heapUsed;
    const start = process.cpuUsage();
    let outcome = '';
    try {
      outcome = `${compileTemplate(source)({ messages }).length} characters`;
    } catch (error) {
      if (!(error instanceof TemplateFault || (error instanceof OutriderError && error.code === 'bad-checkpoint')))
        throw error;
      outcome = error.message;
    }
    const { user, system } = process.cpuUsage(start);
    const ms = (user + system) / 1000;
    console.log(
      `${outcome}: ${ms.toFixed()} ms, ${((process.memoryUsage().heapUsed - before) / 2 ** 20).toFixed()} MiB`,
    );
    expect(ms).toBeLessThan(processorLimit(ms, 1000));
    expect(outcome.length).toBeLessThan(1100);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(256 * 2 ** 20);
  });
});
