import { describe, expect, it } from 'vitest';
import { checkRequest, takeRequest } from './check-request.ts';

const prompt = { tokens: [1, 2] };

describe('a request of any shape', () => {
  it.each<[unknown, string]>([
    [undefined, 'a request must be an object, not undefined'],
    ['Hello', 'a request must be an object, not "Hello"'],
    [{}, 'the request has no prompt'],
    [{ prompt: 'Hello' }, 'prompt must be { messages }, { text } or { tokens }, not "Hello"'],
    [{ prompt: {} }, '0 of them are given'],
    [{ prompt: { text: 'a', tokens: [1] } }, '2 of them are given'],
    [{ prompt: { text: 7 } }, 'prompt.text must be text, not 7'],
    [{ prompt: { tokens: 'abc' } }, 'prompt.tokens must be a list of token ids, not "abc"'],
    [{ prompt: { tokens: [1, '2'] } }, 'prompt.tokens must be a list of token ids'],
    [{ prompt: { messages: 'Hello' } }, 'prompt.messages must be a list'],
    [{ prompt: { messages: [{ role: 'user' }] } }, 'prompt.messages[0].content must be text, or a list'],
    [{ prompt: { messages: [] } }, 'prompt.messages is empty'],
    [{ prompt: { messages: [{ role: 'user', content: null }] } }, 'prompt.messages[0].content must be text, or a list'],
    [
      { prompt: { messages: [{ role: 'user', content: [5] }] } },
      "prompt.messages[0].content[0] must be { type: 'text'",
    ],
    [
      { prompt: { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] } },
      'prompt.messages[0].content[0].text must be text, not 5',
    ],
    [
      { prompt: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a.png' } }] }] } },
      'prompt.messages[0].content[0] is of type "image_url", and models read text only: leave it out',
    ],
    [{ prompt: { messages: [{ role: 'tool', content: 'a', tool_call_id: 5 }] } }, '.tool_call_id must be text, not 5'],
    [
      { prompt: { messages: [{ role: 'assistant', content: '', tool_calls: [{}] }] } },
      'prompt.messages[0].tool_calls must be a list of { function: { name, arguments } }, not [{}]',
    ],
    [{ prompt: { messages: [null] } }, 'prompt.messages[0] must be an object { role, content }, not null'],
    [{ prompt, stop: 'x' }, 'stop must be a list of texts that are not empty, as [\'\\n\\n\'], not "x"'],
    [{ prompt, stop: ['x', ''] }, 'stop must be a list of texts that are not empty'],
    [{ prompt: { text: 'a', begin: '{' } }, 'prompt.begin belongs to messages'],
    [{ prompt: { tokens: [1], plain: true } }, 'prompt.plain belongs to a text'],
    [{ prompt: { text: 'a', stop: ['b'] } }, 'prompt has no field "stop"'],
    [{ prompt: { tokens: new Array(3) } }, 'prompt.tokens must be a list of token ids'],
    [{ prompt, logitBias: new Map([[5, -100]]) }, 'logitBias must be an object'],
    [{ prompt, reasoning: { budget: Number.NaN } }, 'reasoning.budget must be a whole number from 0 on, not NaN'],
    [{ prompt, tools: JSON.parse('{"__proto__": {}}') }, 'tools has no field "__proto__"'],
    [{ prompt, temperature: '0.7' }, 'temperature must be a number, not "0.7"'],
    [{ prompt, maxTokens: null }, 'maxTokens must be a number, not null'],
    [{ prompt, ignoreEos: 'yes' }, 'ignoreEos must be true or false, not "yes"'],
    [{ prompt, tools: {} }, 'tools.functions must be a list of functions, not undefined'],
    [{ prompt, knobs: [] }, 'knobs must be an object, not []'],
    [{ prompt, max_tokens: 5 }, 'a request has no field "max_tokens"'],
  ])('%j is refused by the name of its field', (request, message) => {
    expect(() => checkRequest(request)).toThrow(expect.objectContaining({ code: 'bad-request' }));
    expect(() => checkRequest(request)).toThrow(message);
  });

  it('that is a list of messages is told where they belong', () => {
    const hint = expect.stringContaining('a list of messages { messages }');
    expect(() => checkRequest({ prompt: [{ role: 'user', content: 'a' }] })).toThrow(expect.objectContaining({ hint }));
  });

  it('is refused where JSON cannot hold it', () => {
    const itself: Record<string, unknown> = {};
    itself.again = itself;
    const cases: [unknown, string][] = [
      [{ prompt, maxTokens: 5n }, 'maxTokens must be a number, not [object BigInt]'],
      [
        { prompt, tools: { functions: [{ name: 'f', parameters: itself }] } },
        'tools.functions[0].parameters must be an object that can be written as JSON, not [object Object]',
      ],
      [
        { prompt: { messages: [{ role: 'user', content: 'a', extra: itself }] } },
        'prompt.messages[0] must be an object that can be written as JSON',
      ],
    ];
    for (const [request, message] of cases) expect(() => checkRequest(request)).toThrow(message);
  });

  it('is let through where it is right, and where a field is undefined', () => {
    checkRequest({ prompt, stop: ['x'], temperature: 0.5, system: undefined, knobs: { gamma: 4 } });
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    checkRequest({
      prompt: {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'a' }] },
          { role: 'assistant', content: null, tool_calls: [call], reasoning_content: null },
        ],
      },
    });
  });

  it('is taken as a copy, and refused where it cannot be copied', () => {
    const tokens = [1, 2];
    const stop = ['x'];
    const taken = takeRequest({ prompt: { tokens }, stop });
    tokens.push(3);
    stop.push('y');
    expect(taken).toEqual({ prompt: { tokens: [1, 2] }, stop: ['x'] });
    const messages = new Proxy([{ role: 'user', content: 'a' }], {});
    expect(() => takeRequest({ prompt: { messages } })).toThrow(expect.objectContaining({ code: 'bad-request' }));
    expect(() => takeRequest({ prompt: {} as never })).toThrow('0 of them are given');
  });
});
