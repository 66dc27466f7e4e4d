// A target on this machine whose vocabulary is not the draft's, for step systems: steps travel as text, as to a server.
// The target reads a prompt by its own chat template, keeps the tokens of the steps that it wrote, and has those of the
// draft spelled anew. So where it writes every step, it writes what it writes alone.
import { checkAborted, toFault } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import { commonPrefix } from '../../decode/core/common-prefix.ts';
import { rewindTo, roomyRows } from '../../decode/core/prefix-cache.ts';
import type { RemoteTarget, StepRequest, WrittenStep } from '../../decode/core/remote-target.ts';
import { type Candidate, Candidates } from '../../decode/steps/candidates.ts';
import { StepBoundary } from '../../decode/steps/step-boundary.ts';
import type { Cursor, Sampling } from '../../model/interface.ts';
import type { LoadedRemote, Reader } from '../../remote/remote-target.ts';
import { retokenise, unwrappedText } from '../../text/retokenise.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import type { Prompt } from '../request.ts';
import type { LoadedModel } from './loaded-models.ts';

/** A step in both vocabularies; null where the target's context is full. */
interface Translated extends WrittenStep {
  /** The target's own tokens. */
  readonly own: readonly number[];
}

export class TextTarget implements LoadedRemote, Disposable {
  readonly name: string;
  readonly #target: LoadedModel;
  readonly #tokenizer: Tokenizer;
  #cursor: Cursor | null = null;
  /** What the cursor's rows were read from. */
  #read: readonly number[] = [];

  constructor(target: LoadedModel, tokenizer: Tokenizer) {
    this.name = target.name;
    this.#target = target;
    this.#tokenizer = tokenizer;
  }

  [Symbol.dispose](): void {
    this.#cursor?.[Symbol.dispose]();
    this.#cursor = null;
  }

  open(reader: Reader, prompt?: Prompt): RemoteTarget {
    /** The text so far in the draft's tokens, and the same in the target's. */
    let here: readonly number[] = [];
    let there: readonly number[] = [];
    const translate = (tokens: readonly number[]): void => {
      if (here.length === 0) there = this.#prompt(tokens, reader, prompt);
      else if (commonPrefix(here, tokens) === here.length)
        there = [...there, ...retokenise(there, reader.tokenizer.decode(tokens.slice(here.length)), this.#tokenizer)];
      else throw new Error('the text changed under a target that reads it as text');
      here = tokens;
    };
    return {
      name: this.name,
      writeStep: async (tokens, request) => {
        const began = performance.now();
        translate([...tokens]);
        try {
          const step = await this.#write(there, tokens, request, reader);
          const { own, tokens: written, finish } = step;
          // A step that was cut is spelled anew from what is kept of it.
          if (finish !== 'length')
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

  /** Before the first step, `tokens` is the prompt as the draft reads it. */
  #prompt(tokens: readonly number[], reader: Reader, prompt: Prompt | undefined): readonly number[] {
    const tokenizer = this.#tokenizer;
    if (prompt && 'messages' in prompt && tokenizer.hasChatTemplate) return tokenizer.encodeChat(prompt.messages);
    if (prompt && 'text' in prompt)
      return tokenizer.encode(prompt.text, { special: true, plain: prompt.plain ?? false });
    return tokenizer.encode(unwrappedText(tokens, reader.tokenizer), { special: true });
  }

  async #write(
    text: readonly number[],
    before: readonly number[],
    { maxTokens, sampling, signal }: StepRequest,
    reader: Reader,
  ): Promise<Translated> {
    const { stopTokens } = this.#target;
    const [candidate] = await this.#candidates(text, maxTokens, sampling, signal);
    const { tokens, ends } = candidate as Candidate;
    const stops = new Set(stopTokens);
    const own = ends === 'stop' ? tokens.filter((token) => !stops.has(token)) : tokens;
    const [eos] = reader.stopTokens;
    const spelled = retokenise(before, this.#tokenizer.decode(own), reader.tokenizer);
    const written = ends === 'stop' && eos !== undefined ? [...spelled, eos] : spelled;
    if (written.length === 0) throw refuse(`${this.name} wrote no text`, 'Choose another target, or another prompt.');
    if (written.length > maxTokens) return { own, tokens: written.slice(0, maxTokens), finish: 'length' };
    return { own, tokens: written, finish: ends === 'stop' ? 'end' : ends };
  }

  async #candidates(
    text: readonly number[],
    most: number,
    sampling: Sampling,
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    const { model, stopTokens } = this.#target;
    const cursor = await this.#open(Math.min(model.context, text.length + most));
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
    if (!written) throw refuse(`the text fills the context of ${this.name}`, 'Ask for fewer tokens.');
    this.#read = [...text, ...(written[0]?.tokens ?? [])];
    return written;
  }

  /** The cursor, with room for so many rows. */
  async #open(rows: number): Promise<Cursor> {
    if (this.#cursor && this.#cursor.capacity >= rows) return this.#cursor;
    this[Symbol.dispose]();
    this.#read = [];
    const { model } = this.#target;
    this.#cursor = await model.open({ capacity: roomyRows(rows, model.context) });
    return this.#cursor;
  }
}
