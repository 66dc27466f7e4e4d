// Finds the end of a text in what was written before it, letter by letter. The same words are other tokens after a quotation
// mark than after a space, so a value that is copied into JSON is often found here alone. What followed is split into
// tokens as it would be after this text.

/** How tokens are written, and texts split. */
export interface Spelling {
  tokenText(token: number): string;
  /** The tokens of a text that continues these. */
  retokenise(before: readonly number[], text: string): readonly number[];
}

export interface TextMatch {
  /** Tokens at the end of the text that are a part of it. */
  readonly length: number;
  /** What followed it, as tokens; the most are those of `LONGEST` characters. */
  readonly following: readonly number[];
}

/** Characters that are compared, and that are proposed. */
const LONGEST = 96;
/** Places of the last token's text that are compared, the latest first. */
const MOST_PLACES = 256;

export class TextMatcher {
  readonly #spelling: Spelling;
  readonly #tokens: number[] = [];
  #text = '';
  /** Characters of each token. */
  readonly #lengths: number[] = [];

  constructor(spelling: Spelling) {
    this.#spelling = spelling;
  }

  append(tokens: readonly number[]): void {
    const texts = tokens.map((token) => this.#spelling.tokenText(token));
    this.#text += texts.join('');
    this.#lengths.push(...texts.map(({ length }) => length));
    this.#tokens.push(...tokens);
  }

  /** The longest match of the end that is longer than so many tokens, and of several the latest; null: there is none. */
  match(than: number): TextMatch | null {
    const text = this.#text;
    const least = this.#lengths.slice(-than - 1).reduce((sum, length) => sum + length, 0);
    if (least === 0 || than >= this.#tokens.length) return null;
    const end = text.slice(-least);
    let [from, longest] = [-1, 0];
    let at = text.lastIndexOf(end, text.length - least - 1);
    for (let places = 0; at >= 0 && places < MOST_PLACES && longest < LONGEST; places++) {
      let length = least;
      const after = at + least;
      while (length < LONGEST && length < after && text[after - 1 - length] === text[text.length - 1 - length])
        length++;
      if (length > longest) [from, longest] = [after, length];
      at = at > 0 ? text.lastIndexOf(end, at - 1) : -1;
    }
    if (from < 0) return null;
    let [tokens, characters] = [0, 0];
    while (characters <= longest && tokens < this.#tokens.length) characters += this.#lengths.at(-++tokens) as number;
    const length = characters > longest ? tokens - 1 : tokens;
    return { length, following: this.#spelling.retokenise(this.#tokens, text.slice(from, from + LONGEST)) };
  }
}
