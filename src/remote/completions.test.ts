// Against a real server in this process: what it writes, and every way in which it may fail.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { type CompletionsTestServer, script, serveCompletions } from '../testing/servers/completions-server.ts';
import { type Completion, type CompletionRequest, CompletionsServer } from './completions.ts';
import { retryAfter } from './failures.ts';
import type { Timing } from './post.ts';
import { remote } from './server.ts';

const KEY = 'sk-very-secret';
const PROMPT = 'Q: 6 + 7?\n';
const PIECES = ['6', ' and', ' 7', ' are', ' 1', '3', '.', '\n', '\nThat', ' is', ' all', '.'];
const STEP = '6 and 7 are 13.\n\n';
const says = script(PROMPT, PIECES);

let server: CompletionsTestServer;
beforeAll(async () => {
  server = await serveCompletions();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.asked.length = 0;
  server.behave({ says });
});

const greedy = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 3 };
const open = (timing: Partial<Timing> = {}): CompletionsServer =>
  new CompletionsServer(remote(server.address, 'big', KEY), { backoff: 1, first: 30_000, idle: 30_000, ...timing });
const complete = (changes: Partial<CompletionRequest> = {}, client = open()): Promise<Completion> =>
  client.complete({
    prompt: PROMPT,
    delimiter: '\n\n',
    maxTokens: 50,
    sampling: greedy,
    signal: new AbortController().signal,
    ...changes,
  });
const failure = async (run: Promise<unknown>): Promise<OutriderError> => {
  const error = await run.then(
    () => new Error('it did not fail'),
    (thrown) => thrown,
  );
  if (!(error instanceof OutriderError)) throw error;
  expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toContain(KEY);
  return error;
};

/** Begins an answer, and goes on with what `begin` gives until the client has gone. */
const serveEndless = async (begin: (response: ServerResponse) => string) => {
  const http = createServer((_, response) => {
    const more = begin(response);
    const timer = setInterval(() => response.write(more), 5);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
};

describe('a step', () => {
  it('ends with its delimiter, though that came in two pieces with text after it, and the server is told to stop', async () => {
    expect(await complete()).toMatchObject({ text: STEP, finish: 'delimiter' });
    await expect.poll(() => server.asked[0]?.cancelled).toBe(true);
  });

  it('is not read past what was asked for, though the server goes on', async () => {
    server.behave({ says: () => Array<string>(50_000).fill(' word'), ignoresLimit: true });
    expect(await complete({ maxTokens: 16 })).toMatchObject({ text: ' word'.repeat(16), finish: 'length' });
    await expect.poll(() => server.asked[0]?.cancelled).toBe(true);
  });

  it('has no more text than its tokens can have', async () => {
    server.behave({ says: () => [' '.repeat(1000)] });
    expect(await complete({ maxTokens: 1 })).toMatchObject({ text: ' '.repeat(1000), finish: 'length' });
    server.behave({ says: () => [' '.repeat(1001)] });
    const error = await failure(complete({ maxTokens: 1 }));
    expect(error.message).toMatch(/more text came than 1 tokens have$/);
    expect(server.asked).toHaveLength(2);
  });

  it('may not be one event without an end', async () => {
    server.behave({ raw: { type: 'text/event-stream', body: `data: ${'x'.repeat(2 ** 21)}` } });
    expect((await failure(complete())).message).toContain('an event of the stream does not end');
  });

  it('asks with the model, the sampling and the key', async () => {
    await complete({ sampling: { temperature: 0.7, topK: 40, topP: 0.9, minP: 0.05, seed: 2 ** 31 + 5 } });
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]).toMatchObject({
      authorization: `Bearer ${KEY}`,
      body: {
        model: 'big',
        prompt: PROMPT,
        max_tokens: 50,
        stream: true,
        temperature: 0.7,
        top_p: 0.9,
        top_k: 40,
        min_p: 0.05,
        seed: 5,
      },
    });
  });

  it('switches off the filters that servers have by themselves', async () => {
    await complete({ sampling: { ...greedy, temperature: 1 } });
    expect(server.asked[0]?.body).toMatchObject({ temperature: 1, top_p: 1, top_k: 2 ** 30, min_p: 0 });
  });

  it("sends nothing beyond OpenAI's own fields for a greedy step", async () => {
    await complete();
    const fields = ['max_tokens', 'model', 'prompt', 'seed', 'stream', 'temperature', 'top_p'];
    expect(Object.keys(server.asked[0]?.body ?? {}).toSorted()).toEqual(fields);
  });

  it('is at its end, or at the limit, where the server says so', async () => {
    expect(await complete({ delimiter: '---' })).toMatchObject({ text: PIECES.join(''), finish: 'end' });
    expect(await complete({ maxTokens: 3 })).toMatchObject({ text: '6 and 7', finish: 'length' });
    server.behave();
    expect(await complete()).toEqual({ text: '', finish: 'end', firstMs: null });
  });

  it.each(['stop_reason', 'matched_stop'] as const)(
    'leaves the stopping to a server that tells by %s what stopped it',
    async (tells) => {
      server.behave({ says, tells });
      const client = open();
      expect(await complete({}, client)).toMatchObject({ text: STEP, finish: 'delimiter' });
      expect(await complete({}, client)).toMatchObject({ text: STEP, finish: 'delimiter' });
      expect(await complete({ delimiter: '---' }, client)).toMatchObject({ text: PIECES.join(''), finish: 'end' });
      expect(server.asked.map(({ body }) => body.stop)).toEqual([undefined, ['\n\n'], ['---']]);
      await expect.poll(() => server.asked.map(({ cancelled }) => cancelled)).toEqual([true, false, false]);
    },
  );
});

describe('another try', () => {
  it('continues a stream that breaks off from what has arrived, and counts the rest', async () => {
    server.behave({ says, dropAfter: 3 });
    let tries = 0;
    expect(await complete({ onTry: () => tries++ })).toMatchObject({ text: STEP, finish: 'delimiter' });
    expect(tries).toBe(3);
    expect(server.asked.map(({ body }) => [body.prompt.slice(PROMPT.length), body.max_tokens])).toEqual([
      ['', 50],
      ['6 and 7', 47],
      ['6 and 7 are 13', 44],
    ]);
    expect(await complete({ maxTokens: 6 })).toMatchObject({ text: '6 and 7 are 13', finish: 'length' });
  });

  it('draws the rest of a stream with numbers of its own', async () => {
    server.behave({ says, dropAfter: 3 });
    await complete({ sampling: { ...greedy, temperature: 1, seed: 2 ** 32 - 1 } });
    const seeds = server.asked.map(({ body }) => body.seed);
    expect(seeds[0]).toBe(2 ** 31 - 1);
    expect(new Set(seeds).size).toBe(3);
  });

  it('has the seed of the first where nothing had come', async () => {
    server.behave({ says, refusals: [{ status: 503 }] });
    await complete({ sampling: { ...greedy, temperature: 1, seed: 5 } });
    expect(server.asked.map(({ body }) => body.seed)).toEqual([5, 5]);
  });

  it('comes after 429, 500 and 503, and after as long as the server asks for', async () => {
    server.behave({
      says,
      refusals: [{ status: 503 }, { status: 500 }, { status: 429, headers: { 'retry-after': '1' } }],
    });
    const began = performance.now();
    expect(await complete()).toMatchObject({ text: STEP });
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(server.asked).toHaveLength(4);
  });

  it('does not come when the server asks to wait for longer than anybody would', async () => {
    server.behave({ refusals: [{ status: 429, headers: { 'retry-after': '3600' }, body: 'quota' }] });
    const error = await failure(complete());
    expect(error).toMatchObject({ code: 'download-failed' });
    expect(error.message).toMatch(/429: quota; it asks to wait 3600 s/);
    expect(server.asked).toHaveLength(1);
  });

  it('waits longer each time, and not for the same time twice', async () => {
    server.behave({ refusals: Array.from({ length: 4 }, () => ({ status: 500 })) });
    const began = performance.now();
    await failure(complete({}, open({ backoff: 40 })));
    expect(performance.now() - began).toBeGreaterThan((40 + 80 + 160) / 2);
  });

  it('reads both forms of Retry-After', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfter('7', now)).toBe(7000);
    expect(retryAfter('Thu, 01 Jan 2026 00:00:09 GMT', now)).toBe(9000);
    expect(retryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
    expect(retryAfter('soon', now)).toBe(0);
    expect(retryAfter(null, now)).toBe(0);
  });
});

describe('a failure', () => {
  it.each([
    [401, '{"error":{"message":"no key"}}', /401: no key$/, /OUTRIDER_REMOTE_KEY/],
    [403, '<html>Forbidden</html>', /answers 403$/, /OUTRIDER_REMOTE_KEY/],
    [404, '{"detail":"no model big"}', /404: no model big$/, /address .* name/],
    [400, '{"message":"too long"}', /400: too long$/, /^$/],
    [422, '{"detail":[{"loc":["prompt"]}]}', /422: \[\{"loc":\["prompt"\]\}\]$/, /^$/],
  ])('with status %i is not tried again and says what is wrong', async (status, body, message, hint) => {
    server.behave({ refusals: [{ status, body }] });
    const error = await failure(complete());
    expect(error.code).toBe('bad-request');
    expect(error.message).toContain(`${server.address}/v1/completions: `);
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    [429, /try again later/],
    [500, /Check/],
    [502, /Check/],
  ])('with status %i is told when four tries have not cured it', async (status, hint) => {
    server.behave({ refusals: Array.from({ length: 4 }, () => ({ status })) });
    const error = await failure(complete());
    expect(error).toMatchObject({ code: 'download-failed' });
    expect(error.message).toMatch(new RegExp(`answers ${status}, 4 times$`));
    expect(error.hint).toMatch(hint);
    expect(server.asked).toHaveLength(4);
  });

  it('is told at once when the server redirects: neither key nor text follows', async () => {
    await using elsewhere = await serveCompletions();
    server.behave({ redirect: `${elsewhere.address}/v1/completions` });
    const error = await failure(complete());
    expect(error).toMatchObject({ code: 'bad-request', hint: 'Give the address that it leads to.' });
    expect(error.message).toBe(`${server.address}/v1/completions: the server redirects`);
    expect(server.asked).toHaveLength(1);
    expect(elsewhere.asked).toEqual([]);
  });

  it('never repeats the key, though the server does', async () => {
    server.behave({ key: 'another' });
    const error = await failure(complete());
    expect(error.message).toMatch(/401: Incorrect API key: \[key\]$/);
  });

  it('is told when the stream breaks off before anything new arrives, four times', async () => {
    server.behave({ says, dropAfter: 0 });
    const error = await failure(complete());
    expect(error).toMatchObject({ code: 'download-failed' });
    expect(error.message).toMatch(/the connection broke, 4 times$/);
    expect(server.asked).toHaveLength(4);
  });

  it('is told when no server listens', async () => {
    const gone = await serveCompletions();
    await gone[Symbol.asyncDispose]();
    const client = new CompletionsServer(remote(gone.address, 'big', KEY), { backoff: 1 });
    const error = await failure(complete({}, client));
    expect(error).toMatchObject({ code: 'download-failed' });
    expect(error.message).toMatch(/no connection \(ECONNREFUSED\), 4 times/);
    expect(error.hint).toMatch(/server runs/);
  });

  it('is told once when a server takes a request and never answers', async () => {
    server.behave({ silent: true });
    const error = await failure(complete({}, open({ first: 500 })));
    expect(error).toMatchObject({ code: 'download-failed' });
    expect(error.message).toMatch(/no answer within 0.5 s$/);
    expect(server.asked).toHaveLength(1);
  });

  it('is a stream that stands still: it is continued elsewhere', async () => {
    server.behave({ says, stallAfter: 5 });
    expect(await complete({}, open({ idle: 1000 }))).toMatchObject({ text: STEP });
    expect(server.asked).toHaveLength(2);
  });

  it('is a stream that keeps alive without text, from the beginning or from a piece on', async () => {
    let asked = 0;
    await using endless = await serveEndless((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // The second answer has no text.
      response.write(`data: {"choices":[{"text":"${++asked === 1 ? '6' : ''}"}]}\n\n`);
      return ': alive\n\ndata: {"choices":[]}\n\n';
    });
    const client = new CompletionsServer(remote(endless.address, 'big'), { backoff: 1, first: 1000, idle: 50 });
    expect((await failure(complete({}, client))).message).toMatch(/no answer within 1 s$/);
    expect(asked).toBe(2);
  });

  it('may say more than is read', async () => {
    await using endless = await serveEndless((response) => {
      response.writeHead(400);
      return '!'.repeat(2 ** 12);
    });
    const error = await failure(complete({}, new CompletionsServer(remote(endless.address, 'big'))));
    expect(error.message).toMatch(/400: !{300}$/);
  });

  it.each([
    ['a page', { type: 'text/html', body: '<html>' }, /no stream of events but text\/html/],
    ['an event that is no JSON', { type: 'text/event-stream', body: 'data: {"choices"\n\n' }, /no JSON/],
    ['a number', { type: 'text/event-stream', body: 'data: 7\n\ndata: null\n\n' }, /broke off after 0/],
    ['a chat', { type: 'text/event-stream', body: 'data: {"choices":[{"delta":{}}]}\n\n' }, /no piece of a completion/],
    [
      'another end',
      { type: 'text/event-stream', body: 'data: {"choices":[{"text":"","finish_reason":"content_filter"}]}\n\n' },
      /ended the text: content_filter/,
    ],
    [
      'an error in the stream',
      { type: 'text/event-stream', body: 'data: {"error":{"message":"no memory","code":507}}\n\n' },
      /507: no memory, 4 times/,
    ],
  ])('is %s instead of a completion', async (_, raw, message) => {
    server.behave({ raw });
    const error = await failure(complete());
    expect(error).toMatchObject({ code: 'download-failed' });
    expect(error.message).toMatch(message);
  });

  it('is a request that the stream itself refuses', async () => {
    const body = 'data: {"error":{"message":"prompt too long","code":400}}\n\n';
    server.behave({ raw: { type: 'text/event-stream', body } });
    expect(await failure(complete())).toMatchObject({ code: 'bad-request' });
  });
});

describe('an abort', () => {
  it('cancels the request in the middle of the stream', async () => {
    server.behave({ says, stallAfter: 4 });
    const abort = new AbortController();
    const run = failure(complete({ signal: abort.signal }));
    await expect.poll(() => server.asked[0]?.pieces).toBe(4);
    abort.abort();
    expect(await run).toMatchObject({ code: 'aborted' });
    await expect.poll(() => server.asked[0]?.cancelled).toBe(true);
    expect(server.asked).toHaveLength(1);
  });

  it('cancels a request that is not answered, ends a wait, and comes before the first', async () => {
    server.behave({ silent: true });
    const first = new AbortController();
    setTimeout(() => first.abort(), 30);
    expect(await failure(complete({ signal: first.signal }))).toMatchObject({ code: 'aborted' });

    server.behave({ refusals: [{ status: 500 }] });
    const waiting = new AbortController();
    setTimeout(() => waiting.abort(), 50);
    const began = performance.now();
    expect(await failure(complete({ signal: waiting.signal }, open({ backoff: 60_000 })))).toMatchObject({
      code: 'aborted',
    });
    expect(performance.now() - began).toBeLessThan(2000);

    server.asked.length = 0;
    expect(await failure(complete({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
    expect(server.asked).toHaveLength(0);
  });
});
