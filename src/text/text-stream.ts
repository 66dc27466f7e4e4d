// Token ids in, text deltas out. A delta never holds half a character: bytes wait in the decoder until their character
// is whole, and a token is looked at once, so a stream costs the same a token however long it gets.
import type { Pieces } from './pieces.ts';

export interface TextStream {
  /** The text that these tokens complete; '' while a character is unfinished. */
  push(ids: readonly number[]): string;
  /** What is left when no token follows: U+FFFD where a character was cut off, usually ''. */
  end(): string;
}

/** `special: true` also writes special tokens (`<|im_end|>`) out. */
export const textStream = (pieces: Pieces, { special = false } = {}): TextStream => {
  // ignoreBOM: a U+FEFF that the model wrote is text.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let atStart = pieces.trimStart;

  const trim = (text: string): string => {
    if (!atStart || text === '') return text;
    atStart = false;
    return text.startsWith(' ') ? text.slice(1) : text;
  };

  return {
    push(ids) {
      let text = '';
      for (const id of ids) {
        if (!special && pieces.isSpecial(id)) continue;
        text += trim(decoder.decode(pieces.bytes(id), { stream: true }));
      }
      return text;
    },
    end: () => trim(decoder.decode()),
  };
};
