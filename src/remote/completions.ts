// One model of an OpenAI-compatible server, asked to continue a text up to a delimiter. A stream that breaks off is
// continued from what has arrived.
import { OutriderError } from '../base/errors.ts';
import type { Sampling } from '../model/interface.ts';
import { stopMatcher } from '../text/stop.ts';
import { serverAddress } from './address.ts';
import { EventStream, EventTooLong } from './event-stream.ts';
import { Interrupted, refusal } from './failures.ts';
import { failed, post, retrying, TIMING, type Timing } from './post.ts';
import type { RemoteSource } from './server.ts';

export interface CompletionRequest {
  readonly prompt: string;
  readonly delimiter: string;
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
  /** Called for every request that is made. */
  readonly onTry?: (() => void) | undefined;
}

export interface Completion {
  /** The delimiter included. */
  readonly text: string;
  readonly finish: 'delimiter' | 'end' | 'length';
  /** Until the first of the text was there; null where there is none. */
  readonly firstMs: number | null;
}

/** Characters that are taken for one token at most: in published vocabularies the longest are runs of 128 spaces. */
const LONGEST_TOKEN = 1000;

interface Piece {
  readonly text: string;
  /** Null while the text goes on. */
  readonly finish: string | null;
  /**
   * What ended it, where the server tells: vLLM's `stop_reason`, SGLang's `matched_stop`. Absent where it never does.
   */
  readonly stoppedBy?: unknown;
}

export class CompletionsServer {
  readonly model: string;
  readonly #address: URL;
  readonly #key: string | undefined;
  readonly #timing: Timing;
  /**
   * A text that ended by itself and one that a stop string ended look the same on llama.cpp. So the delimiter is sent
   * as `stop` only to servers that tell which it was; from the others the text is cut here, and the request cancelled.
   */
  #tells = false;

  constructor(source: RemoteSource, timing: Partial<Timing> = {}) {
    this.#address = serverAddress(source, '/v1/completions');
    this.model = source.model;
    this.#key = source.key;
    this.#timing = { ...TIMING, ...timing };
  }

  async complete(request: CompletionRequest): Promise<Completion> {
    const { prompt, delimiter, maxTokens, sampling, signal, onTry } = request;
    const began = performance.now();
    const matcher = stopMatcher([delimiter]);
    let [arrived, text, pieces] = ['', '', 0];
    let firstMs: number | null = null;
    const ended = (finish: Completion['finish'], last: string): Completion => ({
      text: text + last,
      finish,
      firstMs,
    });
    const attempt = async (): Promise<Completion> => {
      const left = maxTokens - pieces; // a piece is a token, or a few that make a character
      if (left <= 0) return ended('length', matcher.end());
      onTry?.();
      // With the same seed the server would draw the rest of the text with the numbers of its beginning.
      const drawn = samplingFields({ ...sampling, seed: sampling.seed + pieces });
      const wanted = { max_tokens: left, ...drawn, ...(this.#tells && { stop: [delimiter] }) };
      for await (const piece of this.#stream({ prompt: prompt + arrived, ...wanted }, signal)) {
        if (piece.text !== '') {
          // A server that goes on past what was asked for is not read any further: leaving the loop cancels the
          // request.
          if (pieces === maxTokens) return ended('length', matcher.end());
          if (arrived.length + piece.text.length > maxTokens * LONGEST_TOKEN)
            throw this.#failed(`more text came than ${maxTokens} tokens have`);
          pieces++;
          firstMs ??= performance.now() - began;
          arrived += piece.text;
          text += matcher.push(piece.text);
        }
        this.#tells ||= piece.stoppedBy !== undefined;
        if (matcher.stopped !== null) return ended('delimiter', delimiter);
        if (piece.finish === 'stop' && piece.stoppedBy === delimiter)
          return ended('delimiter', matcher.end() + delimiter);
        if (piece.finish === 'stop') return ended('end', matcher.end());
        if (piece.finish === 'length') return ended('length', matcher.end());
        if (piece.finish !== null) throw this.#failed(`the server ended the text: ${piece.finish}`);
      }
      throw new Interrupted(`the stream broke off after ${arrived.length} characters`);
    };
    return retrying(this.#address, this.#timing, signal, attempt, () => pieces);
  }

  async *#stream(body: object, signal: AbortSignal): AsyncGenerator<Piece, void, undefined> {
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    signal.addEventListener('abort', stop);
    const { first, idle } = this.#timing;
    let late = '';
    const expect = (ms: number, message: string) =>
      setTimeout(() => {
        late = message;
        stop();
      }, ms);
    let timer = expect(first, `no answer within ${first / 1000} s`);
    let streaming = false;
    try {
      const response = await this.#post(body, abort.signal);
      const reader = response.body?.getReader() ?? new Blob([]).stream().getReader();
      const events = new EventStream();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        for (const data of events.push(value)) {
          if (data === '[DONE]') return;
          const piece = this.#read(data);
          // Signs of life, such as comments, do not count: a server may send them for ever.
          if (piece.text !== '' || piece.finish !== null) {
            clearTimeout(timer);
            timer = expect(idle, `nothing more came for ${idle / 1000} s`);
            streaming = true;
          }
          yield piece;
        }
      }
    } catch (error) {
      if (error instanceof Interrupted || error instanceof OutriderError) throw error;
      if (error instanceof EventTooLong) throw this.#failed('an event of the stream does not end', error);
      // A server that hangs is not asked again: that would only make the wait four times as long.
      if (late !== '' && !streaming) throw this.#failed(late, error);
      throw new Interrupted(late || 'the connection broke', { cause: error });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      stop(); // the reader has enough, so the server may stop
    }
  }

  async #post(body: object, signal: AbortSignal): Promise<Response> {
    const response = await post(this.#address, this.#key, { model: this.model, stream: true, ...body }, signal);
    const type = response.headers.get('content-type') ?? 'no type';
    if (type.startsWith('text/event-stream')) return response;
    throw this.#failed(`the answer is no stream of events but ${type}`);
  }

  #read(data: string): Piece {
    let event: { choices?: readonly Record<string, unknown>[]; error?: { code?: unknown } } | null;
    try {
      event = JSON.parse(data);
    } catch (cause) {
      throw this.#failed('an event of the stream is no JSON', cause);
    }
    if (event?.error) {
      const status = Number(event.error.code);
      const at = { at: this.#address.href, key: this.#key, headers: undefined };
      throw refusal(status >= 400 && status < 600 ? status : 500, data, at);
    }
    const choice = event?.choices?.[0];
    if (!choice) return { text: '', finish: null }; // a summary of usage, a sign of life
    const { text, finish_reason: finish = null } = choice;
    if (typeof text !== 'string' || (finish !== null && typeof finish !== 'string'))
      throw this.#failed('an event of the stream is no piece of a completion');
    return { text, finish, stoppedBy: choice.stop_reason ?? choice.matched_stop ?? toldNothing(choice) };
  }

  #failed(message: string, cause?: unknown): OutriderError {
    return failed(this.#address, message, cause);
  }
}

/** Null where the server has a field for what stopped a text, and it is empty. */
const toldNothing = (choice: object): null | undefined =>
  'stop_reason' in choice || 'matched_stop' in choice ? null : undefined;

/** Servers agree on no number for "all"; this one is above every vocabulary, and within their limits. */
const TOP_ALL = 2 ** 30;

/**
 * top_k and min_p are no fields of OpenAI's, whose own servers refuse them; the others filter by values of their own
 * (40 and 0.05 on llama.cpp) unless told. A greedy step needs neither.
 */
const samplingFields = ({ temperature, topP, topK, minP, seed }: Sampling) => ({
  temperature,
  top_p: topP,
  seed: seed % 2 ** 31,
  ...(temperature > 0 && { top_k: topK || TOP_ALL, min_p: minP }),
});
