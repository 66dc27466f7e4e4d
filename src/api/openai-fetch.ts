// A `fetch` that answers as OpenAI's server does: `new OpenAI({ fetch: openaiFetch(openai(engine)), … })` is OpenAI's own
// client, with its helpers, over the user's own GPU. No request leaves the page.
import { APIError, toApiError } from './openai-error.ts';
import type { ChatCompletionParams, CompletionParams, OpenAI, Stream } from './openai-types.ts';

/** OpenAI's client asks a server that failed twice more: here that would write the answer anew, on the same device. */
const failed = (error: unknown): Response => {
  const known = toApiError(error);
  return Response.json({ error: known.error }, { status: known.status ?? 500, headers: { 'x-should-retry': 'false' } });
};

const encoder = new TextEncoder();

/** Server-sent events. An error after the first is an event too. */
const streamed = (stream: Stream<unknown>): Response => {
  const chunks = stream[Symbol.asyncIterator]();
  const line = (data: string): Uint8Array<ArrayBuffer> => encoder.encode(`data: ${data}\n\n`);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        controller.enqueue(line(done ? '[DONE]' : JSON.stringify(value)));
        if (done) controller.close();
      } catch (error) {
        controller.enqueue(line(JSON.stringify({ error: toApiError(error).error })));
        controller.close();
      }
    },
    cancel: () => stream.controller.abort(),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const unknownPath = (path: string): APIError =>
  new APIError(404, {
    message: `this engine serves chat/completions, completions and models, not ${path}`,
    type: 'invalid_request_error',
    param: null,
    code: 'not_found',
  });

const readBody = async (request: Request): Promise<ChatCompletionParams & CompletionParams> => {
  try {
    return await request.json();
  } catch (cause) {
    const message = 'the body of the request is not JSON';
    throw new APIError(400, { message, type: 'invalid_request_error', param: null, code: null }, { cause });
  }
};

/**
 * A `fetch` for OpenAI's own client: `/models`, `/chat/completions` and `/completions` are answered by `client`, streamed
 * where the request asks for it. Any other path is a 404; nothing leaves this machine.
 */
export const openaiFetch =
  (client: OpenAI): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    const path = new URL(request.url).pathname;
    try {
      if (request.method === 'GET' && path.endsWith('/models'))
        return Response.json({
          object: 'list',
          data: [{ id: 'outrider', object: 'model', created: 0, owned_by: 'outrider' }],
        });
      const isChat = path.endsWith('/chat/completions');
      if (request.method !== 'POST' || !path.endsWith('/completions')) throw unknownPath(path);
      const params = await readBody(request);
      const answer = isChat
        ? await client.chat.completions.create(params, { signal })
        : await client.completions.create(params, { signal });
      return params.stream ? streamed(answer as Stream<unknown>) : Response.json(answer);
    } catch (error) {
      signal.throwIfAborted();
      return failed(error);
    }
  };
