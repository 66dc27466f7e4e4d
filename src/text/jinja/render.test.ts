import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { LongInteger } from './numbers.ts';
import { compileTemplate } from './render.ts';

interface Conversation {
  readonly messages: readonly unknown[];
  readonly tools?: readonly unknown[];
  readonly add_generation_prompt?: boolean;
}
interface Expected {
  readonly text?: string;
  readonly raises?: string;
}

const SPECIAL = { bos_token: '<s>', eos_token: '</s>', pad_token: '</s>', unk_token: '<unk>' };
const folder = 'golden/templates';
const { conversations, templates } = (
  noShared ? { conversations: {}, templates: {} } : JSON.parse(readFileSync(shared(folder, 'renders.json'), 'utf8'))
) as {
  conversations: Record<string, Conversation>;
  templates: Record<string, { clock?: boolean; renders: Record<string, Expected> }>;
};

/** The day on which the references were made. */
const day = new Date(2026, 10, 22, 12);

describe.skipIf(noShared)('published templates, against transformers', () => {
  it('covers every template of the folder', () => {
    const files = readdirSync(shared(folder)).filter((name) => name.endsWith('.jinja'));
    expect(Object.keys(templates).sort()).toEqual(files.map((name) => name.replace(/\.jinja$/, '')).sort());
    expect(files.length).toBeGreaterThanOrEqual(70);
  });

  it.each(Object.entries(templates))('%s', (name, { clock, renders }) => {
    const render = compileTemplate(
      readFileSync(shared(folder, `${name}.jinja`), 'utf8'),
      clock ? () => day : undefined,
    );
    for (const [id, { text, raises }] of Object.entries(renders)) {
      const { messages, tools = null, add_generation_prompt = true } = conversations[id] as Conversation;
      const rendered = (): string => render({ messages, tools, documents: null, add_generation_prompt, ...SPECIAL });
      if (raises === undefined) expect(rendered(), id).toBe(text);
      else expect(rendered, id).toThrow(raises);
    }
  });
});

const render = (source: string, variables: Readonly<Record<string, unknown>> = {}): string =>
  compileTemplate(source)(variables);

it('prints whole numbers beyond 2**53 as they are written', () => {
  const digits = '9223372036854775807';
  const variables = { n: new LongInteger(digits), m: new LongInteger(digits) };
  const source =
    '{{ n }} {{ [n] | tojson }} {{ {"a": n} }} {{ n is integer }} {{ n == m }} {{ n in [m] }} {{ n ~ "" }}';
  expect(render(source, variables)).toBe(`${digits} [${digits}] {'a': ${digits}} True True True ${digits}`);
});

describe('Python’s meaning', () => {
  it.each([
    [
      '{{ none }} {{ true }} {{ 1.0 }} {{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 1 / 10000000 }}',
      'None True 1.0 3.5 -4 2 1e-07',
    ],
    ["{{ ['a', 1, none, {'k': (1, 2)}, \"it's\"] }}", "['a', 1, None, {'k': (1, 2)}, \"it's\"]"],
    ["{{ '\\n x \\n'.lstrip('\\n') }}|{{ 'xxaxx'.strip('x') }}|{{ '  a '.rstrip() }}", ' x \n|a|  a'],
    [
      "{{ 'a,b,c'.split(',', 1) }} {{ ' a  b '.split() }} {{ 'a.b.c'.rsplit('.', 1) }}",
      "['a', 'b,c'] ['a', 'b'] ['a.b', 'c']",
    ],
    ["{{ '😀ab' | length }} {{ '😀ab'[0] }} {{ 'abc'[::-1] }} {{ [1, 2, 3][-2:] }}", '3 😀 cba [2, 3]'],
    ['{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 9 %}{% endfor %}{{ x }}', '111'],
    [
      '{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}x{% break %}{% endif %}{{ i }}{% endfor %}',
      '02x',
    ],
    ["{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{{ loop.cycle('-', '+') }}{% endfor %}", 'a2-b1+'],
    ['{% macro m(a, b=2) %}{{ a }}{{ b }}{{ caller() }}{% endmacro %}{% call m(1) %}in{% endcall %}', '12in'],
    [
      "{{ {'a': 1.5, 'é': [true, none]} | tojson }} {{ {} | tojson(indent=2) }} {{ [1] | tojson(indent=1) }}",
      '{"a": 1.5, "é": [true, null]} {} [\n 1\n]',
    ],
    [
      "{{ 'é' | tojson(ensure_ascii=true) }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true, separators=(',', ':')) }}",
      '"\\u00e9" {"a":2,"b":1}',
    ],
    [
      "{{ '%s of %d, %.2f' % ('a', 3, 1) }} {{ '{} {x}'.format(1, x='y') }} {{ '%03d' | format(7) }}",
      'a of 3, 1.00 1 y 007',
    ],
    ["{{ missing }}|{{ missing | default('d') }}|{{ none | default('d') }}|{{ '' | default('d', true) }}", '|d|None|d'],
    ["{{ tool.items }}|{{ tool['items'] }}", '<function>|kept'],
    [
      "{{ [{'a': 1}, {'a': 2}] | selectattr('a', 'gt', 1) | map(attribute='a') | list }} {{ [3, 1] | sort | first }}",
      '[2] 1',
    ],
    [
      "{{ 'hello wORLD-x' | title }} {{ 'aBC' | capitalize }} {{ 'a' in 'cat' }} {{ 1 in [true] }}",
      'Hello World-X Abc True True',
    ],
    [
      '{% set n = namespace(a=1, b=none) %}{% for i in [1, 2] %}{% set n.a = n.a + i %}{% endfor %}{{ n.a }}{{ n.b }}',
      '4None',
    ],
    ["{{ x | e }}{{ '<b>' | safe + '<i>' }}{{ ('<b>' | safe) ~ '<i>' }}", '&lt;<b>&lt;i&gt;<b><i>'],
  ])('%s', (source, expected) => {
    expect(render(source, { tool: { items: 'kept' }, x: '<' })).toBe(expected);
  });

  it.each([
    ["{{ 'a' + 1 }}", 'TypeError: can only concatenate str (not "int") to str'],
    ['{{ missing.x }}', "UndefinedError: 'missing' is undefined"],
    ["{{ {'a': 1}.b.c }}", "UndefinedError: 'dict object' has no attribute 'b'"],
    ['{{ [][0].x }}', 'UndefinedError: list object has no element 0'],
    ['{{ none.x.y }}', "UndefinedError: 'None' has no attribute 'x'"],
    ['{{ none[0].x }}', 'UndefinedError: None has no element 0'],
    ['{% for x in none %}{% endfor %}', "TypeError: 'NoneType' object is not iterable"],
    ['{{ [].append(1) }}', "SecurityError: access to attribute 'append' of 'list' object is unsafe."],
    ["{{ raise_exception('No system role') }}", 'TemplateError: No system role'],
    ["{{ 'x' | from_yaml }}", "No filter named 'from_yaml' found."],
    ["{{ 'x' < 1 }}", "TypeError: '<' not supported between instances of 'str' and 'int'"],
    ['{% if %}', 'TemplateSyntaxError: '],
    ['{{ (1).__class__ }}{{ x.constructor.y }}', "UndefinedError: 'x' is undefined"],
  ])('%s raises', (source, message) => {
    expect(() => render(source)).toThrow(message);
  });
});
