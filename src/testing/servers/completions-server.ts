// A real HTTP server on this machine that speaks OpenAI's completions protocol, as vLLM, SGLang and llama.cpp do, over a
// text that is known beforehand; it misbehaves on request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Behaviour {
  /** The continuation of a prompt, a token a piece. */
  says: (prompt: string) => readonly string[];
  /** How the text ends when it is not cut. */
  finish: string;
  /** Only who brings this is served. */
  key: string | null;
  /** The first requests are answered with these, one each. */
  refusals: readonly Refusal[];
  /** The field that tells what stopped a text; llama.cpp has none. */
  tells: 'stop_reason' | 'matched_stop' | null;
  /** Breaks the connection after so many pieces of a response. */
  dropAfter: number;
  /** Goes on sending comments, but no more pieces, from there on. */
  stallAfter: number;
  /** Takes requests and never answers. */
  silent: boolean;
  /** Instead of events: the body as it is, and its type. */
  raw: { readonly type: string; readonly body: string } | null;
  /** Goes on past what was asked for. */
  ignoresLimit: boolean;
  /** Sends the client elsewhere. */
  redirect: string | null;
  /** Pages of other origins may ask. */
  cors: boolean;
}

const GOOD: Behaviour = {
  says: () => [],
  finish: 'stop',
  key: null,
  refusals: [],
  tells: null,
  dropAfter: Number.POSITIVE_INFINITY,
  stallAfter: Number.POSITIVE_INFINITY,
  silent: false,
  raw: null,
  ignoresLimit: false,
  redirect: null,
  cors: true,
};

export interface CompletionsBody {
  readonly model: string;
  readonly prompt: string;
  readonly max_tokens: number;
  readonly stop?: readonly string[];
  readonly [field: string]: unknown;
}

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: CompletionsBody;
  /** That were sent. */
  pieces: number;
  /** The client went away before the end. */
  cancelled: boolean;
}

export interface CompletionsTestServer extends AsyncDisposable {
  readonly address: string;
  readonly asked: Asked[];
  behave(changes?: Partial<Behaviour>): void;
}

/** Says these pieces after `prompt`, and goes on in the middle when a prompt has some of them already. */
export const script =
  (prompt: string, pieces: readonly string[]) =>
  (asked: string): readonly string[] => {
    if (!asked.startsWith(prompt)) throw new Error(`asked to continue ${JSON.stringify(asked)}`);
    let known = asked.length - prompt.length;
    return pieces.filter((piece) => {
      known -= piece.length;
      return known < 0;
    });
  };

export const serveCompletions = async (): Promise<CompletionsTestServer> => {
  let behaviour = GOOD;
  const asked: Asked[] = [];
  const http = createServer((request, response) => void answer(request, response));

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (behaviour.cors) {
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Access-Control-Allow-Headers', 'Content-Type, Authorization');
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (request.url !== '/v1/completions') return void response.writeHead(404).end('{"detail":"Not Found"}');
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as CompletionsBody;
    const { authorization } = request.headers;
    const entry: Asked = { path: request.url, authorization, body, pieces: 0, cancelled: false };
    response.on('close', () => {
      entry.cancelled = !response.writableEnded;
    });
    asked.push(entry);
    if (behaviour.silent) return;
    if (behaviour.redirect) return void response.writeHead(307, { location: behaviour.redirect }).end();
    const { key, refusals, raw } = behaviour;
    const [refusal] = refusals;
    if (refusal) behaviour = { ...behaviour, refusals: refusals.slice(1) };
    const { status = 200, headers = {}, body: words = '' } = refusal ?? {};
    if (refusal) return void response.writeHead(status, headers).end(words);
    if (key !== null && authorization !== `Bearer ${key}`)
      return void response.writeHead(401).end(`{"error":{"message":"Incorrect API key: ${authorization?.slice(7)}"}}`);
    response.writeHead(200, { 'content-type': raw?.type ?? 'text/event-stream; charset=utf-8' });
    if (raw) return void response.end(raw.body);
    await stream(entry, response);
  };

  const stream = async (entry: Asked, response: ServerResponse): Promise<void> => {
    const { prompt, max_tokens, stop = [] } = entry.body;
    const { says, finish, tells, dropAfter, stallAfter, ignoresLimit } = behaviour;
    const send = (text: string, finish_reason: string | null, reason: string | null = null): Promise<void> => {
      const choice = { index: 0, text, finish_reason, ...(tells && { [tells]: reason }) };
      // Other chunks than events, as networks make them.
      const event = Buffer.from(`data: ${JSON.stringify({ object: 'text_completion', choices: [choice] })}\r\n\r\n`);
      const half = event.length >> 1;
      response.write(event.subarray(0, half));
      return new Promise<void>((resolve) => response.write(event.subarray(half), () => setImmediate(resolve)));
    };
    await new Promise((resolve) => response.write(': hello\n\n', resolve));
    const all = says(prompt);
    const [before = '', ...cut] = all.join('').split(stop[0] ?? '\0');
    for (let sent = 0; sent < before.length; entry.pieces++) {
      if (entry.pieces === dropAfter) return void response.destroy();
      if (entry.pieces === stallAfter) return;
      if (entry.pieces === max_tokens && !ignoresLimit) break;
      const piece = all[entry.pieces] as string;
      await send(piece.slice(0, before.length - sent), null);
      sent += piece.length;
    }
    if (entry.pieces === dropAfter) return void response.destroy();
    if (entry.pieces === max_tokens) await send('', 'length');
    else if (cut.length > 0) await send('', 'stop', stop[0]);
    else await send('', finish);
    response.end('data: [DONE]\n\n');
  };

  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked,
    behave(changes = {}) {
      behaviour = { ...GOOD, ...changes };
    },
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
};
