// Finds added tokens in a text, as Hugging Face's tokenizers do: at each place the longest one.

/** An entry of tokenizer.json's `added_tokens`. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** It is none where it is a part of a word. */
  readonly single_word?: boolean;
  /** It takes the white space in front of it, or after it. */
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
  readonly special?: boolean;
  /** It is looked for in the normalised text. By default special tokens are not. */
  readonly normalized?: boolean;
}

/** A stretch of a text: an added token, or what is between two. */
export interface Section {
  readonly text: string;
  readonly token: AddedToken | null;
}

/** What tokens go on with, by character, and the token that ends here. */
interface Branch extends Map<string, Branch> {
  token?: AddedToken;
}

const WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const SPACE = /\p{White_Space}/u;

/** The character before a place, of one UTF-16 unit or of two. */
const before = (text: string, at: number): string => Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
const after = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at) as number) : '';

export class AddedTokens {
  readonly #root: Branch = new Map();

  /** `contents`: what each token looks like in the text, where that is not its own content. */
  constructor(tokens: readonly AddedToken[], contentOf = (token: AddedToken): string => token.content) {
    for (const token of tokens) {
      let branch = this.#root;
      for (const character of contentOf(token)) {
        const next: Branch = branch.get(character) ?? new Map();
        branch.set(character, next);
        branch = next;
      }
      if (branch !== this.#root) branch.token = token;
    }
  }

  split(text: string): readonly Section[] {
    const sections: Section[] = [];
    let start = 0;
    /** Where the last white space that was taken ends: it is not read again for each token in it. */
    let spaces = 0;
    const addText = (end: number): void => {
      if (start < end) sections.push({ text: text.slice(start, end), token: null });
    };
    for (let at = 0; at < text.length; ) {
      const found = this.#longest(text, at);
      if (!found) {
        at++;
        continue;
      }
      let [from, to] = [at, found.end];
      at = to; // the white space that a token takes may itself be one, which is found all the same
      const { token } = found;
      if (token.single_word && (WORD.test(before(text, from)) || WORD.test(after(text, to)))) continue;
      while (token.lstrip && from > start && SPACE.test(text[from - 1] as string)) from--;
      if (token.lstrip) from = Math.max(from, start);
      if (token.rstrip) {
        to = Math.max(to, spaces);
        while (to < text.length && SPACE.test(text[to] as string)) to++;
        spaces = to;
      }
      addText(from);
      if (from < to) sections.push({ text: text.slice(from, to), token });
      start = to;
    }
    addText(text.length);
    return sections;
  }

  #longest(text: string, at: number): { readonly token: AddedToken; readonly end: number } | null {
    let branch: Branch | undefined = this.#root;
    let found: { token: AddedToken; end: number } | null = null;
    for (let end = at; branch; ) {
      if (branch.token) found = { token: branch.token, end };
      const character = after(text, end);
      branch = branch.get(character);
      end += character.length;
    }
    return found;
  }
}
