// Calls that a grammar forces, read back by the parser of the same family: every one is a call, and its arguments are valid by
// the schema as it was given. With `auto` no other call of a strict function can be written.
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { AnswerReader } from '../text/answer-format.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { FAMILIES, familyById } from '../text/tool-calls/families.ts';
import type { ToolFunction, Tools } from '../text/tool-calls/tools.ts';
import { ConstraintCompiler } from './compile.ts';
import { ConstraintMatcher } from './matcher.ts';
import { type ToolGrammarOptions, toolGrammar } from './tool-grammar.ts';

const object = (properties: object, required: readonly string[] = [], more: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...more,
});
const UNITS = { type: 'string', enum: ['celsius', 'kelvin', '1', 'true', 'a "b"'] };

/** Everything that all families keep. */
const FUNCTIONS: readonly ToolFunction[] = [
  {
    name: 'weather',
    parameters: object(
      { city: { type: 'string' }, unit: UNITS, days: { type: 'integer' }, exact: { type: 'boolean' } },
      ['unit', 'days'],
    ),
  },
  { name: '2fa-check', parameters: object({ mode: { type: 'string', const: 'on' }, $top: { enum: ['a', 2, null] } }) },
  {
    name: 'refs',
    parameters: object(
      { unit: { $ref: '#/$defs/unit' }, at: { $ref: '#/$defs/place' }, other: { $ref: '#/properties/at' } },
      ['unit', 'at'],
      {
        $defs: {
          unit: UNITS,
          place: object({ name: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] } }, [
            'name',
          ]),
        },
      },
    ),
  },
  {
    name: 'maybe',
    parameters: object({
      'user-id': { type: ['string', 'null'] },
      zip: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      flag: { type: ['string', 'boolean'] },
      size: { oneOf: [{ type: 'integer' }, { enum: ['7', 'True'] }] },
    }),
  },
  {
    name: 'nested',
    parameters: object(
      {
        list: { type: 'array', items: { type: 'string' }, maxItems: 3 },
        ratio: { type: 'number', minimum: 0 },
        map: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
      ['list', 'map'],
    ),
  },
  { name: 'none' },
  { name: 'any', parameters: { type: 'object' } },
  { name: 'texts', parameters: { type: 'object', additionalProperties: { type: 'string' } } },
  { name: 'counts', parameters: { type: 'object', additionalProperties: { type: 'integer' } } },
];

const strict = (functions: readonly ToolFunction[]) => functions.map((own) => ({ ...own, strict: true }));
const named = (name: string) => FUNCTIONS.filter((own) => own.name === name);

let tokenizer: Tokenizer;
let compiler: ConstraintCompiler;
/** Tokens with a character that may end a value. */
let closing: ReadonlySet<number>;
beforeAll(async () => {
  tokenizer = await bundledTokenizer();
  const ids = Array.from({ length: tokenizer.vocabulary }, (_, token) => token);
  closing = new Set(ids.filter((token) => /["\]})<>/\n]/.test(tokenizer.decode([token]))));
  compiler = new ConstraintCompiler();
});

type Answer = ToolGrammarOptions['answer'];

const grammarOf = (id: string, tools: Tools, answer?: Answer): string | null =>
  toolGrammar({ family: familyById(id) as NonNullable<ReturnType<typeof familyById>>, tools, answer });

const open = async (id: string, tools: Tools, answer?: Answer): Promise<ConstraintMatcher> => {
  const reader = { tokenizer, vocabulary: tokenizer.vocabulary, marks: new Map(), stopTokens: new Set<number>() };
  const { compiled } = await compiler.compile({ grammar: grammarOf(id, tools, answer) ?? '' }, reader);
  return ConstraintMatcher.open(compiled);
};

const accepts = (matcher: ConstraintMatcher, text: string): boolean => {
  const tokens = tokenizer.encode(text, { plain: true });
  return tokens.every((token, i) => matcher.allows(tokens.slice(0, i), token)) && matcher.complete(tokens);
};

interface Read {
  readonly calls: { readonly name: string; args: string }[];
  text: string;
}

const read = (tools: string, functions: readonly ToolFunction[], pieces: Iterable<string>): Read => {
  const reader = new AnswerReader({ tools, reasoning: null }, { functions });
  const out: Read = { calls: [], text: '' };
  const parts = [...[...pieces].flatMap((piece) => reader.push(piece)), ...reader.end()];
  for (const part of parts)
    if (part.type === 'call') out.calls[part.index] = { name: part.name, args: '' };
    else if (part.type === 'arguments') (out.calls[part.index] as { args: string }).args += part.text;
    else out.text += part.text;
  return out;
};

const ajv = new Ajv({ strict: false });
const problem = ({ name, args }: Read['calls'][number]): string | null => {
  const own = FUNCTIONS.find((each) => each.name === name);
  const { parameters = { type: 'object', additionalProperties: false } } = own ?? { parameters: false as never };
  return ajv.validate(parameters, JSON.parse(args)) ? null : `${name} ${args}: ${ajv.errorsText()}`;
};

const hash = (n: number): number => {
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  return (n ^ (n >>> 16)) >>> 0;
};

/** An answer of allowed tokens, drawn at random; every second one may end a value. Null: it got too long. */
const randomAnswer = async (matcher: ConstraintMatcher, seed: number): Promise<string | null> => {
  const tokens: number[] = [];
  while (tokens.length < 300) {
    if (await matcher.ends(tokens)) return tokenizer.decode(tokens);
    if (matcher.complete(tokens) && hash(seed + 7 * tokens.length) % 2 === 0) return tokenizer.decode(tokens);
    const allowed = await matcher.allowed(tokens);
    const possible = Array.from({ length: tokenizer.vocabulary }, (_, t) => t).filter(
      (t) => ((allowed[t >>> 5] ?? 0) >>> (t & 31)) & 1,
    );
    const ends = hash(seed + 31 * tokens.length) % 2 === 0 ? possible.filter((t) => closing.has(t)) : [];
    const among = ends.length > 0 ? ends : possible;
    const drawn = among[hash(seed * 1000 + tokens.length) % among.length];
    if (drawn === undefined) throw new Error(`a dead end after ${JSON.stringify(tokenizer.decode(tokens))}`);
    tokens.push(drawn);
  }
  return null;
};

const LAID_OUT = { json_schema: object({ a: { type: 'integer' } }, ['a']), whitespace: 'any' } as const;

const MODES: Readonly<Record<string, Tools & { readonly answer?: Answer }>> = {
  required: { functions: FUNCTIONS, choice: 'required' },
  strict: { functions: strict(FUNCTIONS), choice: 'required' },
  'laid out by the model': { functions: strict(FUNCTIONS), choice: 'required', answer: LAID_OUT },
  ...Object.fromEntries(
    FUNCTIONS.map(({ name }) => [`named ${name}`, { functions: strict(FUNCTIONS), choice: { name }, parallel: false }]),
  ),
};

describe.each(FAMILIES.map(({ id }) => id))('%s: what is forced is read as a call with valid arguments', (id) => {
  it.each(Object.keys(MODES))('%s', async (mode) => {
    const { answer: whole, ...tools } = MODES[mode] as (typeof MODES)[string];
    using matcher = await open(id, tools, whole);
    let complete = 0;
    for (let seed = 0; seed < 5; seed++) {
      const answer = await randomAnswer(matcher, seed);
      // Bytes drawn at random are seldom characters.
      if (answer === null || answer.includes('\ufffd')) continue;
      complete++;
      const { calls, text } = read(id, tools.functions, answer);
      expect({ calls: calls.length > 0, text }, answer).toEqual({ calls: true, text: '' });
      if (typeof tools.choice === 'object') expect(calls.map(({ name }) => name)).toEqual([tools.choice.name]);
      expect(
        calls.flatMap((call) => problem(call) ?? []),
        answer,
      ).toEqual([]);
      expect(read(id, tools.functions, [answer]).calls).toEqual(calls);
    }
    expect(complete).toBeGreaterThan(0);
  });
});

describe('an answer without calls', () => {
  it.each(FAMILIES.map(({ id }) => id))('%s: may be laid out as it likes where its constraint says so', async (id) => {
    const tools = { functions: FUNCTIONS };
    using any = await open(id, tools, LAID_OUT);
    expect(accepts(any, '{\n  "a": 1\n}')).toBe(true);
    using fixed = await open(id, tools, { json_schema: LAID_OUT.json_schema });
    expect(accepts(fixed, '{\n  "a": 1\n}')).toBe(false);
    expect(accepts(fixed, '{"a": 1}')).toBe(true);
  });
});

const xml = (name: string, own: Readonly<Record<string, string>>): string =>
  `<tool_call>\n<function=${name}>\n${Object.entries(own)
    .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    .join('')}</function>\n</tool_call>`;

describe('texts of Qwen3-Coder', () => {
  it.each([
    ...[
      'cout << x;',
      'cat <<EOF\nEOF',
      '<b>x</b>',
      'a <',
      '<',
      'x <<',
      '',
      '\n',
      ' a\n\n',
      '</p>',
      '</',
      'a</path>',
      '</font>',
    ],
    ...['"a"', '{"a": 1}', '94107', 'null', 'True', '</tool_call>', '<tool_call>', '<parameter=a>', '1 </pa', '</</b>'],
  ])('%j is written and read as it is', async (city) => {
    const functions = strict(named('weather'));
    using matcher = await open('qwen3-coder', { functions, choice: 'required' });
    const answer = xml('weather', { city, unit: 'celsius', days: '1' });
    expect(accepts(matcher, answer)).toBe(true);
    const { calls } = read('qwen3-coder', functions, answer);
    expect(calls.map(({ args }) => JSON.parse(args))).toEqual([{ city, unit: 'celsius', days: 1 }]);
  });

  it.each(['a</parameter>b', '</function>', '</param>'])(
    '%j, which would end it or begins like that, is not written',
    async (city) => {
      using matcher = await open('qwen3-coder', { functions: strict(named('weather')), choice: 'required' });
      expect(accepts(matcher, xml('weather', { city, unit: 'celsius', days: '1' }))).toBe(false);
    },
  );

  it('an enum is written without quotes, and may be one that looks like JSON', async () => {
    using matcher = await open('qwen3-coder', { functions: strict(named('weather')), choice: 'required' });
    for (const [unit, allowed] of [
      ['1', true],
      ['a "b"', true],
      ['"celsius"', false],
      ['rankine', false],
    ] as const)
      expect(accepts(matcher, xml('weather', { unit, days: '1' })), unit).toBe(allowed);
  });

  it('in JSON they hold the marks too', async () => {
    const functions = strict(named('nested'));
    using matcher = await open('qwen3-coder', { functions, choice: 'required' });
    const list = ['a</parameter>', '</function></tool_call>'];
    const answer = xml('nested', { list: JSON.stringify(list).replace(',', ', '), map: '{}' });
    expect(accepts(matcher, answer)).toBe(true);
    expect(read('qwen3-coder', functions, answer).calls).toEqual([
      { name: 'nested', args: JSON.stringify({ list, map: {} }).replaceAll(':', ': ').replace('],', '], ') },
    ]);
  });
});

describe('arguments of LFM2', () => {
  it.each([
    ['f()', true],
    ['f(a=1)', true],
    ['f(b=2, c=3)', true],
    ['f(a=1, c=3)', true],
    ['f(, b=2)', false],
    ['f(c=3, b=2)', false],
  ])('that may all be left out: %s', async (call, allowed) => {
    const numbers = Object.fromEntries(['a', 'b', 'c'].map((key) => [key, { type: 'integer' }]));
    using matcher = await open('lfm2', {
      functions: [{ name: 'f', parameters: object(numbers) }],
      choice: 'required',
    });
    expect(accepts(matcher, `<|tool_call_start|>[${call}]<|tool_call_end|>`)).toBe(allowed);
  });
});

describe('functions that list no arguments at their root', () => {
  const TEXT = { type: 'string' };
  const INTEGER = { type: 'integer' };
  it.each([
    ['any object', { type: 'object' }, { city: '"Rome"', 'user-id': '[1]' }, true],
    ['any object of integers', { additionalProperties: INTEGER }, { a: '1', b: '2' }, true],
    ['any object of integers', { additionalProperties: INTEGER }, { a: '"1"' }, false],
    ['names by a pattern', { patternProperties: { '^x': TEXT }, additionalProperties: false }, { x1: '"a"' }, true],
    ['no object', { additionalProperties: false }, { a: '1' }, false],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: object({ a: INTEGER }, ['a']) } }, { a: '1' }, true],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: object({ a: INTEGER }, ['a']) } }, {}, false],
    ['allOf', { allOf: [object({ a: INTEGER }), object({ b: INTEGER }, ['b'])] }, { a: '1', b: '2' }, true],
    ['allOf', { allOf: [object({ a: INTEGER }), object({ b: INTEGER }, ['b'])] }, { a: '1' }, false],
    ['anyOf', { anyOf: [object({ a: INTEGER })] }, { a: '1' }, true],
  ] as const)('%s: %j with %j: %s', async (_, parameters, own, allowed) => {
    const tools: Tools = { functions: [{ name: 'f', parameters }], choice: 'required' };
    const python = Object.entries(own).map(([key, value]) => `${key}=${value}`);
    for (const [id, answer] of [
      ['qwen3-coder', xml('f', own)],
      ['lfm2', `<|tool_call_start|>[f(${python.join(', ')})]<|tool_call_end|>`],
    ] as const) {
      using matcher = await open(id, tools);
      expect(accepts(matcher, answer), id).toBe(allowed);
      const said = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, JSON.parse(value)]));
      if (allowed) expect(read(id, tools.functions, answer).calls.map(({ args }) => JSON.parse(args))).toEqual([said]);
    }
  });
});

const REFUSED: Readonly<Record<string, readonly [parameters: object, message: string, families?: readonly string[]]>> =
  {
    'a reference at the root': [{ $ref: '#/$defs/a', $defs: { a: object({}) } }, 'at its root: $ref'],
    'anyOf at the root': [
      object({ a: { type: 'integer' } }, [], { anyOf: [{ required: ['a'] }] }),
      'at its root: anyOf',
    ],
    'allOf at the root': [{ allOf: [object({ a: { type: 'integer' } })] }, 'at its root: allOf'],
    minProperties: [object({ a: { type: 'integer' } }, [], { minProperties: 1 }), 'at its root: minProperties'],
    dependentRequired: [
      object({ a: { type: 'integer' } }, [], { dependentRequired: { a: ['a'] } }),
      'at its root: dependentRequired',
    ],
    'a misspelt keyword': [object({ a: { type: 'integer' } }, [], { minPropertis: 1 }), 'minPropertis is no keyword'],
    'a required name without a property': [object({ a: { type: 'integer' } }, ['b']), 'at its root: required'],
    'a required name that is not read': [object({ 'a, >': { type: 'integer' } }, ['a, >']), 'at its root: required'],
    'a property that is not kept': [object({ a: { type: 'integer', not: {} } }), 'not is not supported'],
    'a pattern of a text': [
      object({ a: { type: 'string', pattern: '^a$' } }),
      'at /properties/a: pattern',
      ['qwen3-coder'],
    ],
    'a length of a text': [
      object({ a: { type: 'string', maxLength: 3 } }),
      'at /properties/a: maxLength',
      ['qwen3-coder'],
    ],
    'a format of a text': [
      object({ a: { type: 'string', format: 'date' } }),
      'at /properties/a: format',
      ['qwen3-coder'],
    ],
    'texts that end a parameter': [
      object({ a: { type: 'string', enum: ['</parameter>'] } }),
      'at /properties/a: enum',
      ['qwen3-coder'],
    ],
    'an enum of no text': [object({ a: { type: 'string', enum: [1] } }), 'enum'],
  };

describe.each(Object.keys(REFUSED))('%s', (name) => {
  const [parameters, message, families = ['qwen3-coder', 'lfm2']] = REFUSED[name] as (typeof REFUSED)[string];
  it.each(families)('%s: refuses a strict function, by name; another keeps what can be kept', async (id) => {
    const tools: Tools = { functions: [{ name: 'f', parameters: { ...parameters } }], choice: 'required' };
    expect(() => grammarOf(id, { ...tools, functions: strict(tools.functions) })).toThrowError(
      expect.objectContaining({ code: 'bad-constraint', message: expect.stringContaining(message) }),
    );
    using matcher = await open(id, tools);
    let complete = 0;
    for (let seed = 0; seed < 5; seed++) {
      const answer = await randomAnswer(matcher, seed);
      if (answer === null || answer.includes('\ufffd')) continue;
      complete++;
      for (const { args } of read(id, tools.functions, answer).calls) expect(JSON.parse(args)).toBeTypeOf('object');
    }
    expect(complete).toBeGreaterThan(0);
  });
});

/** The same call in the forms that the families' parsers read; `days` must be an integer. */
const wrong = '{"name": "weather", "arguments": {"unit": "celsius", "days": "x"}}';
const right = '{"name": "weather", "arguments": {"unit": "celsius", "days": 1}}';
const parameters = (call: string): string => call.replace('arguments', 'parameters');

interface Auto {
  /** The parser reads a call in them. */
  readonly never: readonly string[];
  readonly may: readonly string[];
}
const AUTO: Readonly<Record<string, Auto>> = {
  hermes: {
    never: [`<tool_call>${wrong}</tool_call>`, `Ok.<tool_call>\n${wrong}\n</tool_call>`],
    may: [`Ok.<tool_call>\n${right}\n</tool_call> Done. <tool_call>\n${right}\n</tool_call>`, '{"a": 1} <tool_'],
  },
  granite: {
    never: [
      `<|tool_call|>[${wrong}]`,
      `<tool_call>[${wrong}]`,
      `<tool_call>${wrong}`,
      `<|tool_call|>[${right}] ${wrong}`,
    ],
    may: [`Ok.<|tool_call|>[${right}, ${right}]`, `<tool_call>[${right}]`, 'a < b'],
  },
  'phi4-mini': {
    never: [`<|tool_call|>[${wrong}]`, `functools[${wrong}]`, `Use functools[[${wrong}]`],
    may: [
      `<|tool_call|>[${right}]<|/tool_call|> Done.`,
      `functools[${right}, ${right}]<|/tool_call|>`,
      'import functools\nfunctools.reduce(f, [1])',
    ],
  },
  llama3: {
    never: [
      ...[
        '',
        ' ',
        '\n',
        '[',
        '} ',
        '; ',
        '```json\n',
        '``` ',
        ',\u00a0',
        '<|python_tag|>',
        'Ok. <|python_tag|>',
        '<|p<|python_tag|>',
      ].map((before) => before + parameters(wrong)),
      '<|python_tag|>weather.call(days="x")',
    ],
    may: [
      ...[parameters(right), `<|python_tag|>${parameters(right)}`, '', 'Ok. {"a": 1}', '\n\nA list: [1]', '[1, 2]'],
      ...[
        '```python\nprint({})\n```',
        'weather.call(days="x")',
        '`a` is\n',
        'weather is {fine}',
        'a <| b',
        '<b>x</b> <|',
      ],
    ],
  },
  'mistral-list': {
    never: [`[TOOL_CALLS][${wrong}]`, `[TOOL_CALLS][${right}]; ${wrong}`],
    may: [`Ok.[TOOL_CALLS][${right}, ${right}]`, '[1]'],
  },
  mistral: {
    never: [
      '[TOOL_CALLS]weather[ARGS]{"days": "x"}',
      '[TOOL_CALLS]weather{"days": "x"}',
      '[TOOL_CALLS]weather[ARGS]{"unit": "celsius", "days": 1} weather {"days": "x"}',
    ],
    may: [
      'Ok.[TOOL_CALLS]weather[ARGS]{"unit": "celsius", "days": 1}[TOOL_CALLS]weather[ARGS]{"unit": "1", "days": 2}',
    ],
  },
  'mistral-ids': {
    never: ['[TOOL_CALLS]weather[CALL_ID]123456789[ARGS]{"days": "x"}'],
    may: ['[TOOL_CALLS]weather[CALL_ID]123456789[ARGS]{"unit": "celsius", "days": 1}', 'Ok.'],
  },
  lfm2: {
    never: ['<|tool_call_start|>[weather(days="x")]<|tool_call_end|>', '<|tool_call_start|>weather(days="x")'],
    may: ['Ok.<|tool_call_start|>[weather(unit="celsius", days=1)]<|tool_call_end|> [weather(days="x")]'],
  },
  'qwen3-coder': {
    never: [xml('weather', { days: 'x' }), '<tool_call><function=weather></function></tool_call>'],
    may: [`Ok. ${xml('weather', { unit: 'celsius', days: '1' })} <function=weather>`],
  },
};

describe('auto with strict functions', () => {
  it.each(Object.keys(AUTO))('%s: a call is written in the form of the grammar or not at all', async (id) => {
    const { never, may } = AUTO[id] as Auto;
    const functions = strict(named('weather'));
    using matcher = await open(id, { functions });
    for (const text of never) {
      const { calls } = read(id, functions, [text]);
      expect(calls.filter((call) => problem(call) !== null).length, text).toBeGreaterThan(0);
      expect(accepts(matcher, text), text).toBe(false);
    }
    for (const text of may) {
      expect(accepts(matcher, text), text).toBe(true);
      expect(read(id, functions, [text]).calls.map(problem), text).not.toContainEqual(expect.any(String));
    }
  });

  it('are of every family', () => {
    expect(Object.keys(AUTO).toSorted()).toEqual(FAMILIES.map(({ id }) => id).toSorted());
  });
});
