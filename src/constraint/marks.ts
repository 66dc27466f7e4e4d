// Special tokens that a constrained answer writes, such as the marks of tool calls. Other special tokens are no text.
import type { Tokenizer } from '../text/tokenizer.ts';

/** Their ids by their text. */
export type Marks = ReadonlyMap<string, number>;

const utf8 = new TextEncoder();

export const bytesOf = (tokenizer: Tokenizer, marks: Marks, token: number): Uint8Array => {
  for (const [text, id] of marks) if (id === token) return utf8.encode(text);
  return tokenizer.bytes(token);
};

/** Every mark is one token; all other text is read as text. */
export const encodeWith = (tokenizer: Tokenizer, marks: Marks, text: string): readonly number[] => {
  for (const [mark, id] of marks) {
    const at = text.indexOf(mark);
    if (at === -1) continue;
    return [
      ...encodeWith(tokenizer, marks, text.slice(0, at)),
      id,
      ...encodeWith(tokenizer, marks, text.slice(at + mark.length)),
    ];
  }
  return text === '' ? [] : tokenizer.encode(text, { plain: true });
};
