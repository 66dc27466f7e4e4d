// Calls through published chat templates (`golden/templates`): a template of a known family writes them as its models do, so
// what the reader finds in the rendered answer is what was put in. Other templates get them in Hermes' form.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { AnswerReader } from '../answer-format.ts';
import { Float } from '../jinja/numbers.ts';
import { compileTemplate } from '../jinja/render.ts';
import { reasoningTags } from '../reasoning.ts';
import { toolConversation } from './conversation.ts';
import { familyOf } from './families.ts';
import type { ToolFunction } from './tools.ts';

const functions: readonly ToolFunction[] = [
  {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, exact: { type: 'boolean' } },
      required: ['city'],
    },
  },
  {
    name: 'add_all',
    description: 'Adds numbers.',
    parameters: { type: 'object', properties: { numbers: { type: 'array', items: { type: 'number' } } } },
  },
];
const FIRST = { city: 'São Paulo, "SP"', days: 3, exact: true };
const SECOND = { numbers: [1, 2.5, -3] };
const SPECIAL = { bos_token: '<s>', eos_token: '</s>', pad_token: '</s>', unk_token: '<unk>' };

const callOf = (name: string, args: object, i: number) => ({
  id: `call0000${i}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

/** What the template writes of an answer with these calls, after the prompt. */
const answered = (name: string, calls: readonly object[]): { readonly text: string; readonly template: string } => {
  const template = readFileSync(shared('golden/templates', `${name}.jinja`), 'utf8');
  const render = compileTemplate(template, () => new Date(2026, 10, 22, 12));
  const written = (assistant: readonly object[]): string => {
    const given = [{ role: 'user', content: 'Go on.' }, ...assistant] as Parameters<typeof toolConversation>[1];
    const { messages, tools } = toolConversation(template, given, { functions });
    const xml = tools && { xml_tools: tools };
    return render({
      messages,
      tools: tools ?? null,
      ...xml,
      documents: null,
      add_generation_prompt: false,
      ...SPECIAL,
    });
  };
  const whole = written([{ role: 'assistant', content: '', tool_calls: calls }]);
  const prompt = written([]);
  let same = 0;
  while (same < prompt.length && whole[same] === prompt[same]) same++;
  return { text: whole.slice(same), template };
};

const read = (text: string, template: string) => {
  const tags = reasoningTags(template);
  const begin = tags ? text.indexOf(tags.close) : -1;
  // A template may write an empty reasoning, and the name of the role in front.
  const answer = begin === -1 ? text : text.slice(begin + (tags?.close.length ?? 0));
  const family = familyOf(template)?.id ?? 'hermes';
  const start = family === 'llama3' ? answer.slice(answer.indexOf('{')) : answer;
  const reader = new AnswerReader({ tools: family, reasoning: null }, { functions });
  const calls: { name: string; args: string }[] = [];
  for (const part of [...reader.push(start), ...reader.end()])
    if (part.type === 'call') calls.push({ name: part.name, args: '' });
    else if (part.type === 'arguments') (calls[part.index] as { args: string }).args += part.text;
  return calls.map(({ name, args }) => [name, JSON.parse(args)]);
};

const names = noShared
  ? []
  : Object.keys(JSON.parse(readFileSync(shared('golden/templates', 'renders.json'), 'utf8')).templates);

/** Templates that want functions in a form of their own, which is not here: requests with tools are refused. */
const REFUSED: Readonly<Record<string, string>> = {
  'CohereForAI-c4ai-command-r-plus-tool_use': "'NoneType' object is not iterable",
  'fireworks-ai-llama-3-firefunction-v2': "'functions' is undefined",
};

describe.skipIf(noShared)('calls that a published template writes', () => {
  const counts: Record<string, number> = {};
  it.each(names)('%s', (name) => {
    const refusal = REFUSED[name];
    if (refusal) return expect(() => answered(name, [callOf('get_weather', FIRST, 1)])).toThrow(refusal);
    const { text, template } = answered(name, [callOf('get_weather', FIRST, 1)]);
    expect(read(text, template), text).toEqual([['get_weather', FIRST]]);
    const id = familyOf(template)?.id ?? 'none';
    counts[id] = (counts[id] ?? 0) + 1;
    if (familyOf(template)?.grammar.single) return undefined; // its models write one call
    const both = answered(name, [callOf('get_weather', FIRST, 1), callOf('add_all', SECOND, 2)]);
    expect(read(both.text, template), both.text).toEqual([
      ['get_weather', FIRST],
      ['add_all', SECOND],
    ]);
    return undefined;
  });

  it('are of every family', () => {
    console.log(counts);
    expect(Object.keys(counts).length).toBeGreaterThan(5);
  });
});

describe('a call for a template that knows none', () => {
  const written = (own: unknown, template = ''): string | undefined => {
    const call = { id: 'a', type: 'function', function: { name: 'now', arguments: own } };
    const said = [
      { role: 'user', content: 'How late is it?' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'noon', tool_call_id: 'a' },
    ];
    return toolConversation(template, said, undefined).messages[1]?.content;
  };

  it('has no arguments where they are an empty text', () => {
    expect(written('')).toContain('{"name": "now", "arguments": {}}');
  });

  it('has numbers that a template would write as floats', () => {
    const own = { a: new Float(1.5), list: [new Float(-2)] };
    expect(written(own)).toContain('{"name": "now", "arguments": {"a":1.5,"list":[-2.0]}}');
    expect(written(own, 'List of tools: ')).toContain('now(a=1.5, list=[-2.0])');
  });
});
