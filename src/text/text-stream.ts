// Turns token ids into text deltas. A delta has whole characters only: bytes wait in the decoder until their character
// is complete. Each token is decoded once, so the cost of a token does not grow with the text.
import type { Pieces } from './pieces.ts';

/** How tokens become text. */
export interface TextOptions {
  readonly special?: boolean;
  readonly within?: boolean;
}

export interface TextStream {
  /** The text that these tokens complete; '' while a character is unfinished. */
  push(ids: readonly number[]): string;
  /** The rest when no token follows: U+FFFD for a character that was cut off, usually ''. */
  end(): string;
}

/**
 * `special: true` also writes special tokens (`<|im_end|>`) out, and `shown` these of them. `within`: the tokens
 * continue a text, so a space in front of the first one is a part of it.
 */
export const textStream = (
  pieces: Pieces,
  { special = false, shown, within = false }: TextOptions & { readonly shown?: ReadonlySet<number> } = {},
): TextStream => {
  // ignoreBOM: a U+FEFF that the model wrote is text.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let atStart = pieces.trimStart && !within;
  let isFirst = !within;

  const trim = (text: string): string => {
    if (!atStart || text === '') return text;
    atStart = false;
    return text.startsWith(' ') ? text.slice(1) : text;
  };

  return {
    push(ids) {
      let text = '';
      for (const id of ids) {
        if (!special && pieces.isSpecial(id) && !shown?.has(id)) continue;
        text += trim(decoder.decode(pieces.bytes(id, isFirst), { stream: true }));
        isFirst = false;
      }
      return text;
    },
    end: () => trim(decoder.decode()),
  };
};
