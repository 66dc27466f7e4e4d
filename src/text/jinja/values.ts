// The values of a Jinja template, with Python's meaning: how they print, compare, count as true, and are iterated.
// Integers, texts, booleans and None are JavaScript's own; a dict is a Map, a list an Array.
import { bad } from '../../base/refuse.ts';
import { Float, LongInteger } from './numbers.ts';

/** Of a message that a template makes, or that holds a part of one. */
const LONGEST_MESSAGE = 1000;

/** What Python would raise, by the name of its class. */
export class TemplateFault extends Error {
  constructor(kind: string, message: string) {
    super(`${kind}: ${message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message}`);
  }
}

/** A bound is passed: an error of the file's, whatever the conversation. */
export const beyond = (what: string): Error =>
  bad(
    `chat template: ${what}`,
    'The template is broken or hostile. Load the model from elsewhere, or give the prompt as text.',
  );

export const typeError = (message: string): TemplateFault => new TemplateFault('TypeError', message);
export const syntaxError = (message: string): TemplateFault => new TemplateFault('TemplateSyntaxError', message);

/** A name or an attribute that does not exist. It prints as nothing; any other use of it fails. */
export class Undefined {
  readonly fault: TemplateFault;
  constructor(message: string, kind = 'UndefinedError') {
    this.fault = new TemplateFault(kind, message);
  }
}

/** Its items may have names too, as those of `groupby` have. */
export class Tuple {
  readonly items: readonly Value[];
  readonly #names: readonly string[];
  constructor(items: readonly Value[], names: readonly string[] = []) {
    this.items = items;
    this.#names = names;
  }
  named(name: string): Value | undefined {
    return this.items[this.#names.indexOf(name)];
  }
}

/** What `map`, `select` and their like give: it can be iterated once, and neither counted nor written as JSON. */
export class Generator {
  #items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.#items = items;
  }
  take(): readonly Value[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}

/** What `safe` gives: a text to which other texts are joined with their HTML characters escaped. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** `namespace(…)`: its attributes can be set. */
export class Namespace {
  readonly fields: Map<string, Value>;
  constructor(fields: Map<string, Value>) {
    this.fields = fields;
  }
}

/** What only Jinja makes: the `loop` of a for block, a cycler. */
export class Instance {
  readonly kind: string;
  readonly attribute: (name: string) => Value | undefined;
  readonly call: Callable | null;
  constructor(kind: string, attribute: (name: string) => Value | undefined, call: Callable | null = null) {
    this.kind = kind;
    this.attribute = attribute;
    this.call = call;
  }
}

export type Named = ReadonlyMap<string, Value>;
export type Callable = (args: readonly Value[], named: Named) => Value;

/** An argument by its place or its name; `otherwise` where neither is given. */
export const argument = (args: readonly Value[], named: Named, at: number, name: string, otherwise: Value): Value => {
  if (at < args.length) return args[at] as Value;
  const given = named.get(name);
  return given === undefined ? otherwise : given;
};

/** A filter or a test by its name. */
export const found = <T>(table: Readonly<Record<string, T>>, name: string, what: string): T => {
  if (Object.hasOwn(table, name)) return table[name] as T;
  throw new TemplateFault('TemplateRuntimeError', `No ${what} named '${name}' found.`);
};

export type Dict = Map<Value, Value>;
export type Value =
  | null
  | boolean
  | number
  | string
  | Undefined
  | Float
  | LongInteger
  | Tuple
  | Generator
  | Namespace
  | Instance
  | Markup
  | Callable
  | Dict
  | readonly Value[];

/** The longest text, and the most work: about half a second. 400 long messages take an eighth of it. */
export const LONGEST = 2 ** 21;
const MOST_WORK = 2_000_000;

/** What the template that is being rendered has left of its work. Rendering is never interrupted, so there is one. */
let left = 0;

export const refill = (): void => {
  left = MOST_WORK;
};

/** Counts work: a step of the template, some entries of a list, many characters. */
export const spend = (work: number): void => {
  left -= work;
  if (!(left >= 0)) throw beyond('it takes too many steps');
};

/** Counts a text that is read from end to end. */
export const spendText = (value: Value): void => {
  if (typeof value === 'string') spend(value.length / 64);
  else if (value instanceof Markup) spend(value.text.length / 64);
};

/** The text with every match replaced: a call for each takes as long as some steps. */
export const replaceEach = (
  text: string,
  pattern: RegExp,
  by: (match: string, ...groups: string[]) => string,
): string =>
  text.replace(pattern, (match, ...groups) => {
    spend(2);
    return by(match, ...groups);
  });

/** To be called before a text or a list of this length is made. */
export const checkLength = (length: number): void => {
  if (!(length <= LONGEST)) throw beyond(`it makes a value of more than ${LONGEST} characters`);
  spend(length / 256);
};

/** Plain data as template values. */
export const fromJson = (value: unknown): Value => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isInteger(value) ? value : new Float(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Float || value instanceof LongInteger) return value;
  if (Array.isArray(value)) return value.map(fromJson);
  const given = Object.entries(value as object).filter(([, inner]) => inner !== undefined);
  return new Map(given.map(([key, inner]) => [key, fromJson(inner)]));
};

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isNumber = (value: Value): value is number | Float => typeof value === 'number' || value instanceof Float;
export const numberOf = (value: number | boolean | Float): number =>
  value instanceof Float ? value.value : Number(value);

/** A number that is calculated with. */
export const numeric = (value: Value): number => {
  if (value instanceof Undefined) throw value.fault;
  if (isNumber(value) || typeof value === 'boolean') return numberOf(value);
  throw typeError(`a number is required, not ${typeName(value)}`);
};

/** An argument that counts something. */
export const wholeNumber = (value: Value): number => {
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value);
  throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
};

export const typeName = (value: Value): string => {
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || value instanceof LongInteger) return 'int';
  if (typeof value === 'function') return 'function';
  if (isList(value)) return 'list';
  if (value instanceof Map) return 'dict';
  if (value instanceof Float) return 'float';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Generator) return 'generator';
  if (value instanceof Markup) return 'Markup';
  if (value instanceof Instance) return value.kind;
  return value instanceof Undefined ? 'Undefined' : 'Namespace';
};

export const isTrue = (value: Value): boolean => {
  if (value === null || value instanceof Undefined) return false;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Tuple) return value.items.length > 0;
  if (value instanceof Markup) return value.text !== '';
  if (isList(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  if (typeof value === 'object' || typeof value === 'function') return true;
  return value !== 0 && value !== '' && value !== false;
};

/** The characters of a text, as Python counts them. */
export const characters = (text: string): readonly string[] => {
  spend(text.length / 8);
  return Array.from(text);
};

/** What a for loop goes through. */
export const iterate = (value: Value): readonly Value[] => {
  const items = entries(value);
  spend(items.length / 8);
  return items;
};

const entries = (value: Value): readonly Value[] => {
  if (isList(value)) return value;
  if (value instanceof Tuple) return value.items;
  if (value instanceof Map) return [...value.keys()];
  if (value instanceof Markup) return characters(value.text);
  if (value instanceof Generator) return value.take();
  if (value instanceof Undefined) {
    if (value.fault.message.startsWith('SecurityError')) throw value.fault;
    return [];
  }
  if (typeof value === 'string') return characters(value);
  throw typeError(`'${typeName(value)}' object is not iterable`);
};

export const lengthOf = (value: Value): number => {
  if (value instanceof Markup) return lengthOf(value.text);
  if (value instanceof Generator || value instanceof Namespace || value instanceof Instance)
    throw typeError(`object of type '${typeName(value)}' has no len()`);
  if (typeof value === 'string') return /[\ud800-\udfff]/.test(value) ? characters(value).length : value.length;
  if (value instanceof Map) return value.size;
  if (isList(value) || value instanceof Tuple || value instanceof Undefined) return iterate(value).length;
  throw typeError(`object of type '${typeName(value)}' has no len()`);
};

/** Python's repr of a float. */
export const floatText = (value: number): string => {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return `${Object.is(value, -0) ? '-0' : value}.0`;
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) return String(value);
  const [digits, exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
};

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const quoted = (text: string): string => {
  spendText(text);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = replaceEach(text, /(?! )[\\\p{C}\p{Z}'"]/gu, (character) => {
    if (character === '"' || character === "'") return character === quote ? `\\${quote}` : character;
    const code = character.codePointAt(0) as number;
    const hex = code.toString(16);
    const numbered =
      code < 256
        ? `\\x${hex.padStart(2, '0')}`
        : code < 65536
          ? `\\u${hex.padStart(4, '0')}`
          : `\\U${hex.padStart(8, '0')}`;
    return ESCAPES[character] ?? numbered;
  });
  return quote + inner + quote;
};

/** Python's repr: what a text looks like inside a printed list. */
export const repr = (value: Value): string => {
  if (typeof value === 'string') return quoted(value);
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Markup) return `Markup(${quoted(value.text)})`;
  return textOf(value);
};

/** Python's str, which is also what `{{ … }}` prints. */
export const textOf = (value: Value): string => {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof LongInteger) return value.digits;
  if (value instanceof Undefined) {
    if (value.fault.message.startsWith('SecurityError')) throw value.fault;
    return '';
  }
  spend(1);
  if (isList(value)) return `[${value.map(repr).join(', ')}]`;
  if (value instanceof Tuple) {
    const inner = value.items.map(repr).join(', ');
    return value.items.length === 1 ? `(${inner},)` : `(${inner})`;
  }
  if (value instanceof Map) return `{${[...value].map(([key, inner]) => `${repr(key)}: ${repr(inner)}`).join(', ')}}`;
  return `<${typeName(value)}>`;
};

const plain = (value: Value): Value => (value instanceof Markup ? value.text : value);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

export const escapeMarkup = (value: Value): Markup =>
  value instanceof Markup
    ? value
    : new Markup(replaceEach(textOf(value), /[&<>"']/g, (character) => ENTITIES[character] as string));

export const joinMarkup = (a: Value, b: Value): Markup => {
  const text = escapeMarkup(a).text + escapeMarkup(b).text;
  checkLength(text.length);
  return new Markup(text);
};

export const isEqual = (a: Value, b: Value): boolean => {
  spend(1);
  spendText(a);
  if (a instanceof Markup || b instanceof Markup) return isEqual(plain(a), plain(b));
  const number = (value: Value): value is number | boolean | Float => isNumber(value) || typeof value === 'boolean';
  if (number(a) && number(b)) return numberOf(a) === numberOf(b);
  if (a instanceof Undefined && b instanceof Undefined) return true;
  const [left, right] = [a instanceof Tuple ? a.items : a, b instanceof Tuple ? b.items : b];
  if (isList(left) && isList(right))
    return (
      a instanceof Tuple === b instanceof Tuple &&
      left.length === right.length &&
      left.every((item, i) => isEqual(item, right[i] as Value))
    );
  if (a instanceof LongInteger && b instanceof LongInteger) return a.digits === b.digits;
  if (a instanceof Map && b instanceof Map)
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && isEqual(value, b.get(key) as Value));
  return a === b;
};

/** Negative, zero or positive; an error where Python has no order. `sign`: the comparison, for its message. */
export const compare = (a: Value, b: Value, sign = '<'): number => {
  spend(1);
  const number = (value: Value): value is number | boolean | Float => isNumber(value) || typeof value === 'boolean';
  if (number(a) && number(b)) return numberOf(a) - numberOf(b);
  if (a instanceof Markup || b instanceof Markup) return compare(plain(a), plain(b), sign);
  if (typeof a === 'string' && typeof b === 'string') {
    const [left, right] = [characters(a), characters(b)];
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const difference =
        ((left[i] as string).codePointAt(0) as number) - ((right[i] as string).codePointAt(0) as number);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  }
  const [left, right] = [a instanceof Tuple ? a.items : a, b instanceof Tuple ? b.items : b];
  if (isList(left) && isList(right) && a instanceof Tuple === b instanceof Tuple) {
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const difference = isEqual(left[i] as Value, right[i] as Value)
        ? 0
        : compare(left[i] as Value, right[i] as Value, sign);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  }
  for (const value of [a, b]) if (value instanceof Undefined) throw value.fault;
  throw typeError(`'${sign}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
};

/** `item in container`. */
export const contains = (container: Value, item: Value): boolean => {
  if (container instanceof Markup || item instanceof Markup) return contains(plain(container), plain(item));
  if (typeof container === 'string') {
    if (typeof item === 'string') return container.includes(item);
    throw typeError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  }
  if (container instanceof Map) return container.has(item);
  if (container === null || typeof container === 'number' || typeof container === 'boolean')
    throw typeError(`argument of type '${typeName(container)}' is not iterable`);
  return iterate(container).some((other) => isEqual(other, item));
};

export interface JsonStyle {
  readonly indent: string | null;
  readonly ascii: boolean;
  readonly separators: readonly [string, string];
  readonly sorted: boolean;
}

/** Python's json.dumps. */
export const jsonOf = (value: Value, style: JsonStyle, depth = 0): string => {
  spend(1);
  if (value instanceof Markup) return jsonOf(value.text, style, depth);
  const text = (own: string): string => {
    spendText(own);
    const written = JSON.stringify(own);
    const numbered = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return style.ascii ? replaceEach(written, /[\u007f-\uffff]/g, numbered) : written;
  };
  if (typeof value === 'string') return text(value);
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (value instanceof Float) return floatText(value.value).replace('inf', 'Infinity').replace('nan', 'NaN');
  if (value instanceof LongInteger) return value.digits;
  const [between, after] = style.separators;
  const wrap = (open: string, parts: readonly string[], close: string): string => {
    if (parts.length === 0) return open + close;
    const line = style.indent === null ? '' : `\n${style.indent.repeat(depth)}`;
    const inner = line + (style.indent ?? '');
    const gap = between + inner;
    checkLength(parts.reduce((length, part) => length + part.length, parts.length * gap.length));
    return `${open}${inner}${parts.join(gap)}${line}${close}`;
  };
  if (isList(value) || value instanceof Tuple)
    return wrap(
      '[',
      iterate(value).map((item) => jsonOf(item, style, depth + 1)),
      ']',
    );
  if (value instanceof Map) {
    const pairs = [...value];
    if (style.sorted) pairs.sort(([a], [b]) => compare(a, b));
    const key = (own: Value): string => (typeof own === 'string' ? text(own) : `"${jsonOf(own, style)}"`);
    return wrap(
      '{',
      pairs.map(([own, inner]) => `${key(own)}${after}${jsonOf(inner, style, depth + 1)}`),
      '}',
    );
  }
  throw typeError(`Object of type ${typeName(value)} is not JSON serializable`);
};
