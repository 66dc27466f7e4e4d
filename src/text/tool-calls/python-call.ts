// A call as Python writes it: `f(city="Rome", days=3)`. Its arguments become JSON when the call is complete.
import { type PartialCall, WAIT } from './family.ts';

const WORDS: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  true: 'true',
  false: 'false',
  null: 'null',
};

/** What follows a backslash: the digits of a character's number, or any character. */
const ESCAPE = /^(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U(00(?:0[\da-fA-F]|10)[\da-fA-F]{4})|.)/s;

/** Those of Python, and the slash of JSON. Python keeps the backslash in front of any other character. */
const ESCAPES = `abfnrtv\\'"/\n`;
const ESCAPED = `\x07\b\f\n\r\t\v\\'"/`;

/** Reads literals from a position on. It throws where there is none. */
class Literals {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  skip(token: string): boolean {
    this.#space();
    if (!this.#text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  match(pattern: RegExp): string {
    this.#space();
    const [found] = pattern.exec(this.#text.slice(this.at)) ?? [];
    if (found === undefined) throw new SyntaxError('no literal');
    this.at += found.length;
    return found;
  }

  /** As JSON. */
  value(): string {
    this.#space();
    const next = this.#text[this.at] ?? '';
    if (next === '"' || next === "'") return this.#string(next);
    if (this.skip('[')) return `[${this.#list(']', () => this.value())}]`;
    if (this.skip('{'))
      return `{${this.#list('}', () => {
        const key = this.value();
        if (!this.skip(':')) throw new SyntaxError('no colon');
        return `${key.startsWith('"') ? key : JSON.stringify(key)}: ${this.value()}`;
      })}}`;
    const word = this.match(/^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z]+)/);
    const known = WORDS[word] ?? word;
    JSON.parse(known);
    return known;
  }

  #list(close: string, one: () => string): string {
    const parts: string[] = [];
    while (!this.skip(close)) {
      parts.push(one());
      if (!this.skip(',') && !this.#text.slice(this.at).trimStart().startsWith(close))
        throw new SyntaxError('no comma');
    }
    return parts.join(', ');
  }

  #string(quote: string): string {
    let value = '';
    for (this.at++; this.at < this.#text.length; this.at++) {
      const character = this.#text[this.at] as string;
      if (character === quote) {
        this.at++;
        return JSON.stringify(value);
      }
      if (character !== '\\') value += character;
      else {
        const [written = '', octal, ...hex] = ESCAPE.exec(this.#text.slice(this.at + 1, this.at + 10)) ?? [];
        const digits = octal ?? hex.find(Boolean);
        const at = ESCAPES.indexOf(written);
        if (digits) value += String.fromCodePoint(Number.parseInt(digits, octal ? 8 : 16));
        else value += at < 0 ? `\\${written}` : (ESCAPED[at] ?? '');
        this.at += written.length;
      }
    }
    throw new SyntaxError('a text goes on');
  }

  #space(): void {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at++;
  }
}

/** `suffix`: what stands between the name and its bracket. */
export const readPythonCall = (text: string, ended: boolean, suffix = ''): PartialCall | null => {
  const [head, name = ''] = new RegExp(`^([\\w.-]+?)${suffix}\\(`).exec(text) ?? [];
  if (head === undefined) return !ended && /^[\w.-]*$/.test(text) ? WAIT : null;
  const literals = new Literals(text, head.length);
  const parts: string[] = [];
  try {
    while (!literals.skip(')')) {
      const key = literals.match(/^[^\s=(),'"]+/);
      if (!literals.skip('=')) throw new SyntaxError('no value');
      parts.push(`${JSON.stringify(key)}: ${literals.value()}`);
      if (!literals.skip(',') && !text.slice(literals.at).trimStart().startsWith(')'))
        throw new SyntaxError('no comma');
    }
  } catch {
    // It may only be cut.
    return ended ? null : WAIT;
  }
  return { name, arguments: `{${parts.join(', ')}}`, used: literals.at };
};
