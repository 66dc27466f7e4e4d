// Cuts a Jinja template into tokens, with the white space that transformers' settings remove: trim_blocks (the line end
// after a block tag) and lstrip_blocks (the indentation before one).

import { Float } from './numbers.ts';
import { SPACE, strip } from './text.ts';
import { syntaxError } from './values.ts';

/** `open` and `close` are the ends of a tag, by their first two characters: `{%`, `{{`, `%}`, `}}`. */
export interface Token {
  readonly kind: 'data' | 'open' | 'close' | 'name' | 'operator' | 'text' | 'number' | 'end';
  /** As written; of `data` and `text`, what it says. */
  readonly text: string;
  readonly number?: number | Float;
  readonly line: number;
}

const DIGITS = '\\d+(?:_\\d+)*';
const WHITE = new RegExp(`[${SPACE}]*`, 'y');
const FLOAT = new RegExp(`(?<!\\.)${DIGITS}(?:(?:\\.${DIGITS})?e[-+]?${DIGITS}|\\.${DIGITS})`, 'iy');
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{L}\p{M}\p{N}_]+/uy;
const IDENTIFIER = /^[\p{ID_Start}_]\p{ID_Continue}*$/u;
const OPERATOR = /\*\*|\/\/|[=!<>]=|[-+*/%~[\](){}<>=.:|,;]/y;
const OPEN = /\{([{%#])([-+]?)/g;
const RAW = /\s*raw\s*(-?)%\}/y;
const END_OF_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const PAIRS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([0-7]{1,3})|(.))/gis;

/** The text that a literal stands for, with Python's escapes; null where one of them is none. */
const unescaped = (literal: string): string | null => {
  let isValid = true;
  const text = literal.replace(ESCAPE, (whole, x, u, U, octal, one) => {
    if (one !== undefined) {
      isValid &&= !'xuUN'.includes(one);
      return ESCAPES[one] ?? whole;
    }
    const code = octal === undefined ? Number.parseInt(x ?? u ?? U, 16) : Number.parseInt(octal, 8);
    isValid &&= code <= 0x10ffff;
    return isValid ? String.fromCodePoint(code) : '';
  });
  return isValid ? text : null;
};

export const tokenize = (template: string): readonly Token[] => {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let [at, line, counted] = [0, 1, 0];

  const lineHere = (): number => {
    for (; counted < at; counted++) if (source[counted] === '\n') line++;
    return line;
  };
  const add = (kind: Token['kind'], text: string, more?: Pick<Token, 'number'>): void => {
    tokens.push({ kind, text, line: lineHere(), ...more });
  };
  const wrong = (what: string): Error => syntaxError(`line ${lineHere()}: ${what}`);
  /** What the pattern finds here, if it does; and goes on after it. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match) at += match[0].length;
    return match;
  };
  const find = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  /** After a tag: `-` removes white space, `+` keeps a line end, which goes otherwise. */
  const closeTag = (sign: string, trims: boolean): void => {
    if (sign === '-') take(WHITE);
    else if (sign === '' && trims && source[at] === '\n') at++;
  };

  /** The text up to a tag. */
  const addData = (to: number, sign: string, indents: boolean): void => {
    let text = source.slice(at, to);
    const lineStart = text.lastIndexOf('\n') + 1;
    const startsLine = lineStart > 0 || at === 0 || source[at - 1] === '\n';
    if (sign === '-') text = strip(text, null, false, true);
    else if (sign === '' && indents && startsLine && strip(text.slice(lineStart), null, true, false) === '')
      text = text.slice(0, lineStart);
    if (text !== '') add('data', text);
    at = to;
  };

  const addText = (quote: string): void => {
    let end = at + 1;
    while (end < source.length && source[end] !== quote) end += source[end] === '\\' ? 2 : 1;
    if (end >= source.length) throw wrong('a text in quotes has no end');
    const text = unescaped(source.slice(at + 1, end));
    if (text === null)
      throw wrong('a text in quotes has an escape that is not supported: \\x, \\u and \\U take digits');
    add('text', text);
    at = end + 1;
  };

  /** The tokens of a tag, its ends included. */
  const addTag = (kind: '%' | '{'): void => {
    const end = kind === '%' ? /([-+]?)%\}/y : /(-?)\}\}/y;
    const opened: string[] = [];
    add('open', `{${kind}`);
    for (;;) {
      take(WHITE);
      const close = opened.length === 0 ? take(end) : null;
      if (close) {
        closeTag(close[1] as string, kind === '%');
        add('close', kind === '%' ? '%}' : '}}');
        return;
      }
      const character = source[at];
      if (character === undefined) throw wrong(`the tag has no end (${kind === '%' ? '%}' : '}}'})`);
      if (character === "'" || character === '"') {
        addText(character);
        continue;
      }
      const float = take(FLOAT)?.[0];
      const number = float ?? take(INTEGER)?.[0];
      if (number !== undefined) {
        const value = Number(number.replaceAll('_', ''));
        if (float === undefined && !Number.isSafeInteger(value))
          throw wrong('whole numbers beyond 2**53 are not supported');
        add('number', number, { number: float === undefined ? value : new Float(value) });
        continue;
      }
      const name = take(NAME)?.[0];
      if (name !== undefined) {
        if (!IDENTIFIER.test(name)) throw wrong(`'${name}' is not a name`);
        add('name', name);
        continue;
      }
      const operator = take(OPERATOR)?.[0];
      if (operator === undefined) throw wrong(`unexpected character '${character}'`);
      const closing = PAIRS[operator];
      if (closing) opened.push(closing);
      else if (')]}'.includes(operator)) {
        const expected = opened.pop();
        if (expected !== operator) throw wrong(`unexpected '${operator}'${expected ? `, expected '${expected}'` : ''}`);
      }
      add('operator', operator);
    }
  };

  for (;;) {
    const open = find(OPEN);
    if (!open) break;
    const [whole, kind, sign] = open as unknown as readonly [string, '{' | '%' | '#', string];
    addData(open.index, sign, kind !== '{');
    at += whole.length;
    const raw = kind === '%' ? take(RAW) : null;
    if (kind === '#') {
      const end = source.indexOf('#}', at);
      if (end < 0) throw wrong('the comment has no end (#})');
      const last = end > at ? (source[end - 1] as string) : '';
      at = end + 2;
      closeTag('-+'.includes(last) ? last : '', true);
    } else if (raw) {
      closeTag(raw[1] as string, false);
      const end = find(END_OF_RAW);
      if (!end) throw wrong('{% raw %} has no {% endraw %}');
      addData(end.index, end[1] as string, true);
      at += end[0].length;
      closeTag(end[2] as string, true);
    } else addTag(kind as '{' | '%');
  }
  if (at < source.length) {
    const rest = source.slice(at);
    add('data', rest);
    at = source.length;
  }
  add('end', '');
  return tokens;
};
