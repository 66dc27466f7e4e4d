// A tokenizer whose tokens are short texts, for toy models that write under a constraint. The last token ends a text.
import { textStream } from '../../text/text-stream.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';

const utf8 = new TextEncoder();

/** `tokens`: the texts, by id; one more id ends a text. Text is split greedily, the longest token first. */
export const lettersTokenizer = (tokens: readonly string[]): Tokenizer => {
  const bytes = (id: number): Uint8Array => utf8.encode(tokens[id] ?? '');
  const longest = tokens.map((text, id) => ({ text, id })).toSorted((a, b) => b.text.length - a.text.length);
  const stream = () =>
    textStream({ bytes, isSpecial: (id: number) => id === tokens.length, trimStart: false } as never);
  return {
    vocabulary: tokens.length + 1,
    eos: [tokens.length],
    hasChatTemplate: false,
    entry: (id) => tokens[id] ?? null,
    bytes,
    encode(text) {
      const ids: number[] = [];
      for (let at = 0; at < text.length; ) {
        const found = longest.find((each) => text.startsWith(each.text, at));
        if (!found) return [];
        ids.push(found.id);
        at += found.text.length;
      }
      return ids;
    },
    decode: (ids) => ids.map((id) => tokens[id] ?? '').join(''),
    chatTemplate: () => null,
    special: () => null,
    chat: () => '',
    encodeChat: () => [],
    stream,
  };
};
