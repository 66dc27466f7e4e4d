// Text to token ids: by the tokenizer library (library.ts) or by SentencePiece's scores (sentencepiece.ts).

export interface Encoder {
  /** `special` adds what the tokenizer wraps a text in. */
  encode(text: string, special: boolean): number[];
  idOf(token: string): number | undefined;
}
