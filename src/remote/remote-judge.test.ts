import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JudgedStep } from '../decode/core/system.ts';
import { BREAKS_OFF, type JudgeServer, nextWords, pooled, serveJudge } from '../testing/servers/judge-server.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { openRemoteJudge } from './remote-judge.ts';
import { type JudgedBy, remoteJudge } from './server.ts';

const KEY = 'sk-secret';
let server: JudgeServer;
beforeAll(async () => {
  server = await serveJudge();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.asked.length = 0;
  server.answer = () => pooled([1]);
});

/** Letters from 0; 26 is a blank line. */
const decode = (tokens: readonly number[]) =>
  tokens.map((token) => (token === 26 ? '\n\n' : String.fromCharCode(97 + token))).join('');
const reader = { name: 'toy', tokenizer: { decode } as unknown as Tokenizer, model: { context: 99 } };
const timing = { backoff: 1, first: 2000 };
const judge = (how?: JudgedBy, gives: 'reward' | 'advantage' = 'reward', first = timing.first) =>
  openRemoteJudge(remoteJudge(server.address, 'm', how, KEY), reader, gives, { ...timing, first });

const STEPS: readonly JudgedStep[] = [
  { tokens: [2, 26], by: 'draft' },
  { tokens: [3, 26], by: 'target' },
];
const ask = async (how?: JudgedBy, gives?: 'reward' | 'advantage', signal?: AbortSignal) =>
  (await judge(how, gives).open()).score([0, 1], STEPS, [[4, 26]], signal);

describe('what it is shown', () => {
  it('the problem, the steps and the candidate as text, each step with its end', async () => {
    await ask();
    const [{ path, authorization, body } = { path: '' }] = server.asked;
    expect({ path, authorization, body }).toEqual({
      path: '/pooling',
      authorization: `Bearer ${KEY}`,
      body: { model: 'm', input: 'ab\nc\nd\ne\n' },
    });
    await ask({ by: 'pooling', stepEnd: '<extra_0>' });
    expect(server.asked[1]?.body.input).toBe('ab\nc<extra_0>d<extra_0>e<extra_0>');
  });

  it('for a router, also who wrote each step', async () => {
    await ask(undefined, 'advantage');
    expect(server.asked[0]?.body.input).toBe('ab\nModel 0: c\nModel 1: d\nModel 0: e\n');
  });

  it('with a question after it, where words are asked for', async () => {
    server.answer = () => nextWords({ yes: 0.5, no: 0.5 });
    await ask({ by: 'words', words: ['no', 'yes'], question: 'Right? ' });
    expect(server.asked[0]).toMatchObject({
      path: '/v1/completions',
      body: { model: 'm', prompt: 'ab\nc\nd\ne\nRight? ', max_tokens: 1, logprobs: 5, temperature: 0 },
    });
  });
});

describe('what it says', () => {
  it.each([
    ['a value of the whole text', pooled([0.3]), 0.3],
    ['a value, flat', pooled(0.3), 0.3],
    ['rows of steps, of which the last counts', pooled([0.9, 0.1], [0.8, 0.2], [0.25, 0.75]), 0.75],
    ['classes of the whole text, flat and ordered', pooled(0.2, 0.3, 0.5), 0.65],
    ['classes that add up to more than 1, as rounded ones may', pooled([0, 1e-9, 1]), 1],
    ['the same in bfloat16', pooled([0, 0.00390625, 1]), 1],
  ])('%s', async (_, answer, score) => {
    server.answer = () => answer;
    expect((await ask())[0]).toBeCloseTo(score, 6);
  });

  it('numbers before the sigmoid or softmax, where that was said; otherwise they are refused', async () => {
    server.answer = () => pooled([-2]);
    const [reward] = await ask({ by: 'pooling', values: 'logits' });
    expect(reward).toBeCloseTo(1 / (1 + Math.E ** 2), 6);
    for (const value of [-2, 1.01]) {
      server.answer = () => pooled([value]);
      await expect(ask()).rejects.toMatchObject({ code: 'bad-request', hint: expect.stringContaining('logits') });
    }
  });

  it.each([
    ['both words', { '+': 0.6, '-': 0.2, x: 0.1 }, 0.75],
    ['one of them alone', { '+': 0.6, x: 0.1 }, 1],
    ['with a space before them', { ' +': 0.2, '+': 0.1, ' -': 0.3 }, 0.5],
  ])('the next word: %s', async (_, words, score) => {
    server.answer = () => nextWords(words);
    expect((await ask({ by: 'words' }))[0]).toBeCloseTo(score, 6);
  });

  it("the next word, as llama.cpp's llama-server tells it", async () => {
    const top_logprobs = [
      { id: 5, token: ' +', bytes: [32, 43], logprob: Math.log(0.3) },
      { id: 6, token: '-', bytes: [45], logprob: Math.log(0.1) },
      { id: 7, token: '?', bytes: [63], logprob: -3.4e38 },
    ];
    server.answer = () => ({ choices: [{ text: ' +', logprobs: { content: [{ token: ' +', top_logprobs }] } }] });
    expect((await ask({ by: 'words' }))[0]).toBeCloseTo(0.75, 6);
  });

  it('no probability for a word whose log-probability is null, as JSON has -Infinity', async () => {
    server.answer = () => nextWords({ '+': 0.6, '-': 0 });
    expect((await ask({ by: 'words' }))[0]).toBe(1);
  });

  it('a score for every candidate', async () => {
    server.answer = ({ body }) => pooled([String(body.input).endsWith('e\n') ? 0.1 : 0.9]);
    const cursor = await judge().open();
    expect(await cursor.score([0, 1], [], [[4, 26], [5]])).toEqual([0.1, 0.9]);
  });
});

describe('when it fails', () => {
  it('tries again what may pass, and says after how many tries it did not', async () => {
    server.answer = () => (server.asked.length < 3 ? 503 : pooled([0.5]));
    expect(await ask()).toEqual([0.5]);
    server.asked.length = 0;
    server.answer = () => 503;
    await expect(ask()).rejects.toThrow(/\/pooling: the server answers 503: sorry, 4 times/);
    expect(server.asked).toHaveLength(4);
  });

  it('tries again where the answer breaks off', async () => {
    server.answer = () => (server.asked.length < 3 ? BREAKS_OFF : pooled([0.5]));
    expect(await ask()).toEqual([0.5]);
    server.asked.length = 0;
    server.answer = () => BREAKS_OFF;
    await expect(ask()).rejects.toMatchObject({
      code: 'download-failed',
      message: expect.stringMatching(/\/pooling: the connection broke, 4 times$/),
    });
    expect(server.asked).toHaveLength(4);
  });

  it.each([
    ['a refusal', 401, /401: sorry/],
    ['no pooling there', 404, /404/],
    ['no JSON', '<html>', /no JSON/],
    ['no score', { data: [{ data: 'AAAA' }] }, /no score is in the answer/],
    ['another address', 307, /the server redirects/],
    ['the key, repeated', { told: KEY }, /no score.*\[key\]/],
    [
      'lists without end',
      `{"data":${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
      /no score is in the answer: nested too deep/,
    ],
  ])('at once: %s', async (_, answer, message) => {
    server.answer = () => answer;
    const error = await ask().catch((caught: unknown) => caught);
    expect(String(error)).toMatch(message);
    expect(String(error)).not.toContain(KEY);
    expect(server.asked).toHaveLength(1);
  });

  it('does not wait for a server that hangs, and cancels what the caller aborts', async () => {
    server.answer = () => null;
    const late = (await judge(undefined, 'reward', 500).open()).score([0, 1], STEPS, [[4, 26]]);
    await expect(late).rejects.toThrow('no answer within 0.5 s');
    const abort = new AbortController();
    const asked = ask(undefined, 'reward', abort.signal);
    await expect.poll(() => server.asked.length).toBe(2);
    abort.abort();
    await expect(asked).rejects.toMatchObject({ code: 'aborted' });
    await expect.poll(() => server.asked[1]?.cancelled).toBe(true);
  });

  it('asks about no other candidate once one has failed', async () => {
    server.answer = () => (server.asked.length === 3 ? 404 : null);
    const cursor = await judge(undefined, 'reward', 600_000).open();
    await expect(cursor.score([0, 1], [], [[4], [5], [6]])).rejects.toThrow('404');
    await expect.poll(() => server.asked.map(({ cancelled }) => cancelled)).toEqual([true, true, false]);
  });

  it.each([
    ['neither word', nextWords({ a: 1 })],
    ['both words, without probability', nextWords({ '+': 0, '-': 0 })],
    ['words instead of numbers', { choices: [{ logprobs: { top_logprobs: [{ '+': '-1', '-': [] }] } }] }],
    ['a number beyond all probabilities', '{"choices":[{"logprobs":{"top_logprobs":[{"+":1e999,"-":0}]}}]}'],
    ['no log-probabilities', { choices: [{ logprobs: null }] }],
    [
      'a token that is none',
      `{"choices":[{"logprobs":{"content":[{"top_logprobs":[{"token":${'['.repeat(1e5)}${']'.repeat(1e5)}}]}]}}]}`,
    ],
    [
      'alternatives of no form',
      { choices: [{ logprobs: { content: [{ top_logprobs: [null, '+', { token: '-' }] }] } }] },
    ],
  ])('finds no score in %s', async (_, answer) => {
    server.answer = () => answer;
    await expect(ask({ by: 'words' })).rejects.toMatchObject({
      code: 'download-failed',
      message: expect.stringContaining('no score is in the answer'),
    });
  });

  it('reads no more of an answer than it may have', async () => {
    const score = '{"data":[{"data":[0.5]}]';
    server.answer = () => `${score}}`;
    expect(await ask()).toEqual([0.5]);
    server.asked.length = 0;
    server.answer = () => `${score}${' '.repeat(2 ** 23)}}`;
    await expect(ask()).rejects.toThrow('the answer is no JSON');
    expect(server.asked).toHaveLength(1);
  });

  it('needs a tokenizer, since text is what travels', () => {
    const bare = { ...reader, tokenizer: null };
    expect(() => openRemoteJudge(remoteJudge(server.address, 'm'), bare, 'reward')).toThrow('has no tokenizer');
  });
});
