// A real HTTP server on this machine that scores texts as vLLM's /pooling does, or tells the next word's probabilities as
// OpenAI's completions do; it misbehaves on request.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** The client went away before the answer. */
  cancelled: boolean;
}

export interface JudgeServer extends AsyncDisposable {
  readonly address: string;
  readonly asked: Asked[];
  /**
   * What is answered: a value becomes JSON, a number a status, a string the body as it is, `null` nothing at all. Of
   * `BREAKS_OFF` the beginning comes.
   */
  answer: (asked: Asked) => object | number | string | typeof BREAKS_OFF | null;
}

/** The connection breaks in the middle of the answer. */
export const BREAKS_OFF = Symbol('breaks off');

/** As vLLM answers: a row for each token or step, or one of the whole text. */
export const pooled = (...data: readonly (readonly number[] | number)[]) => ({
  object: 'list',
  data: [{ index: 0, object: 'pooling', data }],
  usage: { prompt_tokens: 7, total_tokens: 7 },
});

/** Of the next token, by name; as probabilities. */
export const nextWords = (words: Readonly<Record<string, number>>) => {
  const logprobs = Object.entries(words).map(([word, p]) => [word, Math.log(p)]);
  return { choices: [{ index: 0, text: '', logprobs: { top_logprobs: [Object.fromEntries(logprobs)] } }] };
};

export const serveJudge = async (): Promise<JudgeServer> => {
  const http = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const { authorization } = request.headers;
    const entry: Asked = { path: request.url ?? '', authorization, body, cancelled: false };
    response.on('close', () => {
      entry.cancelled = !response.writableEnded;
    });
    server.asked.push(entry);
    const answer = server.answer(entry);
    if (answer === null) return;
    if (typeof answer === 'number') return void response.writeHead(answer).end('{"error":{"message":"sorry"}}');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (answer === BREAKS_OFF) return void response.write('{"data":', () => response.destroy());
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: JudgeServer = {
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: [],
    answer: () => pooled([1]),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
};
