// Runs a chat template within bounds. It comes from a stranger and is a program: `range(1e9)` or two nested loops keep a
// page busy, strings that double fill its memory. The library's interpreter does the work; every value passes here.
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import type { OutriderError } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';

/**
 * Milliseconds for a template, and more for each message: published ones take one to ten, and one of them looks back at
 * all messages for each (google/gemma-4: 800 for 400 messages).
 */
const LONGEST = 500;
const LONGEST_EACH = 5;
/** Characters and sixteenths of list entries in one value, in addition to eight times the conversation's. */
const LARGEST = 2 ** 17;
/** The same in all values that a template makes, in addition to 1024 times the conversation's: some add up a text. */
const ALL = 2 ** 25;
/** Characters of a template. The longest published one has 17 thousand. */
const SOURCE = 2 ** 18;
const ENTRY = 16;
const DEEPEST = 64;

type Value = ReturnType<Interpreter['evaluate']>;
type Statement = NonNullable<Parameters<Interpreter['evaluate']>[0]>;
type Node = Statement & { readonly [part: string]: unknown };

interface Size {
  readonly size: number;
  readonly depth: number;
}

const HINT = 'The template is broken, or made to keep a page busy.';

const beyond = (what: string): OutriderError => bad(`chat template: ${what}`, HINT);

const isContainer = (value: Value): boolean => value.value instanceof Map || Array.isArray(value.value);

/**
 * Filters that repeat an argument for every entry or line. Their arguments must be short: in published templates these
 * are separators and widths.
 */
const REPEATING = ['join', 'indent', 'tojson'];
const SHORT = { characters: 256, number: 16 };

class BoundedInterpreter extends Interpreter {
  readonly #longest: number;
  readonly #end: number;
  readonly #sizes = new WeakMap<Value, Size>();
  readonly #counted = new WeakSet<Value>();
  readonly #short = new WeakSet<object>();
  readonly #largest: number;
  #left: number;
  #steps = 0;

  constructor(environment: Environment, given: number, messages: number) {
    super(environment);
    this.#longest = LONGEST + LONGEST_EACH * messages;
    this.#end = performance.now() + this.#longest;
    this.#largest = LARGEST + 8 * given;
    this.#left = ALL + 1024 * given;
  }

  override evaluate(statement: Statement | undefined, environment: Environment): Value {
    if (statement && 'filter' in statement) this.#noteArguments(statement.filter as Node);
    const value = super.evaluate(statement, environment);
    // A step may take as long as the largest value allows, so the clock is read often.
    if (++this.#steps % 8 === 0 && performance.now() > this.#end)
      throw beyond(`it takes more than ${this.#longest} milliseconds for these messages`);
    const { size } = this.#measure(value);
    if (size > this.#largest) throw beyond(`it makes a value of more than ${this.#largest} characters`);
    if (size > ENTRY && !this.#counted.has(value)) {
      this.#counted.add(value);
      // A list is made of references; the texts in it were counted when they were made.
      this.#left -= Array.isArray(value.value) ? ENTRY * value.value.length : size;
      if (this.#left < 0) throw beyond('it makes too many long values');
    }
    if (statement && this.#short.has(statement)) this.#expectShort(value, size);
    return value;
  }

  /** A list counts what it holds each time it holds it: written out, it is as long. */
  #measure(value: Value): Size {
    if (typeof value.value === 'string') return { size: value.value.length, depth: 0 };
    if (!isContainer(value)) return { size: 0, depth: 0 };
    const known = this.#sizes.get(value);
    if (known) return known;
    const entries = value.value as Map<string, Value> | Value[];
    let size = 0;
    let depth = 0;
    const add = (entry: Value, name: string): void => {
      // Namespaces alone can change, so what was measured stays true.
      if (entry?.type === 'NamespaceValue') throw beyond('a namespace is kept in a list or in a namespace');
      const inner = entry ? this.#measure(entry) : { size: 0, depth: 0 };
      size += ENTRY + name.length + inner.size;
      depth = Math.max(depth, inner.depth);
      if (size > this.#largest) throw beyond(`it makes a value of more than ${this.#largest} characters`);
    };
    if (Array.isArray(entries)) for (const entry of entries) add(entry, '');
    else for (const [name, entry] of entries) add(entry, name);
    if (depth >= DEEPEST) throw beyond(`it nests values more than ${DEEPEST} deep`);
    const measured = { size, depth: depth + 1 };
    if (value.type !== 'NamespaceValue') this.#sizes.set(value, measured);
    return measured;
  }

  #noteArguments(filter: Node): void {
    const name = (filter.callee as Node | undefined)?.value;
    if (filter.type !== 'CallExpression' || !REPEATING.includes(name as string)) return;
    for (const argument of filter.args as Node[]) {
      if (argument.type.endsWith('SpreadExpression')) throw beyond(`${name} is given a list of arguments`);
      this.#short.add(argument.type === 'KeywordArgumentExpression' ? (argument.value as object) : argument);
    }
  }

  #expectShort(value: Value, size: number): void {
    if (size > SHORT.characters || (typeof value.value === 'number' && Math.abs(value.value) > SHORT.number))
      throw beyond('a separator or an indent is too long');
  }
}

/**
 * `replace` is the one method whose result may be far longer than what it is given. Its length is computed first, for
 * every string of the library.
 */
const boundReplace = (): void => {
  const prototype = Object.getPrototypeOf(new Environment().set('text', '')) as object;
  const { get } = Object.getOwnPropertyDescriptor(prototype, 'builtins') as { get: () => Map<string, Value> };
  const bounded = new WeakSet<object>();
  Object.defineProperty(prototype, 'builtins', {
    configurable: true,
    get(this: Value) {
      const builtins = get.call(this);
      if (bounded.has(builtins)) return builtins;
      bounded.add(builtins);
      const replace = builtins.get('replace')?.value as (args: Value[]) => Value;
      const FunctionValue = builtins.get('replace')?.constructor as new (value: unknown) => Value;
      const text = this.value as string;
      const checked = (args: Value[]): Value => {
        const [from, to] = args.map(({ value }) => (typeof value === 'string' ? value : ''));
        const places = from ? text.split(from).length - 1 : text.length + 1;
        if (text.length + places * (to ?? '').length > ALL) throw beyond('replace makes a text that is too long');
        return replace(args);
      };
      return builtins.set('replace', new FunctionValue(checked));
    },
  });
};
boundReplace();

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Python's, for what templates ask for; the names of months in English everywhere. */
const strftime = (format: string): string => {
  const now = new Date();
  const two = (n: number): string => String(n).padStart(2, '0');
  const month = MONTHS[now.getMonth()] as string;
  const parts: Readonly<Record<string, string>> = {
    '%Y': String(now.getFullYear()),
    '%m': two(now.getMonth() + 1),
    '%d': two(now.getDate()),
    '%b': month.slice(0, 3),
    '%B': month,
    '%H': two(now.getHours()),
    '%M': two(now.getMinutes()),
    '%%': '%',
  };
  return String(format).replace(/%./g, (part) => parts[part] ?? part);
};

const range = (first: number, last?: number, by = 1): number[] => {
  const [start, stop] = last === undefined ? [0, first] : [first, last];
  const count = Math.max(0, Math.ceil((stop - start) / by));
  if (!(count * ENTRY <= LARGEST)) throw beyond(`range makes more than ${LARGEST / ENTRY} numbers`);
  return Array.from({ length: count }, (_, i) => start + i * by);
};

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, entry) => sum + ENTRY + lengthOf(entry), 0);
};

/** A chat template that was read; `render` may be called many times. Throws `bad-checkpoint` where a bound is passed. */
export class BoundedTemplate {
  readonly #program: ReturnType<typeof parse>;

  constructor(source: string) {
    if (source.length > SOURCE) throw beyond(`it has ${source.length} characters, expected at most ${SOURCE}`);
    // The library looks for the ends of white space again and again.
    if (/\s{1000}/.test(source)) throw beyond('it has a thousand spaces in a row');
    this.#program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
  }

  render(variables: Readonly<Record<string, unknown>> & { readonly messages: readonly unknown[] }): string {
    const environment = new Environment();
    const globals = {
      ...{ true: true, True: true, false: false, False: false, none: null, None: null },
      range,
      strftime_now: strftime,
      raise_exception: (message: unknown) => {
        throw new Error(String(message));
      },
      ...variables,
    };
    for (const [name, value] of Object.entries(globals)) environment.set(name, value);
    const interpreter = new BoundedInterpreter(environment, lengthOf(variables), variables.messages.length);
    return interpreter.run(this.#program).value as string;
  }
}
