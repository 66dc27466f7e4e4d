// Text to token ids: by the tokenizer library (library.ts) or by SentencePiece's scores (sentencepiece.ts).

export interface Encoder {
  /**
   * `special` adds what the tokenizer wraps a text in. `mark` is a character that is no part of the text, put inside
   * special tokens that are to stay text (chat-template.ts): what is on its two sides is not made one token.
   */
  encode(text: string, special: boolean, mark?: string | null): number[];
  idOf(token: string): number | undefined;
}
