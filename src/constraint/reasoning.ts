// A constraint for a model that thinks first: the reasoning is free up to a budget, where the closing tag is written for the
// model, and the answer after them may have a constraint of its own. Like any constraint it depends on the text alone, so
// every exact system cuts the reasoning at the same token.
import type { TokenConstraint } from '../decode/core/constrained-text.ts';
import { allowedWords } from '../kernels/sampling/draw-allowed.ts';
import type { ReasoningFormat } from '../text/reasoning.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { bytesOf, encodeWith, type Marks } from './marks.ts';

export interface ReasoningLimits extends ReasoningFormat {
  /** Tokens between the tags; null: as many as the model likes. */
  readonly budget: number | null;
  /** White space between the closing tag and a constrained answer, as the template writes it. */
  readonly gap: string;
}

interface Reader {
  readonly tokenizer: Tokenizer;
  readonly vocabulary: number;
  readonly marks: Marks;
  readonly stopTokens: ReadonlySet<number>;
}

/** Where a text stands, where its reasoning or its answer begin, and the end of it that may be a part of a tag. */
type Place =
  | { readonly in: 'start'; readonly text: string }
  | { readonly in: 'reasoning'; readonly begin: number; readonly text: string }
  /** `gap`: the white space in front of the answer is not complete. */
  | { readonly in: 'answer'; readonly begin: number; readonly gap: boolean };

export class ReasoningConstraint implements TokenConstraint {
  readonly #limits: ReasoningLimits;
  readonly #reader: Reader;
  readonly #inner: TokenConstraint | null;
  readonly #close: readonly number[];
  readonly #gap: readonly number[];
  readonly #texts: (string | undefined)[] = [];
  /** The text that was asked about last, and where each of its beginnings stands. */
  readonly #tokens: number[] = [];
  readonly #places: Place[];

  constructor(limits: ReasoningLimits, reader: Reader, inner: TokenConstraint | null) {
    this.#limits = limits;
    this.#reader = reader;
    this.#inner = inner;
    this.#close = encodeWith(reader.tokenizer, reader.marks, limits.close);
    this.#gap = inner ? encodeWith(reader.tokenizer, reader.marks, limits.gap) : [];
    this.#places = [limits.begun ? { in: 'reasoning', begin: 0, text: '' } : { in: 'start', text: '' }];
  }

  get stopTokens(): ReadonlySet<number> {
    return this.#reader.stopTokens;
  }

  allows(text: readonly number[], token: number): boolean {
    const place = this.#place(text);
    if (place.in === 'answer') return this.#inner?.allows(text.slice(place.begin), token) ?? true;
    if (!this.#inner) return true;
    if (place.in === 'reasoning') return this.#staysInside(place.text, token);
    return this.#opens(place.text, token) || (this.#follows(text) && this.#inner.allows(text, token));
  }

  async allowed(text: readonly number[]): Promise<Uint32Array> {
    const place = this.#place(text);
    if (place.in === 'answer' && this.#inner) return this.#inner.allowed(text.slice(place.begin));
    const { vocabulary } = this.#reader;
    const words = new Uint32Array(allowedWords(vocabulary));
    const inner = place.in === 'start' && this.#follows(text) ? await this.#inner?.allowed(text) : null;
    if (inner) words.set(inner);
    const free = (token: number): boolean => {
      if (!this.#inner || place.in === 'answer') return true;
      return place.in === 'reasoning' ? this.#staysInside(place.text, token) : this.#opens(place.text, token);
    };
    for (let token = 0; token < vocabulary; token++)
      if (free(token)) words[token >>> 5] = (words[token >>> 5] ?? 0) | (1 << (token & 31));
    return words;
  }

  forced(text: readonly number[]): number | null {
    const place = this.#place(text);
    if (place.in === 'answer') {
      const written = text.length - place.begin;
      if (place.gap) return this.#gap[written + this.#gap.length] ?? null;
      return this.#inner?.forced(text.slice(place.begin)) ?? null;
    }
    const { budget } = this.#limits;
    if (place.in === 'start' || budget === null) return null;
    return this.#close[text.length - place.begin - budget] ?? null;
  }

  expected(text: readonly number[]): number | null {
    const place = this.#place(text);
    return place.in === 'answer' && !place.gap ? (this.#inner?.expected(text.slice(place.begin)) ?? null) : null;
  }

  async ends(text: readonly number[]): Promise<boolean> {
    const place = this.#place(text);
    return place.in === 'answer' && !place.gap && this.#inner ? this.#inner.ends(text.slice(place.begin)) : false;
  }

  complete(text: readonly number[]): boolean {
    if (!this.#inner) return true;
    const place = this.#place(text);
    if (place.in === 'answer') return !place.gap && this.#inner.complete(text.slice(place.begin));
    return place.in === 'start' && this.#follows(text) && this.#inner.complete(text);
  }

  /** Goes on from the longest beginning of the text that is known. */
  #place(text: readonly number[]): Place {
    let common = 0;
    while (common < this.#tokens.length && common < text.length && text[common] === this.#tokens[common]) common++;
    this.#tokens.length = common;
    this.#places.length = common + 1;
    for (const token of text.slice(common)) {
      this.#places.push(this.#after(this.#places.at(-1) as Place, token, this.#tokens.push(token)));
    }
    const place = this.#places.at(-1) as Place;
    return place.in === 'answer' ? { ...place, gap: text.length < place.begin } : place;
  }

  /** `length`: of the text, with this token. */
  #after(place: Place, token: number, length: number): Place {
    const { open, close } = this.#limits;
    if (place.in === 'answer') return place;
    let seen = place.text + this.#text(token);
    let begin = place.in === 'reasoning' ? place.begin : length;
    if (place.in === 'start') {
      seen = seen.trimStart();
      if (!seen.startsWith(open))
        return open.startsWith(seen) ? { in: 'start', text: seen } : { in: 'answer', begin: 0, gap: false };
      seen = seen.slice(open.length);
      begin = length;
    }
    if (seen.includes(close)) return { in: 'answer', begin: length + this.#gap.length, gap: true };
    return { in: 'reasoning', begin, text: seen.slice(-close.length) };
  }

  /** Reasoning goes on, or ends with nothing of the answer in the same token; the whole answer does not end here. */
  #staysInside(reasoning: string, token: number): boolean {
    if (this.#reader.stopTokens.has(token)) return false;
    const { close } = this.#limits;
    const own = this.#text(token);
    const text = reasoning + own;
    const end = text.indexOf(close);
    return end === -1 || text.slice(end + close.length).trim() === '';
  }

  /** The token goes on with the opening tag. */
  #opens(start: string, token: number): boolean {
    const own = this.#text(token);
    const text = (start + own).trimStart();
    const { open } = this.#limits;
    return own !== '' && text !== '' && (open.startsWith(text) || text.startsWith(open));
  }

  /** The constraint of the answer allows this text. */
  #follows(text: readonly number[]): boolean {
    return text.every((token, i) => this.#inner?.allows(text.slice(0, i), token));
  }

  #text(token: number): string {
    const known = this.#texts[token];
    if (known !== undefined) return known;
    const text = String.fromCharCode(...bytesOf(this.#reader.tokenizer, this.#reader.marks, token));
    this.#texts[token] = text;
    return text;
  }
}
