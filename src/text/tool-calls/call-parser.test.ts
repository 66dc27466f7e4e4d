// Calls in every family's form, whole and character by character. Texts marked as such, and what they should give, are those
// of llama.cpp's tests/test-chat.cpp (ggml-org/llama.cpp, 0042e20): sixteen of Hermes, Llama 3, Mistral, Granite and
// `functools`, and those of Qwen3-Coder, Qwen3.5 and LFM2 further below.
import { describe, expect, it } from 'vitest';
import { type AnswerFormat, type AnswerPart, AnswerReader } from '../answer-format.ts';
import type { ToolFunction, Tools } from './tools.ts';

const ARG1 = { type: 'object', properties: { arg1: { type: 'integer' } }, required: ['arg1'] };
const typed = (types: Readonly<Record<string, string | readonly string[]>>) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }])),
});
const functions: readonly ToolFunction[] = [
  { name: 'special_function', parameters: ARG1 },
  {
    name: 'special_function_with_opt',
    parameters: { ...ARG1, properties: { ...ARG1.properties, arg2: { type: 'integer' } } },
  },
  { name: 'python', parameters: { type: 'object', properties: { code: { type: 'string' } } } },
  {
    name: 'several',
    parameters: typed({
      req1: 'string',
      req2: 'integer',
      opt2: 'integer',
      opt3: 'string',
      opt4: 'integer',
      opt5: 'string',
    }),
  },
  {
    name: 'nullable',
    parameters: typed({ name: ['string', 'null'], other: ['null', 'string'], count: ['integer', 'null'] }),
  },
  { name: 'set_union', parameters: typed({ value: ['string', 'object'], amount: ['number', 'string'] }) },
  { name: 'set_unit', parameters: { type: 'object', properties: { unit: { enum: ['celsius', 'fahrenheit'] } } } },
  { name: 'todo_list', parameters: typed({ todos: 'array' }) },
  { name: 'edit', parameters: typed({ filename: 'string', oldString: 'string', newString: 'string' }) },
  {
    name: 'zip',
    parameters: {
      type: 'object',
      properties: {
        code: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        flag: { type: ['string', 'boolean'] },
      },
    },
  },
  { name: 'html', parameters: typed({ markup: 'string' }) },
  {
    name: 'send',
    parameters: {
      type: 'object',
      properties: {
        zip: { $ref: '#/$defs/Zip' },
        described: { allOf: [{ $ref: '#/$defs/Zip' }], description: 'Where to' },
        either: { anyOf: [{ $ref: '#/$defs/Zip' }, { $ref: '#/properties/either' }] },
        grade: { enum: ['1', '2'] },
        level: { enum: [1, '2'] },
        fixed: { const: 'True' },
      },
      $defs: { Zip: { type: 'string' } },
    },
  },
  { name: 'tag', parameters: { type: 'object', additionalProperties: { type: 'string' } } },
  { name: 'referred', parameters: { $ref: '#/$defs/a', $defs: { a: { allOf: [typed({ zip: 'string' })] } } } },
];

interface Answer {
  text: string;
  reasoning: string;
  calls: [name: string, args: string, id: string | null][];
}

const read = (format: AnswerFormat, pieces: readonly string[], parallel = true): Answer => {
  const reader = new AnswerReader(format, { functions, parallel });
  const answer: Answer = { text: '', reasoning: '', calls: [] };
  const add = (part: AnswerPart): void => {
    if (part.type === 'text') answer.text += part.text;
    else if (part.type === 'reasoning') answer.reasoning += part.text;
    else if (part.type === 'call') answer.calls[part.index] = [part.name, '', part.id];
    else (answer.calls[part.index] as [string, string, string | null])[1] += part.text;
  };
  for (const piece of pieces) reader.push(piece).forEach(add);
  reader.end().forEach(add);
  return answer;
};

const call = (args: string, name = 'special_function', id: string | null = null): Answer['calls'][number] => [
  name,
  args,
  id,
];
const ONE = [call('{"arg1": 1}')];
const HELLO = "Hello, world!\nWhat's up?";
const THINK = { open: '<think>', close: '</think>' };

type Case = readonly [written: string, calls: Answer['calls'], text?: string, reasoning?: string];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  hermes: [
    [HELLO, [], HELLO],
    ['<tool_call>\n{"name": "special_function", "arguments": {"arg1": 1}}\n</tool_call>', ONE],
    [`${HELLO}<tool_call>\n{"name": "special_function", "arguments": {"arg1": 1}}\n</tool_call>`, ONE, HELLO],
    [
      '<tool_call>\n{"name": "special_function", "arguments": {"arg1": 1}}\n</tool_call>\n' +
        '<tool_call>\n{"name": "python", "arguments": {"code":"print(\'hello\')"}}\n</tool_call>',
      [...ONE, call('{"code":"print(\'hello\')"}', 'python')],
    ],
    ['<tool_call>\n```json\n{"name": "special_function", "arguments": {"arg1": 1}}\n```\n</tool_call>', ONE],
    ["<think>I'm\nthinking</think>Hello, world!\nWhat's up?", [], HELLO, "I'm\nthinking"],
    ['<think><tool_call>nah uhg</tool_call>', [], '', '<tool_call>nah uhg</tool_call>'],
    ['<tool_call>[{"name": "special_function", "arguments": {"arg1": 1}}]</tool_call>', ONE],
    ['<tool_call>{"arguments": {"arg1": 1}, "name": "special_function"}</tool_call>', [call('{"arg1":1}')]],
    ['<tool_call>{"name": "special_function", "arguments": "{\\"arg1\\": 1}"}</tool_call>', ONE],
    ['<tool_call>{"name": "special_function"}</tool_call> Done.', [call('{}')], ' Done.'],
    ['a <tool_call> is a tag </tool_call> b', [], 'a <tool_call> is a tag </tool_call> b'],
    ['<tool_call>{"name": "special_function", "arguments": {"arg1": 1}\n</tool_call>', ONE],
    // A bracket too many.
    ['<tool_call>\n{"name": "special_function", "arguments": {"arg1": 1}}}\n</tool_call>', ONE],
    ['<tool_call>{"name": "special_function", "arguments": {"arg', [call('{"arg')]],
    ['<tool_call>{"name": "spec', [], '<tool_call>{"name": "spec'],
    ['1 < 2 <tool', [], '1 < 2 <tool'],
  ],
  llama3: [
    ['{"name": "special_function", "parameters": {"arg1": 1}}', ONE],
    ['<|python_tag|>python.call(code="print(\'hey\')")', [call('{"code": "print(\'hey\')"}', 'python')]],
    ['python.call(code="1")', [], 'python.call(code="1")'],
    ['{"name": "unknown", "parameters": {}}', [], '{"name": "unknown", "parameters": {}}'],
    [HELLO, [], HELLO],
  ],
  'mistral-list': [
    ['[TOOL_CALLS][{"name": "special_function", "arguments": {"arg1": 1}, "id": "123456789"}]', ONE],
    [`${HELLO}[TOOL_CALLS] [{"name": "special_function", "arguments": {"arg1": 1}}]`, ONE, HELLO],
  ],
  mistral: [
    ['[TOOL_CALLS]special_function[ARGS]{"arg1":1}', [call('{"arg1":1}')]],
    [
      '[TOOL_CALLS]special_function[ARGS]{"arg1": 1}[TOOL_CALLS]special_function_with_opt[ARGS]{"arg1": 1, "arg2": 2}',
      [...ONE, call('{"arg1": 1, "arg2": 2}', 'special_function_with_opt')],
    ],
    ['[TOOL_CALLS]special_function {"arg1": 1}', ONE],
    ['[TOOL_CALLS]special_function\n\n{"arg1": 1}', ONE],
    ['[TOOL_CALLS]no call', [], '[TOOL_CALLS]no call'],
    ['[1] is a note [', [], '[1] is a note ['],
  ],
  'mistral-ids': [
    [
      '[TOOL_CALLS]special_function[CALL_ID]123456789[ARGS]{"arg1": 1}',
      [call('{"arg1": 1}', 'special_function', '123456789')],
    ],
  ],
  granite: [
    ['<|tool_call|>[{"name": "special_function", "arguments": {"arg1": 1}}]', ONE],
    ['<|tool_call|>[{"name": "special_function", "arguments": {"arg', [call('{"arg')]],
    ["<think>I'm\nthinking</think>Hello, world!\nWhat's up?", [], HELLO, "I'm\nthinking"],
  ],
  'phi4-mini': [
    ['<|tool_call|>[{"name": "special_function", "arguments": {"arg1": 1}}]<|/tool_call|>', ONE],
    ['functools[{"name": "special_function", "arguments": {"arg1": 1}}]', ONE],
  ],
  'qwen3-coder': [
    [
      'Ok.\n<tool_call>\n<function=special_function>\n<parameter=arg1>\n1\n</parameter>\n</function>\n</tool_call>',
      ONE,
      'Ok.',
    ],
    [
      '<tool_call>\n<function=python>\n<parameter=code>\nif 1 < 2:\n  print("a")\n</parameter>\n</function>\n</tool_call>',
      [call('{"code": "if 1 < 2:\\n  print(\\"a\\")"}', 'python')],
    ],
    [
      '<tool_call>\n<function=look>\n<parameter=key>\nconstructor\n</parameter>\n</function>\n</tool_call>',
      [call('{"key": "constructor"}', 'look')],
    ],
    [
      '<tool_call>\n<function=look>\n<parameter=key>\nTrue\n</parameter>\n</function>\n</tool_call>',
      [call('{"key": true}', 'look')],
    ],
    // A parameter that is not closed.
    [
      '<tool_call>\n<function=special_function>\n<parameter=arg1>\n1\n</function>\n</tool_call>\n' +
        '<tool_call>\n<function=python>\n<parameter=code>\n2\n</parameter>\n</function>\n</tool_call>Done.',
      [...ONE, call('{"code": "2"}', 'python')],
      'Done.',
    ],
    // A function that is not closed, and one that is cut.
    // Numbers stay as they are written.
    [
      '<tool_call>\n<function=special_function>\n<parameter=arg1>\n1234567890123456789\n</parameter>\n</function>\n</tool_call>',
      [call('{"arg1": 1234567890123456789}')],
    ],
    [
      '<tool_call>\n<function=set_union>\n<parameter=amount>\n1.0\n</parameter>\n</function>\n</tool_call>',
      [call('{"amount": 1.0}', 'set_union')],
    ],
    ['<tool_call>\n<function=special_function>\n<parameter=arg1>\n1\n</parameter>\n</tool_call>Done.', ONE, 'Done.'],
    ['<tool_call>\n<function=special_function>\n<parameter=arg1>\n1\n</parameter>\n', [call('{"arg1": 1')]],
    // A mark inside JSON, which ends no parameter, and after JSON that is none, where it does.
    [
      '<tool_call><function=todo_list><parameter=todos>["</parameter>", 1]</parameter></function></tool_call>',
      [call('{"todos": ["</parameter>",1]}', 'todo_list')],
    ],
    [
      '<tool_call>\n<function=todo_list>\n<parameter=todos>\n["a\n</parameter>\n</function>\n</tool_call>',
      [call('{"todos": "[\\"a"}', 'todo_list')],
    ],
    // What looks like JSON, or like Python, is a text where no other type is allowed.
    ...(['94107', 'true', 'True', 'None'] as const).map(
      (zip): Case => [
        `<tool_call>\n<function=zip>\n<parameter=code>\n${zip}\n</parameter>\n</function>\n</tool_call>`,
        [call(`{"code": ${JSON.stringify(zip === 'None' ? null : zip)}}`, 'zip')],
      ],
    ),
    [
      '<tool_call>\n<function=zip>\n<parameter=flag>\nNone\n</parameter>\n</function>\n</tool_call>',
      [call('{"flag": "None"}', 'zip')],
    ],
    // The type is that of what the schema refers to, or of its values.
    ...(
      [
        ['send', 'zip', '90210', '"90210"'],
        ['send', 'zip', '"90210"', '"90210"'],
        ['send', 'described', '90210', '"90210"'],
        ['send', 'either', '90210', '"90210"'],
        ['send', 'grade', '1', '"1"'],
        ['send', 'level', '1', '1'],
        ['send', 'fixed', 'True', '"True"'],
        ['tag', 'any', '90210', '"90210"'],
        ['referred', 'zip', '90210', '"90210"'],
      ] as const
    ).map(
      ([name, key, written, read]): Case => [
        `<tool_call>\n<function=${name}>\n<parameter=${key}>\n${written}\n</parameter>\n</function>\n</tool_call>`,
        [call(`{"${key}": ${read}}`, name)],
      ],
    ),
  ],
  lfm2: [
    ['<|tool_call_start|>[special_function(arg1=1)]<|tool_call_end|>', ONE],
    [
      '<|tool_call_start|>[special_function(arg1=1), python(code=\'a "b"\\n\')]<|tool_call_end|>Done.',
      [...ONE, call('{"code": "a \\"b\\"\\n"}', 'python')],
      'Done.',
    ],
    [
      '<|tool_call_start|>[f(a=[1, -2.5e3], b={"k": None}, c=True)]<|tool_call_end|>',
      [call('{"a": [1, -2.5e3], "b": {"k": null}, "c": true}', 'f')],
    ],
    // Python keeps the backslash in front of a character that it does not know.
    [
      String.raw`<|tool_call_start|>[f(a="\d+\.\/\\\'\"", b='\a\b\f\v\x41\101\u00e9\U0001F600\0\xq')]<|tool_call_end|>`,
      [call(`{"a": ${JSON.stringify(`\\d+\\./\\'"`)}, "b": ${JSON.stringify('\x07\b\f\vAAé😀\0\\xq')}}`, 'f')],
    ],
    [
      '<|tool_call_start|>[f(a={1: 2, True: {"b": 3}})]<|tool_call_end|>',
      [call('{"a": {"1": 2, "true": {"b": 3}}}', 'f')],
    ],
    [
      '<|tool_call_start|>[2fa(user-id=1, $top=2), -x()]<|tool_call_end|>',
      [call('{"user-id": 1, "$top": 2}', '2fa'), call('{}', '-x')],
    ],
  ],
};

/** Arguments as the family's parser joins them. */
const args = (own: Readonly<Record<string, unknown>>): string =>
  `{${Object.entries(own)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
const xml = (name: string, own: Readonly<Record<string, string>>): string =>
  `<tool_call>\n<function=${name}>\n${Object.entries(own)
    .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    .join('')}</function>\n</tool_call>`;
const xmlCase = (
  name: string,
  own: Readonly<Record<string, string>>,
  read: Readonly<Record<string, unknown>>,
): Case => [xml(name, own), [call(args(read), name)]];
const HELLO_CODE = 'def hello():\n    print("Hello, world!")\n\nhello()';
const TODOS = [
  { item: 'Check stuff', selected: false },
  { item: 'Prepare stuff', selected: true },
];
const EDIT = { filename: 'foo.c', oldString: '#iclunde' };
const BOTH = `${xml('special_function', { arg1: '1' })}\n${xml('special_function_with_opt', { arg1: '1', arg2: '2' })}`;
const list = (calls: string): string => `<|tool_call_start|>[${calls}]<|tool_call_end|>`;

/** Of llama.cpp. */
const QWEN3_CODER: readonly Case[] = [
  [HELLO, [], HELLO],
  xmlCase('special_function', { arg1: '1' }, { arg1: 1 }),
  [BOTH, [...ONE, call('{"arg1": 1, "arg2": 2}', 'special_function_with_opt')]],
  xmlCase('python', { code: HELLO_CODE }, { code: HELLO_CODE }),
  xmlCase('python', { code: '格' }, { code: '格' }),
  xmlCase('python', { code: '    print("Hello, world!")' }, { code: '    print("Hello, world!")' }),
  xmlCase('html', { markup: '<html>\n <head>\n </head>\n</html>' }, { markup: '<html>\n <head>\n </head>\n</html>' }),
  xmlCase('todo_list', { todos: JSON.stringify(TODOS) }, { todos: TODOS }),
  xmlCase('edit', { ...EDIT, newString: '#include' }, { ...EDIT, newString: '#include' }),
  xmlCase('edit', { ...EDIT, newString: '#include\n' }, { ...EDIT, newString: '#include\n' }),
  xmlCase('edit', { newString: '#include', ...EDIT }, { newString: '#include', ...EDIT }),
  xmlCase('several', { req2: '42', req1: 'hello', opt2: '200' }, { req2: 42, req1: 'hello', opt2: 200 }),
  xmlCase('several', { req1: 'hello', req2: '42', opt4: '100' }, { req1: 'hello', req2: 42, opt4: 100 }),
  xmlCase('several', { req1: 'a', req2: '7', opt5: 'z', opt3: 'y' }, { req1: 'a', req2: 7, opt5: 'z', opt3: 'y' }),
  xmlCase('nullable', { name: 'hello world' }, { name: 'hello world' }),
  xmlCase('nullable', { other: 'hello world' }, { other: 'hello world' }),
  xmlCase('nullable', { count: '42' }, { count: 42 }),
  xmlCase('nullable', { name: 'null' }, { name: null }),
  xmlCase('set_union', { value: '{"a": 1}', amount: '2 dollars' }, { value: { a: 1 }, amount: '2 dollars' }),
  xmlCase('set_union', { value: '{not valid json', amount: '42' }, { value: '{not valid json', amount: 42 }),
  xmlCase('set_unit', { unit: 'celsius' }, { unit: 'celsius' }),
  xmlCase('empty_args', {}, {}),
];

/** Of llama.cpp, too: the prompt of Qwen3.5 has opened the reasoning. */
const QWEN3_5: readonly Case[] = [
  [`I'm\nthinking\n</think>\n\n${HELLO}`, [], HELLO, "I'm\nthinking"],
  [`I'm\nthinking\n</think>\n\n${xml('special_function', { arg1: '1' })}`, ONE, '', "I'm\nthinking"],
  [`</think>\n\n${xml('special_function', { arg1: '1' })}`, ONE],
  [`Which?\n</think>\n\n{"amount": 123.45}`, [], '{"amount": 123.45}', 'Which?'],
];

/** Of llama.cpp, too. */
const LFM2: readonly Case[] = [
  [HELLO, [], HELLO],
  [list('get_time(city="XYZCITY")'), [call('{"city": "XYZCITY"}', 'get_time')]],
  [list('toggle(enabled=True)'), [call('{"enabled": true}', 'toggle')]],
  [list('set_nullable(value=None)'), [call('{"value": null}', 'set_nullable')]],
  [
    list('set_config(config={"enabled": True, "count": 3})'),
    [call('{"config": {"enabled": true, "count": 3}}', 'set_config')],
  ],
  [
    list('set_config(config={"enabled": true, "note": null})'),
    [call('{"config": {"enabled": true, "note": null}}', 'set_config')],
  ],
  [
    list('Calendar.create_event(title="demo", participants=["Alice", "Bob"], metadata={"reminder": true})'),
    [
      call(
        '{"title": "demo", "participants": ["Alice", "Bob"], "metadata": {"reminder": true}}',
        'Calendar.create_event',
      ),
    ],
  ],
  [
    'Use this: [link text](url). Example: [W](https://w.org).',
    [],
    'Use this: [link text](url). Example: [W](https://w.org).',
  ],
  [
    list('python(code="First line\\nSecond line\\tindented")'),
    [call('{"code": "First line\\nSecond line\\tindented"}', 'python')],
  ],
  [list('python(code="print(\\"hi\\")")'), [call('{"code": "print(\\"hi\\")"}', 'python')]],
  [
    `Let me check the time.${list('get_time(city="Paris")')}`,
    [call('{"city": "Paris"}', 'get_time')],
    'Let me check the time.',
  ],
  [
    list('special_function(arg1=1), special_function_with_opt(arg1=1, arg2=2)'),
    [...ONE, call('{"arg1": 1, "arg2": 2}', 'special_function_with_opt')],
  ],
  [list('empty_args()'), [call('{}', 'empty_args')]],
];

describe.each([
  ...Object.entries(CASES).map(([tools, cases]) => ({ tools, cases, begun: false })),
  { tools: 'qwen3-coder', cases: QWEN3_CODER, begun: false },
  { tools: 'qwen3-coder', cases: QWEN3_5, begun: true },
  { tools: 'lfm2', cases: LFM2, begun: false },
])('$tools', ({ tools, cases, begun }) => {
  it.each(cases.map((each) => [each] as const))('%j', ([written, calls, text = '', reasoning = '']) => {
    const format: AnswerFormat = { tools, reasoning: { ...THINK, begun } };
    expect(read(format, [written])).toEqual({ text, reasoning, calls });
    expect(read(format, [...written])).toEqual({ text, reasoning, calls });
  });
});

it('keeps one call where several are not wanted', () => {
  const written = CASES.mistral?.[1]?.[0] as string;
  expect(read({ tools: 'mistral', reasoning: null }, [...written], false).calls).toEqual(ONE);
});

it('begins with reasoning where the prompt has opened them', () => {
  const format: AnswerFormat = { tools: null, reasoning: { ...THINK, begun: true } };
  const whole = { text: HELLO, reasoning: "I'm\nthinking", calls: [] };
  expect(read(format, [`I'm\nthinking\n</think>\n\n${HELLO}`])).toEqual(whole);
  expect(read(format, [...`\nI'm\nthinking\n</think>\n\n${HELLO}`])).toEqual(whole);
  expect(read(format, ['no end'])).toEqual({ text: '', reasoning: 'no end', calls: [] });
});

it.each<[NonNullable<Tools['choice']>]>([['required'], [{ name: 'special_function' }]])(
  'the beginning of a call is no text where the answer is a call: %j',
  (choice) => {
    const written = '<tool_call>\n{"name": "special_function", "arguments": {"arg1": 1}}\n</tool_call>\n<tool_call>';
    const format = { tools: 'hermes', reasoning: null };
    const partsOf = (length: number): readonly AnswerPart[] => {
      const reader = new AnswerReader(format, { functions, choice });
      const parts = [...reader.push(written.slice(0, length)), ...reader.end()];
      expect(reader.inText).toBe(false);
      return parts;
    };
    for (let length = 1; length <= written.length; length++)
      expect(partsOf(length).filter(({ type }) => type === 'text')).toEqual([]);
    expect(partsOf(written.length).map(({ type }) => type)).toEqual(['call', 'arguments']);
    // Where the model may write what it likes, this is an answer.
    const free = new AnswerReader(format, { functions });
    expect([...free.push('<tool_call>\n{"name": "spec'), ...free.end()].every(({ type }) => type === 'text')).toBe(
      true,
    );
  },
);
