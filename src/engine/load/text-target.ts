// A target on this machine whose vocabulary is not the draft's, for step systems: steps travel as text, as to a server.
// The target reads a prompt by its own chat template, keeps the tokens of the steps that it wrote, and has those of the
// draft spelled anew. So where it writes every step, it writes what it writes alone.
import { checkAborted, toFault } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import { commonPrefix } from '../../decode/core/common-prefix.ts';
import { openFitting } from '../../decode/core/open-fitting.ts';
import { rewindTo, roomyRows } from '../../decode/core/prefix-cache.ts';
import type { RemoteTarget, StepRequest, WrittenStep } from '../../decode/core/remote-target.ts';
import { type Candidate, Candidates } from '../../decode/steps/candidates.ts';
import { StepBoundary } from '../../decode/steps/step-boundary.ts';
import type { CachePrecision, Cursor } from '../../model/interface.ts';
import type { LoadedRemote, Reader } from '../../remote/remote-target.ts';
import { cutTokens, retokenise, unwrappedText, wholeCharacters } from '../../text/retokenise.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import { encodeConversation } from '../read-prompt.ts';
import type { PromptRequest } from '../request.ts';
import type { LoadedModel } from './loaded-models.ts';

/** A step in both vocabularies. */
interface Translated extends WrittenStep {
  /** The target's own tokens; null where the step is shorter than what it wrote, and is spelled anew. */
  readonly own: readonly number[] | null;
}

export class TextTarget implements LoadedRemote, Disposable {
  readonly name: string;
  readonly #target: LoadedModel;
  readonly #tokenizer: Tokenizer;
  #cursor: Cursor | null = null;
  /** What the cursor's rows were read from. */
  #read: readonly number[] = [];
  readonly #cache: CachePrecision | undefined;

  /** `cache`: of keys and values. Default: f32. */
  constructor(target: LoadedModel, tokenizer: Tokenizer, cache?: CachePrecision) {
    this.name = target.name;
    this.#target = target;
    this.#tokenizer = tokenizer;
    this.#cache = cache;
  }

  [Symbol.dispose](): void {
    this.#cursor?.[Symbol.dispose]();
    this.#cursor = null;
  }

  open(reader: Reader, asked?: PromptRequest): RemoteTarget {
    if (asked?.fresh) this.#read = [];
    /** The text so far in the draft's tokens, and the same in the target's. */
    let here: readonly number[] = [];
    let there: readonly number[] = [];
    /** Tokens of the prompt, as the target reads it. */
    let promptLength = 0;
    /** The text fills the target's context: it is not asked again. */
    let full = false;
    const prompt = asked?.prompt;
    const isBegun = !prompt || !('messages' in prompt) || (prompt.begin ?? '') !== '';
    /** Whether tokens after so many continue a text, and do not begin an answer. */
    const continues = (length: number, promptHere: number): boolean => isBegun || length > promptHere;
    const translate = (tokens: readonly number[], promptHere: number): void => {
      if (here.length === 0) {
        here = tokens.slice(0, promptHere);
        there = this.#prompt(here, reader, asked);
        promptLength = there.length;
      }
      if (commonPrefix(here, tokens) < here.length)
        throw new Error('the text changed under a target that reads it as text');
      const more = wholeCharacters(tokens.slice(here.length), reader.tokenizer);
      const text = reader.tokenizer.decode(more, { within: continues(here.length, promptHere) });
      if (text !== '') there = [...there, ...retokenise(there, text, this.#tokenizer)];
      here = [...here, ...more];
    };
    return {
      name: this.name,
      context: this.#target.model.context,
      writeStep: async (tokens, request) => {
        if (full) return null;
        const began = performance.now();
        translate(tokens, request.promptLength);
        try {
          const within = continues(tokens.length, request.promptLength);
          const step = await this.#write(there, tokens, { ...request, promptLength }, reader, within);
          if (!step) {
            const fault = refuse(`the text fills the context of ${this.name}`, 'Ask for fewer tokens.');
            if (promptLength >= this.#target.model.context) throw fault;
            full = true;
            request.emit({ ...this.#told(began), tokens: 0, fault: toFault(fault) });
            return null;
          }
          const { own, tokens: written } = step;
          if (own)
            [here, there] = [
              [...tokens, ...written],
              [...there, ...own],
            ];
          request.emit({ ...this.#told(began), tokens: written.length, fault: null });
          return step;
        } catch (error) {
          checkAborted(request.signal);
          request.emit({ ...this.#told(began), tokens: 0, fault: toFault(error) });
          throw error;
        }
      },
    };
  }

  #told(began: number) {
    return { type: 'remote', model: this.name, tries: 1, first_ms: null, ms: performance.now() - began } as const;
  }

  /** `tokens`: the prompt as the draft reads it. */
  #prompt(tokens: readonly number[], reader: Reader, asked: PromptRequest | undefined): readonly number[] {
    const tokenizer = this.#tokenizer;
    const prompt = asked?.prompt;
    if (prompt && 'messages' in prompt && tokenizer.hasChatTemplate)
      return encodeConversation({ ...asked, prompt }, tokenizer);
    if (prompt && 'text' in prompt)
      return tokenizer.encode(prompt.text, { special: true, plain: prompt.plain ?? false });
    return tokenizer.encode(unwrappedText(tokens, reader.tokenizer), { special: true });
  }

  /**
   * `text` and the lengths of `request` are in the target's tokens, `before` is the text in the draft's. Null where the
   * target's context is full. `within`: the step continues a text.
   */
  async #write(
    text: readonly number[],
    before: readonly number[],
    request: StepRequest,
    reader: Reader,
    within: boolean,
  ): Promise<Translated | null> {
    const { maxTokens } = request;
    const [candidate] = (await this.#candidates(text, request)) ?? [];
    if (!candidate) return null;
    const { ends } = candidate;
    const own = this.#ownTokens(candidate);
    const [eos] = reader.stopTokens;
    const spelled = retokenise(before, this.#tokenizer.decode(own, { within }), reader.tokenizer);
    const written = ends === 'stop' && eos !== undefined ? [...spelled, eos] : spelled;
    if (written.length === 0) throw refuse(`${this.name} wrote no text`, 'Choose another target, or another prompt.');
    if (written.length > maxTokens)
      return { own: null, tokens: cutTokens(written, maxTokens, reader.tokenizer), finish: 'length' };
    return { own, tokens: written, finish: ends === 'stop' ? 'end' : ends };
  }

  /** Without the token that ends the text, and without a character that a limit has cut. */
  #ownTokens({ tokens, ends }: Candidate): readonly number[] {
    if (ends === 'length') return cutTokens(tokens, tokens.length, this.#tokenizer);
    const stops = new Set(ends === 'stop' ? this.#target.stopTokens : []);
    return tokens.filter((token) => !stops.has(token));
  }

  async #candidates(
    text: readonly number[],
    { promptLength, maxTokens: most, sampling, signal }: StepRequest,
  ): Promise<readonly Candidate[] | null> {
    const { model, stopTokens } = this.#target;
    const cursor = await this.#open(Math.min(model.context, text.length + most), promptLength);
    const known = Math.min(cursor.length, commonPrefix(this.#read, text), text.length - 1);
    rewindTo(cursor, known);
    this.#read = [];
    const decoder = new TextDecoder();
    const tokenText = (token: number) => decoder.decode(this.#tokenizer.bytes(token));
    const boundary = new StepBoundary({ tokenText, stopTokens: new Set(stopTokens) }, -1);
    const samplings = [sampling];
    const room = most;
    const one = { by: 'target', model, cursor, samplings, boundary, room, grounds: false, pools: false } as const;
    const written = await new Candidates(one).write(text, most, { step: 0, round: 0, emit: () => {}, signal });
    this.#read = [...text, ...(written?.[0]?.tokens ?? [])];
    return written;
  }

  /** The cursor, with room for so many rows, of which the prompt takes `promptLength`. */
  async #open(rows: number, promptLength: number): Promise<Cursor> {
    if (this.#cursor && this.#cursor.capacity >= rows) return this.#cursor;
    this[Symbol.dispose]();
    this.#read = [];
    const { model } = this.#target;
    this.#cursor = await openFitting((how) => model.open(how), {
      capacities: [roomyRows(rows, model.context), rows],
      cache: this.#cache,
      answerAt: (capacity) => capacity - promptLength,
      freeOthers: () => {}, // it has this one cache, which is freed already
    });
    return this.#cursor;
  }
}
