// Tools, response formats and reasoning by OpenAI's own client over `openaiFetch`, on a toy model that writes nonsense: what
// it writes is right only where the constraint makes it so.
import { APIError, BadRequestError, OpenAI as Client } from 'openai';
import { LengthFinishReasonError } from 'openai/error';
import { describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { HERMES_TEMPLATE, REASONING_TEMPLATE } from '../testing/toys/chat-templates.ts';
import { bundledTokenizer, toyTextEngine } from '../testing/toys/text-engine.ts';
import { committedTokens } from '../trace/committed-tokens.ts';
import type { TraceEvent } from '../trace/index.ts';
import { type ChatCompletion, type ChatCompletionChunk, openai, openaiFetch } from './openai.ts';

const city = { type: 'string', enum: ['Rome', 'Oslo'] };
const schema = { type: 'object', properties: { city, days: { type: 'integer' } }, required: ['city', 'days'] };
const parameters = { ...schema, additionalProperties: false };
const weather = { type: 'function' as const, function: { name: 'weather', parameters, strict: true } };
const time = { type: 'function' as const, function: { name: 'time', parameters: { type: 'object', properties: {} } } };
const messages = [{ role: 'user' as const, content: 'A cup costs 6 dollars.' }];
const request = { model: 'toy', messages, seed: 5, max_tokens: 200 };

const client = async (template?: string, system = 'autoregressive'): Promise<Client> => {
  const engine = await toyTextEngine(1024, [], template);
  return new Client({ apiKey: '-', fetch: openaiFetch(openai(engine, { system })), maxRetries: 0 });
};

describe.each([undefined, HERMES_TEMPLATE])('tools, template %#', (template) => {
  it('are called where they must be, and the same under an exact system', async () => {
    const asked = {
      ...request,
      tools: [weather, time],
      tool_choice: { type: 'function' as const, function: { name: 'weather' } },
      parallel_tool_calls: false,
    };
    const answer = await (await client(template)).chat.completions.create(asked);
    const [choice] = answer.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call, ...others] = choice?.message.tool_calls ?? [];
    expect(others).toEqual([]);
    if (call?.type !== 'function') throw new Error('no function was called');
    expect(call).toMatchObject({ id: expect.stringMatching(/^\w{9}$/), function: { name: 'weather' } });
    const own = JSON.parse(call.function.arguments);
    expect(['Rome', 'Oslo']).toContain(own.city);
    expect(Number.isInteger(own.days)).toBe(true);
    const again = await (await client(template, 'prompt-lookup')).chat.completions.create(asked);
    expect(again.choices[0]?.message.tool_calls).toMatchObject([{ function: call.function }]);
  });

  it('are streamed by name and pieces of arguments, and their results are read', async () => {
    const own = await client(template);
    const asked = { ...request, tools: [weather], tool_choice: 'required' as const, parallel_tool_calls: false };
    const deltas: object[] = [];
    const stream = own.chat.completions.stream(asked);
    stream.on('chunk', ({ choices }) => deltas.push(...(choices[0]?.delta.tool_calls ?? [])));
    const whole = await stream.finalChatCompletion();
    const [call] = whole.choices[0]?.message.tool_calls ?? [];
    expect(deltas[0]).toEqual({
      index: 0,
      id: call?.id,
      type: 'function',
      function: { name: 'weather', arguments: '' },
    });
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas[1]).toEqual({ index: 0, function: { arguments: expect.any(String) } });
    if (call?.type !== 'function') throw new Error('no function was called');
    const [unstreamed] = (await own.chat.completions.create(asked)).choices[0]?.message.tool_calls ?? [];
    expect(unstreamed).toMatchObject({ function: { name: 'weather', arguments: call.function.arguments } });
    const history = [
      ...messages,
      { role: 'assistant' as const, content: null, tool_calls: [call] },
      { role: 'tool' as const, tool_call_id: call.id, content: '{"sky": "clear"}' },
    ];
    const answer = await own.chat.completions.create({
      ...request,
      messages: history,
      tools: [weather],
      max_tokens: 8,
    });
    expect(answer.usage?.prompt_tokens).toBeGreaterThan(20);
    const wrong = history.map((message) => (message.role === 'tool' ? { ...message, tool_call_id: 'other' } : message));
    await expect(own.chat.completions.create({ ...request, messages: wrong })).rejects.toMatchObject({
      status: 400,
      param: 'messages[1].tool_calls',
    });
  });
});

it('calls several functions in one answer, or one where only one is wanted', async () => {
  const own = await client(HERMES_TEMPLATE);
  const counts: number[] = [];
  for (let seed = 0; seed < 6; seed++) {
    const asked = { ...request, seed, tools: [weather, time], tool_choice: 'required' as const };
    const { choices } = await own.chat.completions.create(asked);
    const calls = choices[0]?.message.tool_calls ?? [];
    counts.push(calls.length);
    if (choices[0]?.finish_reason === 'tool_calls' && choices[0].message.content === null) {
      expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
      for (const call of calls)
        if (call.type === 'function' && call.function.name === 'time') expect(call.function.arguments).toBe('{}');
    }
    const single = await own.chat.completions.create({ ...asked, parallel_tool_calls: false });
    expect(single.choices[0]?.message.tool_calls).toHaveLength(1);
  }
  expect(Math.max(...counts)).toBeGreaterThan(1);
});

it('a call that the budget cuts before its name is known is no text', async () => {
  const own = await client(HERMES_TEMPLATE);
  const asked = { ...request, tools: [weather], tool_choice: 'required' as const, max_tokens: 5 };
  const [cut] = (await own.chat.completions.create(asked)).choices;
  expect([cut?.finish_reason, cut?.message.content, cut?.message.tool_calls]).toEqual(['length', '', undefined]);
});

it('a response format is that of an answer without calls, so it changes none that must be a call', async () => {
  const own = await client(HERMES_TEMPLATE);
  const format = { type: 'json_schema' as const, json_schema: { name: 'trip', schema: { type: 'object' } } };
  const asked = { ...request, tools: [weather], tool_choice: 'required' as const, parallel_tool_calls: false };
  const [plain] = (await own.chat.completions.create(asked)).choices;
  const [formatted] = (await own.chat.completions.create({ ...asked, response_format: format })).choices;
  expect(formatted?.finish_reason).toBe('tool_calls');
  const functions = [plain, formatted].map((choice) =>
    choice?.message.tool_calls?.map((call) => ({ ...call, id: '' })),
  );
  expect(functions[1]).toEqual(functions[0]);
});

it('strict functions keep their schema with auto, others do not', async () => {
  const engine = await toyTextEngine(1024, [], HERMES_TEMPLATE);
  // The toy writes nonsense, so its answer is begun for it: with a call of this function.
  const begin = '<tool_call>\n{"name": "weather", "arguments": ';
  const written = async (strict: boolean): Promise<string> => {
    const functions = [{ name: 'weather', parameters, strict }];
    const asked = { prompt: { messages, begin }, tools: { functions }, maxTokens: 60, temperature: 1, seed: 3 };
    let text = '';
    for await (const event of engine.run(asked)) if (event.type === 'done') text = event.text ?? '';
    return text;
  };
  expect(await written(true)).toMatch(/^\{"city": "(Rome|Oslo)", "days": /);
  expect(await written(false)).not.toMatch(/^\{"city": "(Rome|Oslo)", "days": /);
});

it('a budget that ends inside an object is finish_reason length, for every client', async () => {
  const own = await client();
  const format = { type: 'json_schema' as const, json_schema: { name: 'trip', schema: parameters, strict: true } };
  const cut = await own.chat.completions.create({ ...request, max_tokens: 3, response_format: format });
  expect(cut.choices[0]?.finish_reason).toBe('length');
  expect(() => JSON.parse(cut.choices[0]?.message.content ?? '')).toThrow();
  const parsed = own.chat.completions.parse({ ...request, max_tokens: 3, response_format: format });
  await expect(parsed).rejects.toBeInstanceOf(LengthFinishReasonError);
});

it('writes what a response format wants, and parses it', async () => {
  const own = await client();
  const format = { type: 'json_schema' as const, json_schema: { name: 'trip', schema: parameters, strict: true } };
  const answer = await own.chat.completions.parse({ ...request, response_format: format });
  expect(['Rome', 'Oslo']).toContain(JSON.parse(answer.choices[0]?.message.content ?? '').city);
  const refused = own.chat.completions.create({
    ...request,
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { not: {} } } },
  });
  await expect(refused).rejects.toThrow(BadRequestError);
  await expect(refused).rejects.toMatchObject({ param: 'response_format' });
  await expect(own.embeddings.create({ model: 'toy', input: 'x' })).rejects.toThrow(APIError);
  expect((await own.models.list()).data[0]?.id).toBe('outrider');
});

it('is asked once where the engine fails: the client repeats what a server fails at', async () => {
  const engine = await toyTextEngine();
  let asked = 0;
  engine.run = () => {
    asked++;
    throw new OutriderError('out-of-memory', 'the cache does not fit', 'Use q8.');
  };
  const repeating = new Client({ apiKey: '-', fetch: openaiFetch(openai(engine)) });
  const refused = repeating.chat.completions.create(request);
  await expect(refused).rejects.toMatchObject({ status: 500, code: 'out-of-memory' });
  expect(asked).toBe(1);
});

describe('reasoning', () => {
  const think = { ...request, max_tokens: 40 };

  it('ends at its budget, exactly, under every exact system', async () => {
    const answers: unknown[] = [];
    const tokenizer = await bundledTokenizer();
    const close = tokenizer.encode('</think>');
    for (const system of ['autoregressive', 'prompt-lookup', 'suffix-decoding']) {
      const engine = await toyTextEngine(1024, [], REASONING_TEMPLATE);
      const events: TraceEvent[] = [];
      const outrider = { system, reasoning_budget: 7, onEvent: (event: TraceEvent) => void events.push(event) };
      const answer = await openai(engine).chat.completions.create({ ...think, outrider });
      const { message } = answer.choices[0] as NonNullable<(typeof answer.choices)[0]>;
      expect(message.reasoning_content).toBeTruthy();
      expect(message.content).not.toContain('think>');
      const written = committedTokens(events);
      expect(written.slice(7, 7 + close.length)).toEqual(close);
      expect(tokenizer.decode(written.slice(0, 7))).not.toContain('</think>');
      answers.push(message);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('comes before a constrained answer, and can be switched off', async () => {
    const own = openai(await toyTextEngine(1024, [], REASONING_TEMPLATE)).chat.completions;
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'trip', schema: parameters } };
    const asked = { ...think, max_tokens: 200, response_format };
    const answer = await own.create({ ...asked, outrider: { reasoning_budget: 5 } });
    expect(answer.choices[0]?.message.reasoning_content).toBeTruthy();
    expect(['Rome', 'Oslo']).toContain(JSON.parse(answer.choices[0]?.message.content ?? '').city);
    const off = await own.create({ ...asked, reasoning_effort: 'none' });
    expect(off.choices[0]?.message.reasoning_content).toBeUndefined();
    expect(['Rome', 'Oslo']).toContain(JSON.parse(off.choices[0]?.message.content ?? '').city);
  });

  it('of earlier answers is left out, and everything before it is not read again', async () => {
    const engine = await toyTextEngine(1024, [], REASONING_TEMPLATE);
    const own = openai(engine).chat.completions;
    const outrider = { reasoning_budget: 6 };
    const first = await own.create({ ...think, outrider });
    const { content, reasoning_content } = first.choices[0]?.message ?? {};
    const second = await own.create({
      ...think,
      messages: [
        ...messages,
        { role: 'assistant', content: content ?? '', reasoning_content: reasoning_content ?? '' },
        { role: 'user', content: 'And two?' },
      ],
      outrider,
    });
    // The prompts part where the first answer began to think: the template writes no reasoning there.
    const shared = first.usage.prompt_tokens;
    const cached = second.usage.prompt_tokens_details.cached_tokens;
    expect(cached).toBeGreaterThan(0);
    expect(cached).toBeLessThanOrEqual(shared);
    expect(shared - cached).toBeLessThanOrEqual(8); // `<think>` and its line break, in the tokens of this vocabulary
  });
});

it('scores the tokens of the text alone: none of a stop string, of reasoning or of calls', async () => {
  const plain = openai(await toyTextEngine(1024)).chat.completions;
  const scored = { ...request, max_tokens: 24, logprobs: true };
  const tokensOf = ({ choices }: ChatCompletion) => choices[0]?.logprobs?.content.map(({ token }) => token) ?? [];
  const whole = await plain.create(scored);
  const stopped = await plain.create({ ...scored, stop: whole.choices[0]?.message.content?.slice(8, 15) ?? null });
  expect(tokensOf(stopped)).toEqual(tokensOf(whole).slice(0, 6)); // the last one reaches into the stop string

  const thinking = openai(await toyTextEngine(1024, [], REASONING_TEMPLATE)).chat.completions;
  const thought = { ...scored, outrider: { reasoning_budget: 6 } };
  const answer = await thinking.create(thought);
  const said = answer.choices[0]?.message.content;
  expect(answer.choices[0]?.message.reasoning_content).toBeTruthy();
  expect(said).toBeTruthy();
  expect(tokensOf(answer).join('')).toBe(said);
  expect(answer.usage.completion_tokens_details.reasoning_tokens).toBe(6); // the closing tag has several tokens
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of await thinking.create({ ...thought, stream: true })) chunks.push(chunk);
  const deltas = chunks.map(({ choices }) => choices[0]);
  expect(deltas.flatMap((choice) => choice?.logprobs?.content.map(({ token }) => token) ?? []).join('')).toBe(said);
  expect(deltas.filter((choice) => choice?.delta.content === '' && choice.logprobs)).toEqual([]);

  const calling = openai(await toyTextEngine(1024, [], HERMES_TEMPLATE)).chat.completions;
  const call = { ...request, logprobs: true, tools: [weather], tool_choice: 'required' } as const;
  const [called] = (await calling.create({ ...call, parallel_tool_calls: false })).choices;
  expect([called?.finish_reason, called?.message.content, called?.logprobs]).toEqual(['tool_calls', null, null]);
  // A stop string within a call cuts it: there is nothing to call.
  const [cut] = (await calling.create({ ...call, stop: ['city"'] })).choices;
  expect([cut?.finish_reason, cut?.message.tool_calls?.length]).toEqual(['stop', 1]);
});
