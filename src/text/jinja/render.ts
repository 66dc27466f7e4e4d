// Renders the Jinja templates of chat models as transformers does, with Python's meaning of values (values.ts). A
// template comes from a stranger: its steps are counted, and it reaches nothing but its values.
import { runFilter } from './filters.ts';
import { checkField, globals } from './globals.ts';
import { member } from './methods.ts';
import { Float } from './numbers.ts';
import { arithmetic, holds, slice } from './operators.ts';
import { parseTemplate } from './parser.ts';
import { runTest } from './tests.ts';
import type { Applied, Arguments, Body, Expression, Loop, Parameter, Slice, Statement, Target } from './tree.ts';
import {
  beyond,
  type Callable,
  checkLength,
  fromJson,
  Instance,
  isEqual,
  isTrue,
  iterate,
  LONGEST,
  Namespace,
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

/** Characters of a template. The longest published one has 17 thousand. */
const LONGEST_SOURCE = 2 ** 18;

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

/** Where a for block is. */
interface Progress {
  readonly items: readonly Value[];
  readonly depth: number;
  at: number;
  /** What `loop.changed` was given last. */
  last: Value | null;
}

const LOOP: Readonly<Record<string, (progress: Progress) => Value>> = {
  changed: (progress) => (args) => {
    const values = new Tuple(args);
    const isNew = progress.last === null || !isEqual(progress.last, values);
    progress.last = values;
    return isNew;
  },
  cycle:
    ({ at }) =>
    (args) => {
      if (args.length === 0) throw typeError('no items for cycling given');
      return args[at % args.length] as Value;
    },
  depth: ({ depth }) => depth,
  depth0: ({ depth }) => depth - 1,
  first: ({ at }) => at === 0,
  index: ({ at }) => at + 1,
  index0: ({ at }) => at,
  last: ({ items, at }) => at === items.length - 1,
  length: ({ items }) => items.length,
  nextitem: ({ items, at }) =>
    at + 1 < items.length ? (items[at + 1] as Value) : new Undefined('there is no next item'),
  previtem: ({ items, at }) => (at > 0 ? (items[at - 1] as Value) : new Undefined('there is no previous item')),
  revindex: ({ items, at }) => items.length - at,
  revindex0: ({ items, at }) => items.length - at - 1,
};

class Renderer {
  #written = '';

  /** The text that a block writes. */
  capture(body: Body, scope: Scope): string {
    return this.#captured(() => this.#block(body, scope));
  }

  #captured(write: () => void): string {
    const before = this.#written;
    this.#written = '';
    try {
      write();
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
  #block(body: Body, scope: Scope): 'break' | 'continue' | null {
    for (const statement of body) {
      const end = this.#statement(statement, scope);
      if (end) return end;
    }
    return null;
  }

  #statement(statement: Statement, scope: Scope): 'break' | 'continue' | null {
    spend(1);
    switch (statement.type) {
      case 'data':
        return this.#write(statement.text);
      case 'print':
        return this.#write(textOf(this.#value(statement.value, scope)));
      case 'set':
        this.#assign(statement.target, this.#value(statement.value, scope), scope);
        return null;
      case 'capture': {
        const text = this.capture(statement.body, new Scope(scope));
        this.#assign(statement.target, this.#filter(text, statement.filters, scope), scope);
        return null;
      }
      case 'if': {
        const branch = statement.branches.find(([test]) => this.#true(test, scope));
        return this.#block(branch ? branch[1] : statement.otherwise, scope);
      }
      case 'for':
        this.#loop(statement, scope);
        return null;
      case 'with': {
        const inner = new Scope(scope);
        for (const [target, value] of statement.names) this.#assign(target, this.#value(value, scope), inner);
        return this.#block(statement.body, inner);
      }
      case 'macro':
        scope.set(statement.name, this.#macro(statement.parameters, statement.body, scope));
        return null;
      case 'call-block': {
        const { callee, args } = statement.call;
        const caller = this.#macro(statement.parameters, statement.body, scope);
        return this.#write(textOf(this.#call(callee, args, scope, [['caller', caller]])));
      }
      case 'filter-block': {
        const text = this.capture(statement.body, new Scope(scope));
        return this.#write(textOf(this.#filter(text, statement.filters, scope)));
      }
      default:
        return statement.type;
    }
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    switch (target.type) {
      case 'name':
        scope.set(target.name, value);
        return;
      case 'tuple': {
        const items = iterate(value);
        if (target.targets.length !== items.length)
          throw new TemplateFault('ValueError', `${items.length} values for ${target.targets.length} names`);
        target.targets.forEach((own, i) => {
          this.#assign(own, items[i] as Value, scope);
        });
        return;
      }
      case 'attribute': {
        const object = scope.get(target.object);
        if (!(object instanceof Namespace))
          throw new TemplateFault('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
        checkField(target.name);
        object.fields.set(target.name, value);
      }
    }
  }

  #loop(loop: Loop, scope: Scope, iterable = this.#value(loop.iterable, scope), depth = 1): void {
    const all = iterate(iterable);
    const { target, test } = loop;
    const wanted = (item: Value): boolean => {
      const inner = new Scope(scope);
      this.#assign(target, item, inner);
      return this.#true(test as Expression, inner);
    };
    const items = test ? all.filter(wanted) : all;
    const progress: Progress = { items, depth, at: 0, last: null };
    const again: Callable = ([inner = null]) => {
      if (loop.recursive) return this.#captured(() => this.#loop(loop, scope, inner, depth + 1));
      throw typeError("The loop must have the 'recursive' marker to be called recursively.");
    };
    const own = new Instance(
      'LoopContext',
      (name) => (Object.hasOwn(LOOP, name) ? LOOP[name]?.(progress) : undefined),
      again,
    );
    // Jinja counts an iteration when its end is reached.
    let isEmpty = true;
    for (; progress.at < items.length; progress.at++) {
      spend(1);
      const inner = new Scope(scope, [['loop', own]]);
      this.#assign(target, items[progress.at] as Value, inner);
      const end = this.#block(loop.body, inner);
      if (end === null) isEmpty = false;
      if (end === 'break') break;
    }
    if (isEmpty) this.#block(loop.otherwise, new Scope(scope));
  }

  #macro(parameters: readonly Parameter[], body: Body, scope: Scope): Callable {
    return (args, named) => {
      const inner = new Scope(scope);
      const rest = new Map(named);
      const missing = parameters.filter(([name], i) => {
        const given = i < args.length ? args[i] : rest.get(name);
        rest.delete(name);
        inner.set(name, given === undefined ? new Undefined(`parameter '${name}' was not provided`) : given);
        return given === undefined;
      });
      for (const [name, otherwise] of missing) if (otherwise) inner.set(name, this.#value(otherwise, inner));
      const caller = rest.get('caller');
      if (caller !== undefined) inner.set('caller', caller);
      rest.delete('caller');
      inner.set('varargs', new Tuple(args.slice(parameters.length)));
      inner.set('kwargs', new Map<Value, Value>(rest));
      return this.capture(body, inner);
    };
  }

  #arguments(list: Arguments, scope: Scope): { readonly args: readonly Value[]; readonly named: Map<string, Value> } {
    const args = list.positional.map((node) => this.#value(node, scope));
    if (list.spread) for (const value of iterate(this.#value(list.spread, scope))) args.push(value);
    const named = new Map(list.named.map(([name, node]) => [name, this.#value(node, scope)] as const));
    if (list.namedSpread) {
      const more = this.#value(list.namedSpread, scope);
      if (!(more instanceof Map)) throw typeError(`argument after ** must be a mapping, not ${typeName(more)}`);
      for (const [name, value] of more) named.set(textOf(name), value);
    }
    return { args, named };
  }

  /** `more`: further arguments with names. */
  #call(callee: Expression, list: Arguments, scope: Scope, more: Iterable<readonly [string, Value]> = []): Value {
    const called = this.#value(callee, scope);
    const { args, named } = this.#arguments(list, scope);
    for (const [name, value] of more) named.set(name, value);
    if (called instanceof Undefined) throw called.fault;
    if (typeof called === 'function') return called(args, named);
    if (called instanceof Instance && called.call) return called.call(args, named);
    throw typeError(`'${typeName(called)}' object is not callable`);
  }

  #filter(value: Value, filters: readonly Applied[], scope: Scope): Value {
    return filters.reduce((all, { name, args: list }) => {
      const { args, named } = this.#arguments(list, scope);
      return runFilter(name, all, args, named);
    }, value);
  }

  #true(node: Expression, scope: Scope): boolean {
    return isTrue(this.#value(node, scope));
  }

  #value(node: Expression, scope: Scope): Value {
    spend(1);
    const value = this.#evaluated(node, scope);
    // What is done with a value reads it.
    spendText(value);
    return value;
  }

  #evaluated(node: Expression, scope: Scope): Value {
    const of = (inner: Expression): Value => this.#value(inner, scope);
    switch (node.type) {
      case 'constant':
        return node.value;
      case 'name':
        return scope.get(node.name);
      case 'list':
        return node.items.map(of);
      case 'tuple':
        return new Tuple(node.items.map(of));
      case 'dict':
        return new Map(node.entries.map(([key, value]) => [of(key), of(value)] as const));
      case 'attribute':
        return member(of(node.object), node.name, true);
      case 'item':
        return node.key.type === 'slice'
          ? this.#slice(of(node.object), node.key, scope)
          : member(of(node.object), of(node.key), false);
      case 'call':
        return this.#call(node.callee, node.args, scope);
      case 'filter':
        return this.#filter(of(node.operand), [node.filter], scope);
      case 'test': {
        const value = of(node.operand);
        const { args, named } = this.#arguments(node.test.args, scope);
        // No test has more than one argument, so its name does not matter.
        return runTest(node.test.name, value, [...args, ...named.values()]);
      }
      case 'not':
        return !this.#true(node.operand, scope);
      case 'sign': {
        const value = of(node.operand);
        return value instanceof Float && node.sign === '-' ? new Float(-value.value) : arithmetic(node.sign, 0, value);
      }
      case 'and': {
        const left = of(node.left);
        return isTrue(left) ? of(node.right) : left;
      }
      case 'or': {
        const left = of(node.left);
        return isTrue(left) ? left : of(node.right);
      }
      case 'arithmetic':
        return arithmetic(node.sign, of(node.left), of(node.right));
      case 'concatenation': {
        const texts = node.parts.map((part) => textOf(of(part)));
        checkLength(texts.reduce((sum, text) => sum + text.length, 0));
        return texts.join('');
      }
      case 'comparison': {
        let left = of(node.first);
        return node.rest.every(([sign, inner]) => {
          const right = of(inner);
          const result = holds(sign, left, right);
          left = right;
          return result;
        });
      }
      case 'choice':
        if (this.#true(node.test, scope)) return of(node.value);
        return node.otherwise ? of(node.otherwise) : new Undefined('the inline if-expression has no else');
    }
  }

  #slice(value: Value, { start, stop, step }: Slice, scope: Scope): Value {
    const part = (own: Expression | null): Value => (own ? this.#value(own, scope) : null);
    return slice(value, part(start), part(stop), part(step));
  }
}

/** Reads a template. What it gives renders one conversation; both throw a TemplateFault. */
export const compileTemplate = (
  source: string,
  now = (): Date => new Date(),
): ((variables: Readonly<Record<string, unknown>>) => string) => {
  if (source.length > LONGEST_SOURCE)
    throw beyond(`it has ${source.length} characters, expected at most ${LONGEST_SOURCE}`);
  refill();
  const body = parseTemplate(source);
  return (variables) => {
    refill();
    const scope = new Scope(new Scope(null, globals(now)));
    for (const [name, value] of Object.entries(variables)) scope.set(name, fromJson(value));
    try {
      return new Renderer().capture(body, scope);
    } catch (error) {
      if (error instanceof RangeError)
        throw new TemplateFault('RecursionError', 'the template calls itself too deeply');
      throw error;
    }
  };
};
