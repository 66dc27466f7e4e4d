// A server's whole answer, damaged anywhere: the outcome is a text or an error of ours that names the server.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { mutateJson } from '../testing/fuzz/mutate-json.ts';
import { random } from '../testing/fuzz/random.ts';
import { GREEDY } from '../testing/goldens/golden.ts';
import { type CompletionsTestServer, serveCompletions } from '../testing/servers/completions-server.ts';
import { CompletionsServer } from './completions.ts';

const SEED = 20_261_130;
const INPUTS = inputs(200);
const EVENTS: readonly object[] = [
  { choices: [{ text: '6 and', finish_reason: null, index: 0 }] },
  { choices: [{ text: ' 7 is', finish_reason: null, stop_reason: null }], usage: null },
  { choices: [], usage: { prompt_tokens: 4 } },
  { choices: [{ text: ' 13', finish_reason: 'stop', stop_reason: '\n\n' }] },
];

let server: CompletionsTestServer;
beforeAll(async () => {
  server = await serveCompletions();
});
afterAll(() => server[Symbol.asyncDispose]());

it(`${INPUTS} damaged answers of a server: a text or an error that names the server`, async () => {
  const below = random(SEED);
  const watch = new Watch();
  const messages = new Set<string>();
  let good = 0;
  for (let i = 0; i < INPUTS; i++) {
    const lines = mutateJson(EVENTS, below).map((event) => `data: ${JSON.stringify(event)}`);
    let body = `${lines.join('\n\n')}\n\ndata: [DONE]\n\n`;
    if (below(3) === 0) {
      const at = below(body.length);
      body = body.slice(0, at) + ['\n', '\r', '{', '"', 'data:', ':'][below(6)] + body.slice(at + below(3));
    }
    server.behave({ raw: { type: 'text/event-stream', body } });
    const source = { kind: 'remote', address: server.address, model: 'm' } as const;
    const remote = new CompletionsServer(source, { first: 5000, idle: 5000, backoff: 0 });
    const request = {
      prompt: 'What is',
      delimiter: '\n\n',
      maxTokens: 16,
      sampling: GREEDY,
      signal: new AbortController().signal,
    };
    try {
      await watch.input(async () => {
        const { text } = await remote.complete(request);
        expect(typeof text).toBe('string');
      });
      good++;
    } catch (error) {
      if (!(error instanceof OutriderError) || error.code === 'bug')
        throw new Error(`input ${i}: ${body}`, { cause: error });
      messages.add(error.message.replaceAll(/[\d.:]+/g, '#').slice(0, 60));
    }
  }
  console.log(`${INPUTS} damaged answers: ${good} texts, refused in ${messages.size} ways, ${watch}`);
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(messages.size).toBeGreaterThan(3);
  watch.check();
}, 900_000);
