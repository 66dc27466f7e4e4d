// A remote target for step systems: local tokens go in and come out, and text is sent. So the server's model may have
// another vocabulary than the draft here; its text is tokenised anew.

import { checkAborted, type Fault, OutriderError, sharedFault } from '../base/errors.ts';
import type { RemoteTarget, StepRequest, WrittenStep } from '../decode/core/remote-target.ts';
import type { PromptRequest } from '../engine/request.ts';
import { cutTokens, retokenise, unwrappedText } from '../text/retokenise.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { exposedKey } from './address.ts';
import { type Completion, CompletionsServer } from './completions.ts';
import type { Timing } from './post.ts';
import type { RemoteSource } from './server.ts';

/** The local model whose vocabulary the sequence is in. */
export interface Reader {
  readonly tokenizer: Tokenizer;
  readonly stopTokens: readonly number[];
}

/** Nothing is asked of the server before the first step. */
export interface LoadedRemote {
  readonly name: string;
  /** For people: a reason not to use this server. */
  readonly notice?: string | undefined;
  /** For one run, of this prompt: a server that failed is left alone until the next. */
  open(reader: Reader, asked?: PromptRequest): RemoteTarget;
}

export const openRemote = (source: RemoteSource, timing?: Partial<Timing>): LoadedRemote => {
  const server = new CompletionsServer(source, timing);
  const name = source.model;

  const read = ({ text, finish }: Completion, before: readonly number[], most: number, reader: Reader): WrittenStep => {
    const [eos] = reader.stopTokens;
    const tokens = [
      ...retokenise(before, text, reader.tokenizer),
      ...(finish === 'end' && eos !== undefined ? [eos] : []),
    ];
    if (tokens.length === 0) throw new OutriderError('download-failed', `${name} wrote nothing`, 'Check the server.');
    return tokens.length > most
      ? { tokens: cutTokens(tokens, most, reader.tokenizer), finish: 'length' }
      : { tokens, finish };
  };

  return {
    name,
    notice: exposedKey(source) ?? undefined,
    open(reader) {
      let gone = false;
      return {
        name,
        async writeStep(tokens, { delimiter, maxTokens, sampling, signal, emit }: StepRequest) {
          if (gone) return null;
          const began = performance.now();
          let tries = 0;
          const tell = (outcome: { tokens: number; first_ms: number | null; fault: Fault | null }): void =>
            emit({ type: 'remote', model: name, tries, ms: performance.now() - began, ...outcome });
          try {
            const written = await server.complete({
              prompt: unwrappedText(tokens, reader.tokenizer),
              delimiter,
              maxTokens,
              // Steps that begin alike are drawn with numbers of their own, as the positions of one run are.
              sampling: { ...sampling, seed: (sampling.seed + tokens.length) % 2 ** 32 },
              signal,
              onTry: () => tries++,
            });
            const step = read(written, tokens, maxTokens, reader);
            tell({ tokens: step.tokens.length, first_ms: written.firstMs, fault: null });
            return step;
          } catch (error) {
            checkAborted(signal);
            if (source.fallBack !== 'draft') throw error;
            gone = true;
            tell({ tokens: 0, first_ms: null, fault: sharedFault(error) });
            return null;
          }
        },
      };
    },
  };
};
