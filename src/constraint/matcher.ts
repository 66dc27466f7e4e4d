// Follows one answer through its constraint: which tokens may come next, and which text must. It is asked about a text
// (the answer's tokens), goes there from where it stood, and gives an answer that depends on that text alone. So every
// decoding system sees the same constraint, however it got there.
import type { CompiledGrammar, GrammarMatcher } from '@mlc-ai/web-xgrammar';
import { OutriderError } from '../base/errors.ts';
import { badConstraint } from '../base/refuse.ts';
import { allowedWords } from '../kernels/sampling/draw-allowed.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { bytesOf, encodeWith, type Marks } from './marks.ts';
import { loadXGrammar } from './xgrammar.ts';

/** A constraint, compiled for a vocabulary. */
export interface Compiled {
  readonly grammar: CompiledGrammar;
  readonly tokenizer: Tokenizer;
  readonly marks: Marks;
  /** Of the model: its logits have so many columns. */
  readonly vocabulary: number;
  /** Any of them may end the answer, once the constraint is fulfilled. */
  readonly stopTokens: ReadonlySet<number>;
  /** Stands for the end where no stop token does; no token has this id. */
  readonly end: number;
}

const utf8 = new TextEncoder();
/** In the place of a token. */
const NONE = -1;

export class ConstraintMatcher {
  readonly #compiled: Compiled;
  readonly #matcher: GrammarMatcher;
  /** The tokens that it has accepted. */
  readonly #at: number[] = [];
  /** What is known of the text that it stands at: a round asks the same more than once. */
  #here: { must?: readonly number[]; complete?: boolean } = {};
  /** A token that was allowed where the answer might have ended. */
  #goesOn = NONE;
  /** The forced text of a state is asked for often, and texts repeat. */
  readonly #encoded = new Map<string, readonly number[]>();
  /** Time spent in the grammar, in milliseconds. */
  ms = 0;

  private constructor(compiled: Compiled, matcher: GrammarMatcher) {
    this.#compiled = compiled;
    this.#matcher = matcher;
  }

  /** `begin`: how the answer begins, before its first token. */
  static async open(compiled: Compiled, begin = ''): Promise<ConstraintMatcher> {
    const { GrammarMatcher } = await loadXGrammar();
    const matcher = new ConstraintMatcher(compiled, await GrammarMatcher.createGrammarMatcher(compiled.grammar));
    if (begin === '') return matcher;
    const follows = matcher.#matcher._acceptString(begin);
    if (follows && !(await matcher.ends([]))) return matcher;
    matcher[Symbol.dispose]();
    throw badConstraint(
      follows
        ? 'the beginning of the answer fulfils the constraint, and nothing may follow'
        : `the constraint does not allow an answer that begins with ${JSON.stringify(begin.slice(0, 60))}`,
    );
  }

  /** Whether `token` may follow this text. */
  allows(text: readonly number[], token: number): boolean {
    return this.#timed(() => {
      this.#go(text);
      return this.#accept(token);
    });
  }

  /** The tokens that may follow this text: bit t % 32 of word t / 32. All words are 0 where there is none. */
  async allowed(text: readonly number[]): Promise<Uint32Array> {
    const began = performance.now();
    this.#go(text);
    const { vocabulary } = this.#compiled;
    const mask = new Uint32Array((await this.#matcher.getNextTokenBitmask()).buffer);
    const allowed = mask.slice(0, allowedWords(vocabulary));
    if (vocabulary % 32 > 0) allowed[allowed.length - 1] = (allowed.at(-1) ?? 0) & (2 ** (vocabulary % 32) - 1);
    this.ms += performance.now() - began;
    return allowed;
  }

  /**
   * The token that must follow this text, where the constraint leaves no choice of what is written; null where it does.
   * Forced text is split as the tokenizer splits it. Its last token is left to the model, because what follows may
   * join it: after `"name": "` comes a name.
   */
  forced(text: readonly number[]): number | null {
    const [first, second] = this.#must(text);
    return first !== undefined && second !== undefined ? first : null;
  }

  /** The last token of such a text, which is left to the model: most often it writes this one. */
  expected(text: readonly number[]): number | null {
    const [first, second] = this.#must(text);
    return second === undefined ? (first ?? null) : null;
  }

  /** Whether this text fulfils the constraint, so that the answer may end. */
  complete(text: readonly number[]): boolean {
    return this.#timed(() => {
      const last = text.at(-1);
      // A stop token that the constraint allowed ended it.
      if (last !== undefined && this.#compiled.stopTokens.has(last)) return this.complete(text.slice(0, -1));
      this.#go(text);
      this.#here.complete ??= this.#accept(this.#compiled.end);
      return this.#here.complete;
    });
  }

  /** Whether nothing but the end may follow this text. */
  async ends(text: readonly number[]): Promise<boolean> {
    if (!this.complete(text)) return false;
    // A token that went on before often goes on here too, and asking about one is faster than a mask of all.
    if (this.#goesOn !== NONE && this.allows(text, this.#goesOn)) return false;
    const allowed = await this.allowed(text);
    for (const token of this.#compiled.stopTokens)
      allowed[token >>> 5] = (allowed[token >>> 5] ?? 0) & ~(1 << (token & 31));
    const word = allowed.findIndex((bits) => bits !== 0);
    if (word < 0) return true;
    const bits = allowed[word] as number;
    this.#goesOn = 32 * word + 31 - Math.clz32(bits & -bits);
    return false;
  }

  get stopTokens(): ReadonlySet<number> {
    return this.#compiled.stopTokens;
  }

  [Symbol.dispose](): void {
    this.#matcher.dispose();
  }

  /** The tokens that must follow this text; none where the first of them is not allowed. */
  #must(text: readonly number[]): readonly number[] {
    return this.#timed(() => {
      this.#go(text);
      this.#here.must ??= this.#split(this.#matcher.findJumpForwardString());
      return this.#here.must;
    });
  }

  #split(must: string): readonly number[] {
    if (must === '') return [];
    const tokens = this.#encoded.get(must) ?? this.#encode(must);
    this.#encoded.set(must, tokens);
    const [first] = tokens;
    return first !== undefined && this.#accept(first) ? tokens : [];
  }

  /** Asks about one token, and goes back. */
  #accept(token: number): boolean {
    if (!this.#matcher.acceptToken(token)) return false;
    this.#matcher.rollBack(1);
    return true;
  }

  #go(text: readonly number[]): void {
    let common = 0;
    while (common < text.length && text[common] === this.#at[common]) common++;
    if (common === text.length && common === this.#at.length) return;
    this.#here = {};
    if (this.#at.length > common) this.#matcher.rollBack(this.#at.length - common);
    this.#at.length = common;
    for (const token of text.slice(common)) {
      if (!this.#matcher.acceptToken(token))
        throw new OutriderError('bug', `the constraint does not allow the committed token ${token}`);
      this.#at.push(token);
    }
  }

  /** No tokens where they would not be this very text, such as with a tokenizer that puts a space in front. */
  #encode(text: string): readonly number[] {
    const { tokenizer, marks } = this.#compiled;
    const tokens = encodeWith(tokenizer, marks, text);
    const bytes = tokens.flatMap((token) => [...bytesOf(tokenizer, marks, token)]);
    const wanted = utf8.encode(text);
    return bytes.length === wanted.length && wanted.every((byte, i) => byte === bytes[i]) ? tokens : [];
  }

  #timed<T>(work: () => T): T {
    const began = performance.now();
    try {
      return work();
    } finally {
      this.ms += performance.now() - began;
    }
  }
}

/** No token of this vocabulary continues the answer. */
export const deadEnd = (): Error =>
  badConstraint(
    'no token of this model continues the answer as the constraint wants it',
    'Change the constraint: it asks for characters that the vocabulary cannot write.',
  );
