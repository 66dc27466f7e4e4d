// Renders the Jinja templates of chat models as transformers does: the grammar is @huggingface/jinja's, the meaning is
// Python's (values.ts). A template comes from a stranger: its steps are counted, and it reaches nothing but its values.
import { parse, tokenize } from '@huggingface/jinja';
import { runFilter, runTest } from './filters.ts';
import { member, percentFormat } from './methods.ts';
import { strftime } from './strftime.ts';
import {
  beyond,
  type Callable,
  characters,
  checkLength,
  compare,
  contains,
  Float,
  fromJson,
  isEqual,
  isList,
  isNumber,
  isTrue,
  iterate,
  joinMarkup,
  LONGEST,
  Markup,
  type Named,
  Namespace,
  numberOf,
  refill,
  spend,
  spendText,
  TemplateFault,
  Tuple,
  textOf,
  typeError,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** A node of the parsed template: the library's classes by the fields that are read here. */
interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Characters of a template. The longest published one has 17 thousand. */
const LONGEST_SOURCE = 2 ** 18;
/** As Jinja's sandbox. */
const LONGEST_RANGE = 100_000;

class Scope {
  readonly #names = new Map<string, Value>();
  readonly #outer: Scope | null;
  constructor(outer: Scope | null, names: Iterable<readonly [string, Value]> = []) {
    this.#outer = outer;
    for (const [name, value] of names) this.#names.set(name, value);
  }
  get(name: string): Value {
    const own = this.#names.get(name);
    if (own !== undefined) return own;
    return this.#outer ? this.#outer.get(name) : new Undefined(`'${name}' is undefined`);
  }
  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }
}

const range: Callable = (args) => {
  const [a = 0, b, step = 1] = args.map((value) => {
    if (typeof value === 'number') return value;
    throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  });
  const [from, to] = b === undefined ? [0, a] : [a, b];
  if (step === 0) throw new TemplateFault('ValueError', 'range() arg 3 must not be zero');
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (length > LONGEST_RANGE) throw new TemplateFault('OverflowError', `Range too big. The limit is ${LONGEST_RANGE}.`);
  spend(length / 8);
  return Array.from({ length }, (_, i) => from + i * step);
};

const GLOBALS: readonly (readonly [string, Value])[] = [
  ...(['true', 'True'] as const).map((name) => [name, true] as const),
  ...(['false', 'False'] as const).map((name) => [name, false] as const),
  ...(['none', 'None'] as const).map((name) => [name, null] as const),
  ['range', range],
  ['dict', (_: readonly Value[], named: Named) => new Map<Value, Value>(named)],
  [
    'namespace',
    (args, named) => {
      const first = args[0] instanceof Map ? [...args[0]].map(([key, value]) => [textOf(key), value] as const) : [];
      return new Namespace(new Map<string, Value>([...first, ...named]));
    },
  ],
  [
    'raise_exception',
    ([message]) => {
      throw new TemplateFault('TemplateError', textOf(message ?? ''));
    },
  ],
];

const arithmetic = (sign: string, a: Value, b: Value): Value => {
  const numeric = (value: Value): value is number | boolean | Float => isNumber(value) || typeof value === 'boolean';
  if (sign === '%' && typeof a === 'string') return percentFormat(a, b);
  if (numeric(a) && numeric(b)) {
    const [x, y] = [numberOf(a), numberOf(b)];
    if (y === 0 && (sign === '/' || sign === '//' || sign === '%'))
      throw new TemplateFault('ZeroDivisionError', 'division by zero');
    const number = {
      '+': x + y,
      '-': x - y,
      '*': x * y,
      '/': x / y,
      '//': Math.floor(x / y),
      '%': x - y * Math.floor(x / y),
      '**': x ** y,
    }[sign] as number;
    return a instanceof Float || b instanceof Float || sign === '/' || (sign === '**' && y < 0)
      ? new Float(number)
      : number;
  }
  for (const value of [a, b]) if (value instanceof Undefined) throw value.fault;
  if (sign === '+') {
    if (a instanceof Markup || b instanceof Markup) return joinMarkup(a, b);
    if (typeof a === 'string' && typeof b === 'string') {
      checkLength(a.length + b.length);
      return a + b;
    }
    if (isList(a) && isList(b)) {
      spend((a.length + b.length) / 8);
      return [...a, ...b];
    }
    if (a instanceof Tuple && b instanceof Tuple) return new Tuple([...a.items, ...b.items]);
    if (typeof a === 'string') throw typeError(`can only concatenate str (not "${typeName(b)}") to str`);
    if (isList(a)) throw typeError(`can only concatenate list (not "${typeName(b)}") to list`);
  }
  if (sign === '*' && (typeof a === 'number' || typeof b === 'number')) {
    const [count, what] = typeof a === 'number' ? [a, b] : [b as number, a];
    const times = Math.max(0, count);
    if (typeof what === 'string') {
      checkLength(what.length * times);
      return what.repeat(times);
    }
    if (isList(what)) {
      spend(what.length * times);
      return Array.from({ length: times }, () => what).flat();
    }
  }
  throw typeError(`unsupported operand type(s) for ${sign}: '${typeName(a)}' and '${typeName(b)}'`);
};

const binary = (sign: string, a: Value, b: Value): Value => {
  switch (sign) {
    case '==':
      return isEqual(a, b);
    case '!=':
      return !isEqual(a, b);
    case 'in':
      return contains(b, a);
    case 'not in':
      return !contains(b, a);
    case '<':
      return compare(a, b, sign) < 0;
    case '>':
      return compare(a, b, sign) > 0;
    case '<=':
      return compare(a, b, sign) <= 0;
    case '>=':
      return compare(a, b, sign) >= 0;
    case '~': {
      const text = textOf(a) + textOf(b);
      checkLength(text.length);
      return text;
    }
    default:
      return arithmetic(sign, a, b);
  }
};

/** `value[start:stop:step]`, with Python's meaning of negative and missing numbers. */
const slice = (value: Value, start: Value, stop: Value, step: Value): Value => {
  const by = step === null ? 1 : (step as number);
  if (by === 0) throw new TemplateFault('ValueError', 'slice step cannot be zero');
  if (value instanceof Undefined) throw value.fault;
  const items = typeof value === 'string' ? characters(value) : value instanceof Tuple ? value.items : value;
  if (!isList(items)) throw typeError(`'${typeName(value)}' object is not subscriptable`);
  const [low, high] = by > 0 ? [0, items.length] : [-1, items.length - 1];
  const place = (own: Value, otherwise: number): number => {
    if (own === null) return otherwise;
    if (typeof own !== 'number') throw typeError('slice indices must be integers or None');
    return Math.max(low, Math.min(high, own < 0 ? own + items.length : own));
  };
  const [from, to] = [place(start, by > 0 ? low : high), place(stop, by > 0 ? high : low)];
  const taken: Value[] = [];
  spend(Math.abs(to - from) / 8);
  for (let i = from; by > 0 ? i < to : i > to; i += by) taken.push(items[i] as Value);
  if (typeof value === 'string') return taken.join('');
  return value instanceof Tuple ? new Tuple(taken) : taken;
};

const nodes = (value: unknown): readonly Node[] => (value as readonly Node[] | null) ?? [];

const loopAt = (items: readonly Value[], i: number): Namespace => {
  const cycle: Callable = (args) => args[i % args.length] ?? null;
  const fields: readonly (readonly [string, Value])[] = [
    ['index', i + 1],
    ['index0', i],
    ['revindex', items.length - i],
    ['revindex0', items.length - i - 1],
    ['first', i === 0],
    ['last', i === items.length - 1],
    ['length', items.length],
    ['previtem', i > 0 ? (items[i - 1] as Value) : new Undefined('there is no previous item')],
    ['nextitem', i + 1 < items.length ? (items[i + 1] as Value) : new Undefined('there is no next item')],
    ['cycle', cycle],
  ];
  return new Namespace(new Map(fields));
};

class Renderer {
  #written = '';

  /** The text that a block writes. */
  capture(body: readonly Node[], scope: Scope): string {
    const before = this.#written;
    this.#written = '';
    try {
      this.#block(body, scope);
      return this.#written;
    } finally {
      this.#written = before;
    }
  }

  #write(text: string): null {
    checkLength(text.length);
    if (this.#written.length + text.length > LONGEST) throw beyond(`it writes more than ${LONGEST} characters`);
    this.#written += text;
    return null;
  }

  /** Ends early, and says how, where a loop is to be left or to go on. */
  #block(body: readonly Node[], scope: Scope): 'Break' | 'Continue' | null {
    for (const node of body) {
      const end = this.#statement(node, scope);
      if (end) return end;
    }
    return null;
  }

  #statement(node: Node, scope: Scope): 'Break' | 'Continue' | null {
    spend(1);
    switch (node.type) {
      case 'Set': {
        const value = node.value
          ? this.#value(node.value as Node, scope)
          : this.capture(nodes(node.body), new Scope(scope));
        this.#assign(node.assignee as Node, value, scope);
        return null;
      }
      case 'If':
        return this.#block(nodes(this.#true(node.test, scope) ? node.body : node.alternate), scope);
      case 'For':
        return this.#loop(node, scope);
      case 'Break':
      case 'Continue':
        return node.type;
      case 'Macro':
        scope.set((node.name as Node).value as string, this.#macro(nodes(node.args), nodes(node.body), scope));
        return null;
      case 'CallStatement': {
        const call = node.call as Node;
        const caller = this.#macro(nodes(node.callerArgs), nodes(node.body), scope);
        const { args, named } = this.#arguments(nodes(call.args), scope);
        return this.#write(
          textOf(this.#call(call.callee as Node, args, new Map([...named, ['caller', caller]]), scope)),
        );
      }
      case 'FilterStatement':
        return this.#write(textOf(this.#filter(this.capture(nodes(node.body), scope), node.filter as Node, scope)));
      case 'Comment':
        return null;
      default:
        return this.#write(textOf(this.#value(node, scope)));
    }
  }

  #assign(target: Node, value: Value, scope: Scope): void {
    if (target.type === 'Identifier') scope.set(target.value as string, value);
    else if (target.type === 'TupleLiteral') {
      const [names, items] = [nodes(target.value), iterate(value)];
      if (names.length !== items.length)
        throw new TemplateFault('ValueError', `${items.length} values for ${names.length} names`);
      names.forEach((name, i) => {
        this.#assign(name, items[i] as Value, scope);
      });
    } else if (target.type === 'MemberExpression') {
      const object = this.#value(target.object as Node, scope);
      if (!(object instanceof Namespace))
        throw new TemplateFault('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
      object.fields.set((target.property as Node).value as string, value);
    } else throw new TemplateFault('TemplateSyntaxError', `cannot assign to ${target.type}`);
  }

  #loop(node: Node, scope: Scope): null {
    const target = node.loopvar as Node;
    const iterable = node.iterable as Node;
    const picked = iterable.type === 'SelectExpression';
    const all = iterate(this.#value((picked ? iterable.lhs : iterable) as Node, scope));
    const wanted = (item: Value): boolean => {
      const inner = new Scope(scope);
      this.#assign(target, item, inner);
      return this.#true(iterable.test, inner);
    };
    const items = picked ? all.filter(wanted) : all;
    for (let i = 0; i < items.length; i++) {
      spend(1);
      const inner = new Scope(scope, [['loop', loopAt(items, i)]]);
      this.#assign(target, items[i] as Value, inner);
      if (this.#block(nodes(node.body), inner) === 'Break') break;
    }
    if (items.length === 0) this.#block(nodes(node.defaultBlock), scope);
    return null;
  }

  #macro(parameters: readonly Node[], body: readonly Node[], scope: Scope): Callable {
    return (args, named) => {
      const inner = new Scope(scope);
      const rest = new Map(named);
      parameters.forEach((parameter, i) => {
        const withDefault = parameter.type === 'KeywordArgumentExpression';
        const name = (withDefault ? (parameter.key as Node) : parameter).value as string;
        const given = i < args.length ? args[i] : rest.get(name);
        rest.delete(name);
        inner.set(
          name,
          given !== undefined
            ? given
            : withDefault
              ? this.#value(parameter.value as Node, inner)
              : new Undefined(`parameter '${name}' was not provided`),
        );
      });
      const caller = rest.get('caller');
      if (caller !== undefined) inner.set('caller', caller);
      rest.delete('caller');
      inner.set('varargs', new Tuple(args.slice(parameters.length)));
      inner.set('kwargs', new Map<Value, Value>(rest));
      return this.capture(body, inner);
    };
  }

  #arguments(list: readonly Node[], scope: Scope): { readonly args: readonly Value[]; readonly named: Named } {
    const args: Value[] = [];
    const named = new Map<string, Value>();
    for (const node of list) {
      const value = (): Value => this.#value((node.argument ?? node.value) as Node, scope);
      if (node.type === 'SpreadExpression') args.push(...iterate(value()));
      else if (node.type === 'KeywordArgumentExpression') named.set((node.key as Node).value as string, value());
      else if (node.type === 'KeywordSpreadExpression') {
        const more = value();
        if (!(more instanceof Map)) throw typeError(`argument after ** must be a mapping, not ${typeName(more)}`);
        for (const [key, inner] of more) named.set(textOf(key), inner);
      } else args.push(this.#value(node, scope));
    }
    return { args, named };
  }

  #call(callee: Node, args: readonly Value[], named: Named, scope: Scope): Value {
    const called = this.#value(callee, scope);
    if (called instanceof Undefined) throw called.fault;
    if (typeof called !== 'function') throw typeError(`'${typeName(called)}' object is not callable`);
    return called(args, named);
  }

  #filter(value: Value, filter: Node, scope: Scope): Value {
    if (filter.type === 'Identifier') return runFilter(filter.value as string, value);
    if ((filter.callee as Node | undefined)?.type !== 'Identifier')
      throw new TemplateFault('TemplateSyntaxError', 'a filter is a name');
    const { args, named } = this.#arguments(nodes(filter.args), scope);
    return runFilter((filter.callee as Node).value as string, value, args, named);
  }

  #true(node: unknown, scope: Scope): boolean {
    return isTrue(this.#value(node as Node, scope));
  }

  #value(node: Node, scope: Scope): Value {
    spend(1);
    const value = this.#evaluated(node, scope);
    // What is done with a value reads it.
    spendText(value);
    return value;
  }

  #evaluated(node: Node, scope: Scope): Value {
    const of = (inner: unknown): Value => this.#value(inner as Node, scope);
    switch (node.type) {
      case 'Identifier':
        return scope.get(node.value as string);
      case 'IntegerLiteral':
        return node.value as number;
      case 'FloatLiteral':
        return new Float(node.value as number);
      case 'StringLiteral':
        return node.value as string;
      case 'ArrayLiteral':
        return nodes(node.value).map(of);
      case 'TupleLiteral':
        return new Tuple(nodes(node.value).map(of));
      case 'ObjectLiteral':
        return new Map([...(node.value as Map<Node, Node>)].map(([key, value]) => [of(key), of(value)] as const));
      case 'MemberExpression':
        return this.#member(node, scope);
      case 'CallExpression': {
        const { args, named } = this.#arguments(nodes(node.args), scope);
        return this.#call(node.callee as Node, args, named, scope);
      }
      case 'FilterExpression':
        return this.#filter(of(node.operand), node.filter as Node, scope);
      case 'TestExpression':
        return runTest((node.test as Node).value as string, of(node.operand)) !== node.negate;
      case 'UnaryExpression': {
        const value = of(node.argument);
        const sign = (node.operator as Node).value as string;
        if (sign === 'not') return !isTrue(value);
        return arithmetic(sign, 0, value);
      }
      case 'BinaryExpression': {
        const sign = (node.operator as Node).value as string;
        const left = of(node.left);
        if (sign === 'and') return isTrue(left) ? of(node.right) : left;
        if (sign === 'or') return isTrue(left) ? left : of(node.right);
        return binary(sign, left, of(node.right));
      }
      case 'SelectExpression':
        return this.#true(node.test, scope) ? of(node.lhs) : new Undefined('the inline if-expression has no else');
      case 'Ternary':
        return of(this.#true(node.condition, scope) ? node.trueExpr : node.falseExpr);
      default:
        throw new TemplateFault('TemplateSyntaxError', `${node.type} is not supported here`);
    }
  }

  #member(node: Node, scope: Scope): Value {
    const object = this.#value(node.object as Node, scope);
    const property = node.property as Node;
    if (!node.computed) return member(object, property.value as string, true);
    if (property.type !== 'SliceExpression') return member(object, this.#value(property, scope), false);
    const part = (own: unknown): Value => (own ? this.#value(own as Node, scope) : null);
    return slice(object, part(property.start), part(property.stop), part(property.step));
  }
}

/** Reads a template. What it gives renders one conversation; both throw a TemplateFault. */
export const compileTemplate = (
  source: string,
  now = (): Date => new Date(),
): ((variables: Readonly<Record<string, unknown>>) => string) => {
  const program = parsed(source);
  const strftimeNow: Callable = ([format]) => {
    spend(20);
    return strftime(now(), textOf(format ?? ''));
  };
  return (variables) => {
    refill();
    const scope = new Scope(new Scope(null, [...GLOBALS, ['strftime_now', strftimeNow]]));
    for (const [name, value] of Object.entries(variables)) scope.set(name, fromJson(value));
    try {
      return new Renderer().capture(nodes(program.body), scope);
    } catch (error) {
      if (error instanceof RangeError)
        throw new TemplateFault('RecursionError', 'the template calls itself too deeply');
      throw error;
    }
  };
};

const parsed = (source: string): Node => {
  if (source.length > LONGEST_SOURCE)
    throw beyond(`it has ${source.length} characters, expected at most ${LONGEST_SOURCE}`);
  // The library looks for the ends of white space again and again.
  if (/\s{1000}/.test(source)) throw beyond('it has a thousand spaces in a row');
  try {
    return parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true })) as unknown as Node;
  } catch (error) {
    throw new TemplateFault('TemplateSyntaxError', error instanceof Error ? error.message : String(error));
  }
};
