// Reads Jinja's grammar: the tokens of a template into its tree.
import { type Token, tokenize } from './tokens.ts';
import type { Applied, Arguments, Body, Expression, Parameter, Slice, Statement, Target } from './tree.ts';
import { syntaxError } from './values.ts';

const CONSTANTS: Readonly<Record<string, null | boolean>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const NO_ARGUMENTS: Arguments = { positional: [], named: [], spread: null, namedSpread: null };
/** Tags that Jinja has and a chat template, a text without others next to it, cannot use. */
const UNSUPPORTED = ['autoescape', 'block', 'do', 'extends', 'from', 'import', 'include', 'trans'];

const constant = (name: string): Expression | null =>
  Object.hasOwn(CONSTANTS, name) ? { type: 'constant', value: CONSTANTS[name] as null | boolean } : null;

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  template(): Body {
    return this.#body([]);
  }

  // Tokens

  get #token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #next(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  #wrong(what: string, { line } = this.#token): Error {
    return syntaxError(`line ${line}: ${what}`);
  }

  #unexpected(expected: string): Error {
    const { kind, text } = this.#token;
    return this.#wrong(`expected ${expected}, found ${kind === 'end' ? 'the end of the template' : `'${text}'`}`);
  }

  #is(kind: Token['kind'], ...texts: readonly string[]): boolean {
    return this.#token.kind === kind && (texts.length === 0 || texts.includes(this.#token.text));
  }

  #isOperator(...texts: readonly string[]): boolean {
    return this.#is('operator', ...texts);
  }

  /** Whether this word or operator comes after the next token. */
  #isNext(text: string): boolean {
    const token = this.#tokens[this.#at + 1];
    return token?.text === text && token.kind !== 'text';
  }

  /** Goes on after this operator or word where it comes next. */
  #skip(kind: 'operator' | 'name', text: string): boolean {
    const found = this.#is(kind, text);
    if (found) this.#at++;
    return found;
  }

  #expect(kind: Token['kind'], text?: string): Token {
    const fits = text === undefined ? this.#is(kind) : this.#is(kind, text);
    if (!fits) throw this.#unexpected(text === undefined ? `a ${kind}` : `'${text}'`);
    return this.#next();
  }

  // Statements

  /** Statements up to a tag that begins with one of `ends`, which is read up to its word. */
  #body(ends: readonly string[]): Body {
    const body: Statement[] = [];
    for (;;) {
      const token = this.#next();
      if (token.kind === 'data') body.push({ type: 'data', text: token.text });
      else if (token.kind === 'end') {
        if (ends.length === 0) return body;
        throw this.#unexpected(`{% ${ends.join(' %} or {% ')} %}`);
      } else if (token.text === '{{') {
        body.push({ type: 'print', value: this.#tuple() });
        this.#expect('close', '}}');
      } else {
        if (ends.length > 0 && this.#is('name', ...ends)) return body;
        body.push(this.#statement());
        this.#expect('close', '%}');
      }
    }
  }

  /** The body of a tag that has one, its end tag included up to its word. */
  #block(end: string): Body {
    this.#expect('close', '%}');
    const body = this.#body([end]);
    this.#next();
    return body;
  }

  #statement(): Statement {
    const word = this.#expect('name');
    switch (word.text) {
      case 'set':
        return this.#set();
      case 'if':
        return this.#if();
      case 'for':
        return this.#for();
      case 'with': {
        const names: [Target, Expression][] = [];
        while (!this.#is('close')) {
          if (names.length > 0) this.#expect('operator', ',');
          const target = this.#target();
          this.#expect('operator', '=');
          names.push([target, this.#expression()]);
        }
        return { type: 'with', names, body: this.#block('endwith') };
      }
      // It marks the text of the assistant, which matters in training. Names that are set inside stay inside.
      case 'generation':
        return { type: 'with', names: [], body: this.#block('endgeneration') };
      case 'macro': {
        const name = this.#name();
        return { type: 'macro', name, parameters: this.#parameters(), body: this.#block('endmacro') };
      }
      case 'call': {
        const parameters = this.#isOperator('(') ? this.#parameters() : [];
        const call = this.#expression();
        if (call.type !== 'call') throw this.#wrong('{% call %} takes a call', word);
        return { type: 'call-block', call, parameters, body: this.#block('endcall') };
      }
      case 'filter': {
        const filters = [this.#applied(), ...this.#filters()];
        return { type: 'filter-block', filters, body: this.#block('endfilter') };
      }
      case 'print':
        return { type: 'print', value: this.#expression() };
      case 'break':
      case 'continue':
        return { type: word.text };
      default:
        throw this.#wrong(
          UNSUPPORTED.includes(word.text)
            ? `the tag '${word.text}' is not supported in chat templates`
            : `unknown tag '${word.text}'`,
          word,
        );
    }
  }

  #set(): Statement {
    const target = this.#target(true);
    if (this.#skip('operator', '=')) return { type: 'set', target, value: this.#tuple() };
    return { type: 'capture', target, filters: this.#filters(), body: this.#block('endset') };
  }

  #if(): Statement {
    const branches: [Expression, Body][] = [];
    let end: string;
    do {
      const test = this.#tuple(false);
      this.#expect('close', '%}');
      branches.push([test, this.#body(['elif', 'else', 'endif'])]);
      end = this.#next().text;
    } while (end === 'elif');
    return { type: 'if', branches, otherwise: end === 'else' ? this.#block('endif') : [] };
  }

  #for(): Statement {
    const target = this.#target();
    this.#expect('name', 'in');
    const iterable = this.#tuple(false, 'recursive');
    const test = this.#skip('name', 'if') ? this.#expression() : null;
    const recursive = this.#skip('name', 'recursive');
    this.#expect('close', '%}');
    const body = this.#body(['endfor', 'else']);
    const otherwise = this.#next().text === 'else' ? this.#block('endfor') : [];
    return { type: 'for', target, iterable, test, recursive, body, otherwise };
  }

  #name(): string {
    const { text } = this.#expect('name');
    if (constant(text)) throw this.#wrong(`cannot assign to '${text}'`);
    return text;
  }

  /** One name, or several with commas. `attributes`: `object.name` too. */
  #target(attributes = false): Target {
    const one = (): Target => {
      if (this.#skip('operator', '(')) {
        const inner = this.#target(attributes);
        this.#expect('operator', ')');
        return inner;
      }
      const name = this.#name();
      return attributes && this.#skip('operator', '.')
        ? { type: 'attribute', object: name, name: this.#expect('name').text }
        : { type: 'name', name };
    };
    const targets = [one()];
    if (!this.#isOperator(',')) return targets[0] as Target;
    while (this.#skip('operator', ',')) targets.push(one());
    return { type: 'tuple', targets };
  }

  #parameters(): readonly Parameter[] {
    const parameters: Parameter[] = [];
    this.#expect('operator', '(');
    while (!this.#isOperator(')')) {
      if (parameters.length > 0) this.#expect('operator', ',');
      const name = this.#name();
      const otherwise = this.#skip('operator', '=') ? this.#expression() : null;
      if (!otherwise && parameters.at(-1)?.[1]) throw this.#wrong(`the parameter '${name}' needs a value too`);
      parameters.push([name, otherwise]);
    }
    this.#next();
    return parameters;
  }

  // Expressions, the loosest binding first

  /** Without parentheses: `1, 2` is a tuple. */
  #tuple(choices = true, end?: string): Expression {
    const items: Expression[] = [];
    for (;;) {
      if (this.#is('close') || this.#isOperator(')') || (end && this.#is('name', end))) break;
      items.push(choices ? this.#expression() : this.#or());
      if (!this.#skip('operator', ',')) {
        if (items.length === 1) return items[0] as Expression;
        break;
      }
    }
    if (items.length === 0) throw this.#unexpected('an expression');
    return { type: 'tuple', items };
  }

  #expression(): Expression {
    let value = this.#or();
    while (this.#skip('name', 'if')) {
      const test = this.#or();
      const otherwise = this.#skip('name', 'else') ? this.#expression() : null;
      value = { type: 'choice', test, value, otherwise };
    }
    return value;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#skip('name', 'or')) left = { type: 'or', left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#skip('name', 'and')) left = { type: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    return this.#skip('name', 'not') ? { type: 'not', operand: this.#not() } : this.#comparison();
  }

  #comparison(): Expression {
    const first = this.#sum();
    const rest: [string, Expression][] = [];
    for (;;) {
      if (this.#isOperator(...COMPARISONS) || this.#is('name', 'in')) rest.push([this.#next().text, this.#sum()]);
      else if (this.#is('name', 'not') && this.#isNext('in')) {
        this.#next();
        this.#next();
        rest.push(['not in', this.#sum()]);
      } else return rest.length > 0 ? { type: 'comparison', first, rest } : first;
    }
  }

  #sum(): Expression {
    return this.#leftToRight(['+', '-'], () => this.#concatenation());
  }

  #concatenation(): Expression {
    const parts = [this.#product()];
    while (this.#skip('operator', '~')) parts.push(this.#product());
    return parts.length > 1 ? { type: 'concatenation', parts } : (parts[0] as Expression);
  }

  #product(): Expression {
    return this.#leftToRight(['*', '/', '//', '%'], () => this.#leftToRight(['**'], () => this.#signed(true)));
  }

  #leftToRight(signs: readonly string[], operand: () => Expression): Expression {
    let left = operand();
    while (this.#isOperator(...signs)) {
      const sign = this.#next().text;
      left = { type: 'arithmetic', sign, left, right: operand() };
    }
    return left;
  }

  /** A sign binds tighter than a filter: `-1 | abs` is 1. */
  #signed(filters: boolean): Expression {
    const value: Expression = this.#isOperator('+', '-')
      ? { type: 'sign', sign: this.#next().text as '+' | '-', operand: this.#signed(false) }
      : this.#primary();
    const whole = this.#members(value);
    return filters ? this.#filtered(whole) : whole;
  }

  #primary(): Expression {
    const token = this.#next();
    switch (token.kind) {
      case 'name':
        return constant(token.text) ?? { type: 'name', name: token.text };
      case 'number':
        return { type: 'constant', value: token.number as number };
      case 'text': {
        let value = token.text;
        while (this.#is('text')) value += this.#next().text;
        return { type: 'constant', value };
      }
      case 'operator':
        if (token.text === '(') {
          const value: Expression = this.#isOperator(')') ? { type: 'tuple', items: [] } : this.#tuple();
          this.#expect('operator', ')');
          return value;
        }
        if (token.text === '[') return { type: 'list', items: this.#listed(']', () => this.#expression()) };
        if (token.text === '{') return { type: 'dict', entries: this.#listed('}', () => this.#entry()) };
    }
    if (token.kind !== 'end') this.#at--;
    throw this.#unexpected('an expression');
  }

  /** What stands between brackets, the last one included. */
  #listed<T>(end: string, read: () => T): T[] {
    const items: T[] = [];
    while (!this.#isOperator(end)) {
      if (items.length > 0) this.#expect('operator', ',');
      if (this.#isOperator(end)) break;
      items.push(read());
    }
    this.#next();
    return items;
  }

  #entry(): readonly [Expression, Expression] {
    const key = this.#expression();
    this.#expect('operator', ':');
    return [key, this.#expression()];
  }

  /** `.name`, `[key]` and `(…)` after a value. */
  #members(value: Expression): Expression {
    let object = value;
    for (;;) {
      if (this.#isOperator('(')) object = { type: 'call', callee: object, args: this.#arguments() };
      else if (this.#skip('operator', '[')) {
        const keys = this.#listed(']', () => this.#key());
        const [key] = keys;
        if (!key || keys.length > 1) throw this.#wrong('one key is expected between [ and ]');
        object = { type: 'item', object, key };
      } else if (this.#skip('operator', '.')) {
        if (this.#is('number'))
          object = { type: 'item', object, key: { type: 'constant', value: this.#next().number as number } };
        else object = { type: 'attribute', object, name: this.#expect('name').text };
      } else return object;
    }
  }

  #key(): Expression | Slice {
    const part = (): Expression | null => (this.#isOperator(':', ']', ',') ? null : this.#expression());
    const start = part();
    if (!this.#skip('operator', ':')) return start ?? this.#expression();
    const stop = part();
    return { type: 'slice', start, stop, step: this.#skip('operator', ':') ? part() : null };
  }

  /** Filters, tests and calls after a value. */
  #filtered(value: Expression): Expression {
    let operand = value;
    for (;;) {
      if (this.#skip('operator', '|')) operand = { type: 'filter', operand, filter: this.#applied() };
      else if (this.#isOperator('(')) operand = { type: 'call', callee: operand, args: this.#arguments() };
      else if (this.#skip('name', 'is')) {
        const negated = this.#skip('name', 'not');
        const test: Expression = { type: 'test', operand, test: this.#test() };
        operand = negated ? { type: 'not', operand: test } : test;
      } else return operand;
    }
  }

  /** Filters one after the other, in front of a block. */
  #filters(): readonly Applied[] {
    const filters: Applied[] = [];
    while (this.#skip('operator', '|')) filters.push(this.#applied());
    return filters;
  }

  #applied(): Applied {
    const name = this.#expect('name').text;
    return { name, args: this.#isOperator('(') ? this.#arguments() : NO_ARGUMENTS };
  }

  /** The argument of a test may come without parentheses: `x is divisibleby 3`. */
  #test(): Applied {
    const test = this.#applied();
    if (test.args !== NO_ARGUMENTS || this.#is('name', 'else', 'or', 'and')) return test;
    if (this.#is('name', 'is')) throw this.#wrong('tests cannot be chained with is');
    if (!this.#is('name') && !this.#is('text') && !this.#is('number') && !this.#isOperator('[', '{')) return test;
    return { name: test.name, args: { ...NO_ARGUMENTS, positional: [this.#members(this.#primary())] } };
  }

  #arguments(): Arguments {
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    const spread: Expression[] = [];
    const namedSpread: Expression[] = [];
    const orderly = (...later: readonly (readonly unknown[])[]): void => {
      if (later.some(({ length }) => length > 0))
        throw this.#wrong('arguments come in the order: values, names with values, *list, **dict');
    };
    this.#expect('operator', '(');
    this.#listed(')', () => {
      orderly(namedSpread);
      if (this.#skip('operator', '**')) namedSpread.push(this.#expression());
      else if (this.#skip('operator', '*')) {
        orderly(spread);
        spread.push(this.#expression());
      } else if (this.#is('name') && this.#isNext('=')) {
        const name = this.#next().text;
        this.#next();
        named.push([name, this.#expression()]);
      } else {
        orderly(spread, named);
        positional.push(this.#expression());
      }
    });
    return { positional, named, spread: spread[0] ?? null, namedSpread: namedSpread[0] ?? null };
  }
}

/** Throws a TemplateFault where the template is not Jinja. */
export const parseTemplate = (source: string): Body => {
  try {
    return new Parser(tokenize(source)).template();
  } catch (error) {
    if (error instanceof RangeError) throw syntaxError('it is nested too deeply');
    throw error;
  }
};
