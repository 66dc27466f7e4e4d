// A chat template comes from a stranger, and is a program. Damaged ones are read and rendered: the outcome is a text or
// an error that says what is wrong, soon.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { pick, type Random, random } from '../testing/fuzz/random.ts';
import { compileTemplate } from './jinja/render.ts';
import { TemplateFault } from './jinja/values.ts';

const SEED = 20_261_128;
const INPUTS = inputs(1_500);

const bundled = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../public/models/target/tokenizer_config.json'), 'utf8'),
).chat_template as string;
const TEMPLATES = [
  bundled,
  "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' + m['content'] | trim }}{% if loop.last %}{{ eos_token }}{% endif %}" +
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
  "{%- set ns = namespace(system='', n=0) -%}{%- for m in messages if m.role != 'tool' -%}{%- if loop.first -%}" +
    "{%- set ns.system = m.content.split('\\n')[0] -%}{%- else -%}{{ ns.system[:20] ~ m.content.replace('a', 'b') }}" +
    '{%- endif -%}{%- set ns.n = ns.n + 1 -%}{%- endfor -%}{{ ns.n * 2 | int }}',
  "{% macro show(x, width=2) %}{{ x | tojson(indent=width) }}{% endmacro %}{{ show(messages) }}{{ messages | map(attribute='role')" +
    " | join(', ') }}{{ range(3) | list }}{% filter upper %}{{ messages[-1]['content'] | indent(3) }}{% endfilter %}",
];
const WORDS = [
  ...['{%', '%}', '{{', '}}', '{#', '#}', '-', '(', ')', '[', ']', '~', '*', '**', '|', ',', '.', ':', "'", '=', '\\'],
  ...[
    ' for x in messages ',
    ' endfor ',
    ' if ',
    ' endif ',
    ' else ',
    ' set x = ',
    ' macro m(a) ',
    ' endmacro ',
    ' x ',
    ' m(1) ',
  ],
  ...['range(99999)', "'ab'", '1000000000', '-1', '0.5', 'none', 'messages', 'loop', 'namespace(a=1)', ' is defined'],
  ...[
    ' | join',
    ' | tojson',
    ' | replace',
    ' | sort',
    ' | list',
    ' | length',
    '.split()',
    '[::-1]',
    '{}',
    ' in ',
    ' not ',
  ],
];

/** One to three changes: a word put in, a stretch cut out, doubled, or taken from another template. */
const mutate = (template: string, below: Random): string => {
  let text = template;
  for (let changes = 1 + below(3); changes > 0; changes--) {
    const [from, to] = [below(text.length + 1), below(text.length + 1)].sort((a, b) => a - b) as [number, number];
    const kind = below(6);
    if (kind < 3) text = text.slice(0, from) + pick(WORDS, below) + text.slice(from + (kind === 0 ? below(4) : 0));
    else if (kind === 3) text = text.slice(0, from) + text.slice(Math.min(to, from + 40));
    else if (kind === 4) text = text.slice(0, to) + text.slice(from);
    else {
      const other = pick(TEMPLATES, below);
      const at = below(other.length);
      text = text.slice(0, from) + other.slice(at, at + below(60)) + text.slice(from);
    }
  }
  return text;
};

it(`${INPUTS} damaged templates: a text or an error that names what is wrong`, async () => {
  const below = random(SEED);
  const watch = new Watch();
  const messages = ['system', 'user', 'assistant', 'user'].map((role, i) => ({ role, content: `Text ${i}\na b a` }));
  const variables = { messages, add_generation_prompt: true, tools: null, bos_token: '<s>', eos_token: '</s>' };
  const problems = new Set<string>();
  let good = 0;
  for (let i = 0; i < INPUTS; i++) {
    const source = mutate(pick(TEMPLATES, below), below);
    try {
      await watch.input(() => compileTemplate(source)(variables));
      good++;
    } catch (error) {
      if (!(error instanceof TemplateFault || (error instanceof OutriderError && error.code === 'bad-checkpoint')))
        throw new Error(`input ${i}: ${source}`, { cause: error });
      problems.add(error.message.slice(0, 40));
    }
    watch.check(`input ${i}: ${source}`);
  }
  console.log(`${INPUTS} damaged templates: ${good} rendered, refused in ${problems.size} ways, ${watch}`);
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(problems.size).toBeGreaterThan(20);
}, 900_000);
