// Calls in every family's form, whole and character by character. Sixteen texts of Hermes, Llama 3, Mistral, Granite and
// `functools`, and what they should give, are those of llama.cpp's tests/test-chat.cpp (ggml-org/llama.cpp, 0042e20).
import { describe, expect, it } from 'vitest';
import { type AnswerFormat, type AnswerPart, AnswerReader } from '../answer-format.ts';
import type { ToolFunction } from './tools.ts';

const ARG1 = { type: 'object', properties: { arg1: { type: 'integer' } }, required: ['arg1'] };
const functions: readonly ToolFunction[] = [
  { name: 'special_function', parameters: ARG1 },
  {
    name: 'special_function_with_opt',
    parameters: { ...ARG1, properties: { ...ARG1.properties, arg2: { type: 'integer' } } },
  },
  { name: 'python', parameters: { type: 'object', properties: { code: { type: 'string' } } } },
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
    ['<tool_call>{"name": "special_function", "arguments": {"arg', [call('{"arg')]],
    ['<tool_call>{"name": "spec', [], '<tool_call>{"name": "spec'],
    ['1 < 2 <tool', [], '1 < 2 <tool'],
  ],
  llama3: [
    ['{"name": "special_function", "parameters": {"arg1": 1}}', ONE],
    ['<|python_tag|>python.call(code="print(\'hey\')")', [call('{"code": "print(\'hey\')"}', 'python')]],
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
  ],
};

describe.each(Object.keys(CASES))('%s', (tools) => {
  it.each((CASES[tools] ?? []).map((each) => [each] as const))('%j', ([written, calls, text = '', reasoning = '']) => {
    const format: AnswerFormat = { tools, reasoning: { ...THINK, begun: false } };
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
