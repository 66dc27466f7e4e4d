// OpenAI's shape over a toy model that writes bundled tokens; the last test streams an answer of a real model.
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest';
import { createEngine, type Engine } from '../engine/engine.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { draftEngine, toyTextEngine } from '../testing/toys/text-engine.ts';
import { committedTokens, type TraceEvent } from '../trace/index.ts';
import { createOutrider } from './ai-sdk.ts';
import { APIError, type ChatCompletion, type ChatCompletionChunk, openai, type Stream } from './openai.ts';
import { promptApi } from './prompt-api.ts';

afterAll(async () => (await testGpu()).destroy());

const messages = [{ role: 'user', content: 'A cup costs 6 dollars.' }] as const;
const request = { messages, seed: 5, max_tokens: 24 };

const list = async <Item>(stream: AsyncIterable<Item>): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
};

const refusal = async (answer: Promise<unknown>): Promise<APIError> => {
  const error = await answer.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
};

describe('chat.completions.create', () => {
  it('answers as the engine does', async () => {
    const engine = await toyTextEngine();
    const done = (await list(engine.run({ prompt: { messages }, temperature: 1, seed: 5, maxTokens: 24 }))).at(-1);
    const answer = await openai(engine).chat.completions.create({ ...request, model: 'mine' });
    expectTypeOf(answer).toEqualTypeOf<ChatCompletion>();
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'mine',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null }, logprobs: null, finish_reason: 'length' }],
      usage: { completion_tokens: 24, total_tokens: answer.usage.prompt_tokens + 24 },
      outrider: [{ system: 'autoregressive', seed: 5, metrics: { tokens: 24 } }],
    });
    expect(answer.choices[0]?.message.content).toBe((done as { text: string }).text);
    expect(answer.id).toMatch(/^chatcmpl-/);
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(60);
  });

  it('streams the same answer: a role, the text in parts, a reason; usage last and only when asked for', async () => {
    const { create } = openai(await toyTextEngine()).chat.completions;
    const whole = await create(request);
    const stream = await create({ ...request, stream: true, stream_options: { include_usage: true } });
    expectTypeOf(stream).toEqualTypeOf<Stream<ChatCompletionChunk>>();
    const chunks = await list(stream);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(chunks.length).toBeGreaterThan(10);
    expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'length' }], usage: null });
    const { completion_tokens } = whole.usage;
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    const plain = await list(await create({ ...request, stream: true }));
    expect(plain.every((chunk) => !('usage' in chunk))).toBe(true);
    expect(plain).toHaveLength(chunks.length - 1);
  });

  it('writes n choices with seeds that follow each other', async () => {
    const { create } = openai(await toyTextEngine()).chat.completions;
    const three = await create({ ...request, n: 3 });
    const apart = await Promise.all([5, 6, 7].map((seed) => create({ ...request, seed })));
    expect(three.choices.map(({ message }) => message)).toEqual(apart.map(({ choices }) => choices[0]?.message));
    expect(new Set(three.choices.map(({ message }) => message.content)).size).toBe(3);
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(three.usage).toMatchObject({ prompt_tokens: apart[0]?.usage.prompt_tokens, completion_tokens: 72 });
  });

  it('scores tokens: their texts add up to the answer, and the end token is not among them', async () => {
    const events = await list(
      (await toyTextEngine()).run({ prompt: { messages }, temperature: 1, seed: 5, maxTokens: 9 }),
    );
    const stop = committedTokens(events).at(-1) ?? -1;
    const { create } = openai(await toyTextEngine(256, [stop])).chat.completions;
    const params = { messages, seed: 5, logprobs: true, top_logprobs: 2 };
    const answer = await create(params);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    const scored = answer.choices[0]?.logprobs?.content ?? [];
    expect(scored).toHaveLength(answer.usage.completion_tokens - 1);
    const bytes = scored.flatMap((token) => token.bytes ?? []);
    expect(bytes.length).toBeGreaterThan(0);
    for (const { logprob, top_logprobs } of scored) {
      expect(top_logprobs).toHaveLength(2);
      expect(logprob).toBeLessThanOrEqual(top_logprobs[0]?.logprob ?? Number.NEGATIVE_INFINITY);
    }
    const stream = await create({ ...params, stream: true });
    const streamed = (await list(stream)).flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
    expect(streamed).toEqual(scored);
  });

  it('is refused without an engine, as the other interfaces are', async () => {
    const options = { models: { target: 'draft' } };
    for (const none of [undefined, Promise.resolve()] as unknown as Engine[])
      for (const ask of [openai, createOutrider, (engine: Engine) => promptApi(engine, options)])
        expect(() => ask(none)).toThrow(/^an engine is needed, not /);
  });

  it('stops at strings, takes parts and null, and reads our own words under one key', async () => {
    const engine = await toyTextEngine();
    const { create } = openai(engine, { system: 'prompt-lookup' }).chat.completions;
    const whole = (await create(request)).choices[0]?.message.content ?? '';
    const events: TraceEvent[] = [];
    const answer = await create({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'A cup costs ' },
            { type: 'text', text: '6 dollars.' },
          ],
        },
      ],
      seed: 5,
      max_completion_tokens: 24,
      stop: whole.slice(8, 11),
      top_p: null,
      frequency_penalty: 0,
      response_format: { type: 'text' },
      reasoning_effort: 'none',
      store: false,
      user: 'somebody',
      metadata: { page: 'shop' },
      service_tier: 'auto',
      parallel_tool_calls: true,
      outrider: { knobs: { 'fall-back': 'off' }, onEvent: (event) => events.push(event) },
    });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: whole.slice(0, 8) } });
    expect(answer.outrider[0]).toMatchObject({ system: 'prompt-lookup', knobs: { 'fall-back': 'off' } });
    expect(committedTokens(events)).toHaveLength(answer.usage.completion_tokens);
    const undecided = await create({ ...request, outrider: { system: undefined } });
    expect(undecided.outrider[0]?.system).toBe('prompt-lookup');
    const listed = await create({ ...request, stop: ['never said', whole.slice(8, 11)] });
    expect(listed.choices).toEqual(answer.choices);
    expect((await create({ ...request, stop: [] })).choices[0]?.message.content).toBe(whole);
    const greedy = await create({ ...request, outrider: { top_k: 1 } });
    expect(greedy.choices).toEqual((await create({ ...request, temperature: 0 })).choices);
  });

  it('ends a stream on abort, and frees the engine even when the stream is not read', async () => {
    const { create } = openai(await toyTextEngine(4096)).chat.completions;
    const stream = await create({ messages, max_tokens: 3000, stream: true });
    let seen = 0;
    for await (const _ of stream) if (++seen === 4) stream.controller.abort();
    expect(seen).toBeLessThan(3000);
    const unread = new AbortController();
    await create({ messages, max_tokens: 3000, stream: true }, { signal: unread.signal });
    const waiting = await create({ ...request, stream: true });
    unread.abort();
    expect((await list(waiting)).length).toBeGreaterThan(10);
    const late = await create({ messages, max_tokens: 3000, stream: true }, { signal: AbortSignal.abort() });
    const left = await create({ messages, max_tokens: 3000, stream: true });
    for await (const _ of left) break;
    expect(await list(late)).toHaveLength(1); // the role
    expect((await create(request)).choices).toHaveLength(1);
  });

  it('takes any whole number for a seed, and reports what the engine took', async () => {
    const { create } = openai(await toyTextEngine()).chat.completions;
    const asked = await create(request);
    for (const seed of [5 - 2 ** 32, 5 + 2 ** 40]) {
      const { choices, outrider } = await create({ ...request, seed });
      expect([choices, outrider[0]?.seed]).toEqual([asked.choices, 5]);
    }
    expect((await create({ ...request, seed: -(2 ** 63) })).outrider[0]?.seed).toBe(0);
    const last = await create({ ...request, n: 2, seed: -1 });
    expect(last.outrider.map(({ seed }) => seed)).toEqual([2 ** 32 - 1, 0]);
  });

  it('fails where the engine is closed under it, whole and streamed', async () => {
    for (const isStreamed of [false, true]) {
      const engine = await toyTextEngine(4096);
      const onEvent = ({ type }: TraceEvent) => type === 'commit' && void engine.close();
      const { create } = openai(engine, { onEvent }).chat.completions;
      const asked = { messages, max_tokens: 3000 };
      const answer = isStreamed ? create({ ...asked, stream: true }).then(list) : create(asked);
      expect(await refusal(answer)).toMatchObject({
        status: 500,
        type: 'server_error',
        code: 'aborted',
        message: expect.stringContaining('the engine was closed'),
      });
    }
  });

  it('throws an abort where there is no stream', async () => {
    const { create } = openai(await toyTextEngine()).chat.completions;
    const signal = AbortSignal.abort();
    expect(await refusal(create({ ...request, signal }))).toMatchObject({ type: 'aborted', status: undefined });
    expect(await refusal(create(request, { signal }))).toMatchObject({ type: 'aborted', status: undefined });
  });

  it("refuses in OpenAI's words what it cannot do", async () => {
    const { create } = openai(await toyTextEngine()).chat.completions;
    const cases: [Partial<Parameters<typeof create>[0]>, string | null, string | null][] = [
      [{ presence_penalty: 2.5 }, 'presence_penalty', null],
      [{ frequency_penalty: '1' as unknown as number }, 'frequency_penalty', null],
      [{ logit_bias: { 50256: -100 } }, 'logit_bias', null],
      [{ logit_bias: { 7: 101 } }, 'logit_bias', null],
      [{ outrider: { repetition_penalty: 0 } }, 'outrider.repetition_penalty', null],
      [{ outrider: { min_tokens: 99 } }, 'outrider.min_tokens', null],
      [{ tools: [{ type: 'function' }] as never }, 'tools[0].function', null],
      [{ tools: [{ type: 'custom', custom: { name: 'f' } }] as never }, 'tools[0].type', 'unsupported_parameter'],
      [{ tools: [{ type: 'function', function: { name: 'two words' } }] }, 'tools[0].function.name', null],
      [{ tool_choice: 'required' }, 'tool_choice', null],
      [{ response_format: { type: 'grammar' } as never }, 'response_format.type', null],
      [
        { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { not: {} } } } },
        'response_format',
        null,
      ],
      [{ reasoning_effort: 'high' }, 'reasoning_effort', 'unsupported_parameter'],
      [{ max_token: 5 } as object, 'max_token', 'unknown_parameter'],
      [{ top_k: 5 } as object, 'top_k', 'unknown_parameter'],
      [{ outrider: { sistem: 'cos' } as object }, 'outrider.sistem', 'unknown_parameter'],
      [{ n: 0 }, 'n', null],
      [{ max_completion_tokens: 0 }, 'max_completion_tokens', null],
      [{ max_tokens: 0 }, 'max_tokens', null],
      [{ top_p: 2 }, 'top_p', null],
      [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs', null],
      [{ logprobs: 3 as unknown as boolean }, 'logprobs', null],
      [{ stop: [7] as unknown as string[] }, 'stop', null],
      [{ stop: '' }, 'stop', null],
      [{ stop: ['END', ''] }, 'stop', null],
      [{ seed: 1.5 }, 'seed', null],
      [{ top_logprobs: 3 }, 'top_logprobs', null],
      [{ messages: [] }, 'messages', null],
      [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id', null],
      [{ messages: [{ role: 'nurse' as 'user', content: 'x' }] }, 'messages[0].role', null],
      [
        { messages: [{ role: 'user', content: [{ type: 'image_url' as 'text', text: '' }] }] },
        'messages[0].content',
        null,
      ],
      [{ temperature: -1 }, 'temperature', null],
      [{ outrider: { system: 'psychic' } }, 'outrider.system', null],
      [{ max_tokens: 1000 }, 'messages', 'context_length_exceeded'],
    ];
    for (const [params, param, code] of cases)
      for (const stream of [false, true]) {
        const error = await refusal(create({ ...request, ...params, stream }));
        expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param, code });
        expect(error.message).toBe(error.error.message);
      }
    const [message] = messages;
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: {} } };
    const strange: [object, string][] = [
      [{ stream: 'false' }, 'stream'],
      [{ stream: true, stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
      [{ model: 7 }, 'model'],
      [{ signal: {} }, 'signal'],
      [{ seed: 5n }, 'seed'],
      [{ n: Symbol('n') }, 'n'],
      [{ top_logprobs: 'three' }, 'top_logprobs'],
      [{ logit_bias: { 7: Object.create(null) } }, 'logit_bias'],
      [{ constructor: 1 }, 'constructor'],
      [{ outrider: 7 }, 'outrider'],
      [{ outrider: { onEvent: 'log' } }, 'outrider.onEvent'],
      [{ outrider: { reasoning: 'yes' } }, 'outrider.reasoning'],
      [{ outrider: { bad_words: [new Array(1)] } }, 'outrider.bad_words'],
      [{ messages: [null] }, 'messages[0]'],
      [{ messages: new Array(1) }, 'messages[0]'],
      [{ messages: [message, { ...message, content: null }] }, 'messages[1].content'],
      [{ messages: [{ ...message, content: [{ type: 'text', text: 5 }] }] }, 'messages[0].content'],
      [{ messages: [{ role: 'assistant', content: 'a', reasoning_content: 5 }] }, 'messages[0].reasoning_content'],
      [{ messages: [{ role: 'assistant', content: 'a', tool_calls: {} }] }, 'messages[0].tool_calls'],
      [{ messages: [{ role: 'assistant', tool_calls: [call] }] }, 'messages[0].tool_calls[0]'],
    ];
    for (const [params, param] of strange)
      expect(await refusal(create({ ...request, ...params }))).toMatchObject({ status: 400, param });
    expect(await refusal(create(null as never))).toMatchObject({ status: 400, message: /must be an object/ });
    expect(await refusal(create({ prompt: 'a' } as never))).toMatchObject({ status: 400, param: 'prompt' });
    expect(await refusal(create({} as never))).toMatchObject({ status: 400, param: 'messages' });
    const unstreamed = await refusal(create({ ...request, stream_options: { include_usage: true } }));
    expect(unstreamed).toMatchObject({ status: 400, param: 'stream_options' });
    const error = await refusal(openai(createEngine()).chat.completions.create(request));
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('no model is loaded') });
  });
});

describe('completions.create', () => {
  it('continues a text or tokens, streamed or not, with scores in the old form', async () => {
    const engine = await toyTextEngine();
    const { create } = openai(engine).completions;
    const params = { prompt: 'Eva has 3 cups.', seed: 4, max_tokens: 12, logprobs: 3 };
    const whole = await create(params);
    const [choice] = whole.choices;
    expect(whole).toMatchObject({ object: 'text_completion', choices: [{ index: 0, finish_reason: 'length' }] });
    expect(choice?.logprobs?.tokens).toHaveLength(12);
    expect(choice?.logprobs?.token_logprobs.every((score) => score !== null && score <= 0)).toBe(true);
    // Of tokens with one text there is one; a token that was drawn is always there, so there may be four.
    for (const [i, top] of choice?.logprobs?.top_logprobs.entries() ?? []) {
      expect(top).toHaveProperty([choice?.logprobs?.tokens[i] ?? '']);
      expect(Object.keys(top ?? {}).length).toBeLessThanOrEqual(4);
    }
    const chunks = await list(await create({ ...params, stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.text).join('')).toBe(choice?.text);
    const [run] = await list(engine.run({ prompt: { text: params.prompt }, maxTokens: 1 }));
    const prompt = (run as { prompt: readonly number[] }).prompt;
    expect((await create({ ...params, prompt })).choices).toEqual(whole.choices);
    // Some clients write a list of prompts, though they have one.
    for (const one of [[params.prompt], [prompt]] as const)
      expect((await create({ ...params, prompt: one })).choices).toEqual(whole.choices);
  });

  it('echoes the prompt, with the scores of its tokens where scores are asked for', async () => {
    const engine = await toyTextEngine();
    const { create } = openai(engine).completions;
    const params = { prompt: 'Eva has 3 cups.', seed: 4, max_tokens: 6 };
    const [plain] = (await create(params)).choices;
    const [echoed] = (await create({ ...params, echo: true, logprobs: 2 })).choices;
    expect(echoed?.text).toBe(params.prompt + plain?.text);
    const { tokens, token_logprobs, top_logprobs } = echoed?.logprobs ?? {};
    expect(tokens?.join('')).toBe(echoed?.text);
    expect(token_logprobs?.[0]).toBeNull();
    // A prompt's token has the score that it would have as an answer.
    const [run] = await list(engine.run({ prompt: { text: params.prompt }, maxTokens: 1 }));
    const { prompt } = run as { prompt: readonly number[] };
    const [bias, half] = [{ [prompt[4] as number]: 100 }, prompt.slice(0, 4)];
    const [forced] = (await create({ prompt: half, max_tokens: 1, temperature: 0, logprobs: 2 })).choices;
    const [likeliest, own] = [forced?.logprobs?.top_logprobs[0], { [tokens?.[4] ?? '']: token_logprobs?.[4] }];
    expect(Object.keys(likeliest ?? {})).toHaveLength(2);
    expect(top_logprobs?.[4]).toEqual({ ...likeliest, ...own });
    expect(top_logprobs?.[0]).toBeNull();
    expect((await create({ prompt: half, max_tokens: 1, logit_bias: bias })).choices[0]?.text).toBe(tokens?.[4]);
    const chunks = await list(await create({ ...params, prompt, echo: true, stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.text).join('')).toBe(echoed?.text);
  });

  it('with an echo and no token to write, scores the prompt alone', async () => {
    const { create } = openai(await toyTextEngine()).completions;
    const params = { prompt: 'Eva has 3 cups.', seed: 4, echo: true, logprobs: 2 };
    const [longer] = (await create({ ...params, max_tokens: 2 })).choices;
    const alone = await create({ ...params, max_tokens: 0 });
    const count = alone.usage.prompt_tokens;
    expect(alone.usage).toMatchObject({ completion_tokens: 0, total_tokens: count });
    const { tokens = [], token_logprobs = [], top_logprobs = [] } = longer?.logprobs ?? {};
    expect(tokens).toHaveLength(count + 2);
    expect(alone.choices).toEqual([
      {
        index: 0,
        text: params.prompt,
        finish_reason: 'length',
        logprobs: {
          tokens: tokens.slice(0, count),
          token_logprobs: token_logprobs.slice(0, count),
          top_logprobs: top_logprobs.slice(0, count),
        },
      },
    ]);
    const chunks = await list(await create({ ...params, logprobs: null, max_tokens: 0, stream: true }));
    expect(chunks.map(({ choices }) => [choices[0]?.text, choices[0]?.logprobs])).toEqual([
      [params.prompt, null],
      ['', null],
    ]);
  });

  it('names its own parameters in errors', async () => {
    const { create } = openai(await toyTextEngine()).completions;
    const cases: [object, string, string | null][] = [
      [{ logprobs: 21 }, 'logprobs', null],
      [{ logprobs: 'yes' }, 'logprobs', null],
      [{ echo: true, logprobs: 21 }, 'logprobs', null],
      [{ echo: 0 }, 'echo', null],
      [{ max_tokens: 0 }, 'max_tokens', null],
      [{ max_tokens: -1, echo: true }, 'max_tokens', null],
      [{ max_tokens: 1000 }, 'prompt', 'context_length_exceeded'],
      [{ prompt: '' }, 'prompt', null],
      [{ prompt: [9999] }, 'prompt', null],
      [{ prompt: new Array(2) }, 'prompt', null],
      [{ prompt: ['Eva', 'Ida'] }, 'prompt', null],
      [{ prompt: [['Eva']] }, 'prompt', null],
      [{ messages }, 'messages', 'unknown_parameter'],
    ];
    for (const [params, param, code] of cases)
      expect(await refusal(create({ prompt: 'Eva', ...params }))).toMatchObject({ status: 400, param, code });
  });

  it('says that onEvent failed where it throws', async () => {
    const onEvent = () => {
      throw new TypeError('x is undefined');
    };
    const { create } = openai(await toyTextEngine(), { onEvent }).completions;
    expect(await refusal(create({ prompt: 'Eva' }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('onEvent threw: x is undefined'),
    });
  });

  it('writes best_of answers and keeps the n most probable', async () => {
    const { create } = openai(await toyTextEngine()).completions;
    const params = { prompt: 'Eva has 3 cups.', seed: 4, max_tokens: 6 };
    const five = (await create({ ...params, n: 5, logprobs: 0 })).choices;
    const mean = ({ logprobs }: (typeof five)[number]): number =>
      (logprobs?.token_logprobs ?? []).reduce<number>((sum, score) => sum + (score ?? 0), 0) / 6;
    const sorted = five.toSorted((a, b) => mean(b) - mean(a)).map(({ text }) => text);
    const { choices: kept, usage } = await create({ ...params, n: 2, best_of: 5 });
    expect(usage.completion_tokens).toBe(5 * 6);
    expect(kept.map(({ text }) => text)).toEqual(sorted.slice(0, 2));
    expect(kept.map(({ index, logprobs }) => [index, logprobs])).toEqual([
      [0, null],
      [1, null],
    ]);
    expect(await refusal(create({ ...params, n: 3, best_of: 2 }))).toMatchObject({ param: 'best_of' });
    expect(await refusal(create({ ...params, best_of: 2, stream: true }))).toMatchObject({ param: 'best_of' });
    expect(await refusal(create({ ...params, echo: 'yes' as unknown as boolean }))).toMatchObject({ param: 'echo' });
  });
});

it('streams an answer of a real model', async () => {
  const engine = await draftEngine(await testGpu());
  const content = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
  const stream = await openai(engine, { system: 'prompt-lookup' }).chat.completions.create({
    messages: [{ role: 'user', content }],
    temperature: 0,
    stream: true,
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toContain('The answer is 84.');
  await engine.close();
});
