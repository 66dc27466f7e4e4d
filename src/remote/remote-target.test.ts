// Tokens in, text over the wire, tokens out: on the bundled tokenizer, against a real server in this process.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RemoteTarget, StepRequest, WrittenStep } from '../decode/core/remote-target.ts';
import { type CompletionsTestServer, script, serveCompletions } from '../testing/servers/completions-server.ts';
import { loadTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import type { Emit } from '../trace/index.ts';
import { openRemote } from './remote-target.ts';
import { type RemoteSource, remote } from './server.ts';

const json = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../public/models/target/${file}`, import.meta.url), 'utf8'));

let tokenizer: Tokenizer;
let server: CompletionsTestServer;
beforeAll(async () => {
  tokenizer = await loadTokenizer({ tokenizer: json('tokenizer.json'), config: json('tokenizer_config.json') });
  server = await serveCompletions();
});
afterAll(() => server[Symbol.asyncDispose]());

const CHAT = '<bos><user>A cup costs 6 dollars.<assistant>';
/** Larger pieces than the bundled vocabulary's tokens: another tokenizer wrote them. */
const PIECES = ['One', ' cup costs', ' 6 dollars', '.\n', '\n', 'Two cups'];
const STEP = 'One cup costs 6 dollars.\n\n';

let events: Parameters<Emit>[0][];
beforeEach(() => {
  server.asked.length = 0;
  server.behave({ says: script(CHAT, PIECES) });
  events = [];
});

const open = (source: Partial<RemoteSource> = {}, own = tokenizer, stopTokens = own.eos): RemoteTarget =>
  openRemote({ ...remote(server.address, 'big'), ...source }, { backoff: 1 }).open({ tokenizer: own, stopTokens });
const write = (
  target: RemoteTarget,
  tokens: readonly number[] = tokenizer.encode(CHAT),
  changes: Partial<StepRequest> = {},
): Promise<WrittenStep | null> =>
  target.writeStep(tokens, {
    promptLength: tokens.length,
    delimiter: '\n\n',
    maxTokens: 64,
    sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 },
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    ...changes,
  });

describe('a remote step', () => {
  it('is asked for as text, special tokens spelled out, and comes back in the tokens of this vocabulary', async () => {
    const step = await write(open());
    expect(server.asked[0]?.body.prompt).toBe(CHAT);
    expect(step).toEqual({ tokens: tokenizer.encode(STEP), finish: 'delimiter' });
    expect(events).toEqual([
      {
        type: 'remote',
        model: 'big',
        tokens: step?.tokens.length,
        tries: 1,
        first_ms: expect.any(Number),
        ms: expect.any(Number),
        fault: null,
      },
    ]);
  });

  it('goes on with an end-of-text token where the text has ended', async () => {
    server.behave({ says: script(CHAT, ['The answer is', ' 6.']) });
    const tokens = [...tokenizer.encode('The answer is 6.'), ...tokenizer.eos];
    expect(await write(open())).toEqual({ tokens, finish: 'end' });
    server.behave();
    expect(await write(open())).toEqual({ tokens: tokenizer.eos, finish: 'end' });
    await expect(write(open({}, tokenizer, []))).rejects.toMatchObject({ message: 'big wrote nothing' });
  });

  it("has at most as many tokens as it may, by this vocabulary's count", async () => {
    const tokens = tokenizer.encode(STEP).slice(0, 5);
    expect(await write(open(), undefined, { maxTokens: 5 })).toEqual({ tokens, finish: 'length' });
  });

  it('is spelled as the words that it completes, and leaves what is kept as it is', async () => {
    const whole = tokenizer.encode(`${CHAT}dollars`);
    server.behave({ says: script(`${CHAT}doll`, ['ars', '\n\n']) });
    const cut = tokenizer.encode(`${CHAT}doll`);
    const step = await write(open(), cut);
    expect(tokenizer.decode(step?.tokens ?? [])).toBe('ars\n\n');
    expect([...cut, ...(step?.tokens ?? [])].slice(0, cut.length)).toEqual(cut);
    // The test is about a seam only if the word is no longer spelled as it would be in one piece.
    expect(whole.slice(0, cut.length)).not.toEqual(cut);
  });

  it('does not send a BOS that the server puts before every prompt by itself', async () => {
    const files = json('tokenizer.json');
    const bos = { SpecialToken: { id: '<bos>', type_id: 0 } };
    const text = (id: string) => ({ Sequence: { id, type_id: 0 } });
    files.post_processor = {
      type: 'TemplateProcessing',
      single: [bos, text('A')],
      pair: [bos, text('A'), text('B')],
      special_tokens: { '<bos>': { id: '<bos>', ids: [1], tokens: ['<bos>'] } },
    };
    const wrapping = await loadTokenizer({ tokenizer: files, config: json('tokenizer_config.json') });
    expect(wrapping.encode('One', { special: true })).toEqual([1, ...tokenizer.encode('One')]);
    server.behave({ says: () => ['One', '\n\n'] });
    await write(open({}, wrapping), wrapping.encode(CHAT));
    await write(open({}, wrapping), wrapping.encode('Count: ', { special: true }));
    await write(open({}, wrapping), wrapping.encode('Count: '));
    expect(server.asked.map(({ body }) => body.prompt)).toEqual([CHAT.replace('<bos>', ''), 'Count: ', 'Count: ']);
  });

  it('is asked for without half a character at the end of the text, and leaves none where a limit cuts one', async () => {
    const [first = 0, second = 0] = tokenizer.encode('é');
    server.behave({ says: script(CHAT, ['é', 'é', 'é']) });
    const step = await write(open(), [...tokenizer.encode(CHAT), first], { maxTokens: 3 });
    expect(server.asked[0]?.body.prompt).toBe(CHAT);
    expect(step).toEqual({ tokens: [first, second], finish: 'length' });
    // A step has at least one token, at the end of an answer too.
    expect(await write(open(), undefined, { maxTokens: 1 })).toEqual({ tokens: [first], finish: 'length' });
  });

  it('is drawn with a seed of its own, the same in the same place', async () => {
    server.behave({ says: () => ['One', '\n\n'] });
    const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 2 ** 32 - 1 };
    const tokens = tokenizer.encode(CHAT);
    for (const length of [tokens.length, tokens.length - 1, tokens.length])
      await write(open(), tokens.slice(0, length), { sampling });
    const [a, b, c] = server.asked.map(({ body }) => body.seed);
    expect(a).toBe(c);
    expect(a).not.toBe(b);
  });
});

describe('a server that cannot be had', () => {
  const down = { refusals: Array.from({ length: 4 }, () => ({ status: 500, body: 'sk-key on fire' })) };

  it('ends the run, unless the run is to go on with the draft', async () => {
    server.behave(down);
    await expect(write(open())).rejects.toMatchObject({ code: 'download-failed' });
    expect(events).toEqual([]);
  });

  it('is left alone for the rest of the run then, which an event tells, without the key', async () => {
    server.behave(down);
    const target = open({ fallBack: 'draft', key: 'sk-key' });
    expect(await write(target)).toBeNull();
    expect(await write(target)).toBeNull();
    expect(server.asked).toHaveLength(4);
    const message = '[address]: the server answers 500: [key] on fire, 4 times';
    const fault = { code: 'download-failed', message, hint: expect.any(String) };
    expect(events).toEqual([
      { type: 'remote', model: 'big', tokens: 0, tries: 4, first_ms: null, ms: expect.any(Number), fault },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/sk-key|127\.0\.0\.1/);
    server.behave({ says: script(CHAT, PIECES) });
    expect(await write(open({ fallBack: 'draft' }))).toMatchObject({ finish: 'delimiter' });
  });

  it('is no reason to go on after an abort', async () => {
    const aborted = write(open({ fallBack: 'draft' }), undefined, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  });
});
