// A command's options as data: one table gives the parser, the types of the values, the help page, and errors that name
// the nearest option. node:util splits the words.
import { parseArgs } from 'node:util';
import { decimal } from '../base/decimal.ts';
import { OutriderError, toFault } from '../base/errors.ts';
import { nearest } from './nearest.ts';

/** The command line itself is wrong: exit status 2. */
export class UsageError extends OutriderError {
  constructor(message: string, hint = '') {
    super('bad-request', message, hint);
  }
}

/** The work had begun when it failed, so the arguments were not at fault: exit status 1, whatever the code. */
export class WorkError extends OutriderError {
  constructor(error: OutriderError) {
    const { code, message, hint, ...facts } = toFault(error);
    super(code, message, hint, { ...facts, cause: error });
  }
}

export interface Option<Value> {
  readonly help: string;
  /** What the help page calls the value; a flag has none. */
  readonly placeholder: string | null;
  readonly repeated: boolean;
  /** All the values given, in order; throws a UsageError that starts with the option's name. */
  readonly read: (name: string, given: readonly string[]) => Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer Value> ? Value : never;
};

/** An option that may be given once; absent it is undefined. */
const single = <Value>(placeholder: string, help: string, parse: (text: string, name: string) => Value) => ({
  help,
  placeholder,
  repeated: false,
  read: (name: string, given: readonly string[]): Value | undefined => {
    if (given.length > 1) throw new UsageError(`--${name} is given ${given.length} times`);
    return given[0] === undefined ? undefined : parse(given[0], name);
  },
});

export const flag = (help: string): Option<boolean> => ({
  help,
  placeholder: null,
  repeated: false,
  read: (_, given) => given.length > 0,
});

export const text = (placeholder: string, help: string): Option<string | undefined> =>
  single(placeholder, help, (given) => given);

export const texts = (placeholder: string, help: string): Option<readonly string[]> => ({
  help,
  placeholder,
  repeated: true,
  read: (_, given) => given,
});

/** Comma-separated words. */
export const words = (placeholder: string, help: string): Option<readonly string[] | undefined> =>
  single(placeholder, help, (given) => given.split(',').map((word) => word.trim()));

export const choice = <const Choice extends string>(
  choices: readonly Choice[],
  help: string,
): Option<Choice | undefined> =>
  single(choices.join('|'), help, (given, name) => {
    const found = choices.find((known) => known === given);
    if (found === undefined) throw new UsageError(`--${name}: "${given}" is not one of ${choices.join(', ')}`);
    return found;
  });

interface Range {
  readonly least?: number;
  readonly most?: number;
  readonly whole?: boolean;
}

const parseNumber = (
  given: string,
  name: string,
  { least = -Infinity, most = Infinity, whole = false }: Range,
): number => {
  const value = decimal(given, whole);
  if (!Number.isFinite(value) || (whole && !Number.isSafeInteger(value)))
    throw new UsageError(`--${name}: "${given}" is not a ${whole ? 'whole ' : ''}number`);
  if (value < least) throw new UsageError(`--${name}: ${given} is less than ${least}`);
  if (value > most) throw new UsageError(`--${name}: ${given} is more than ${most}`);
  return value;
};

export const number = (placeholder: string, help: string, range: Range = {}): Option<number | undefined> =>
  single(placeholder, help, (given, name) => parseNumber(given, name, range));

export const integer = (placeholder: string, help: string, range: Range = {}): Option<number | undefined> =>
  number(placeholder, help, { ...range, whole: true });

/** Comma-separated whole numbers. */
export const integers = (placeholder: string, help: string, range: Range = {}): Option<readonly number[] | undefined> =>
  single(placeholder, help, (given, name) =>
    given.trim() === '' ? [] : given.split(',').map((part) => parseNumber(part, name, { ...range, whole: true })),
  );

export interface Parsed<O extends Options> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
}

/** `most` positionals are allowed; `usage` is the hint beyond. A value may begin with a dash: `--parents -1,0,0`. */
export const parseArguments = <O extends Options>(
  options: O,
  argv: readonly string[],
  most = 0,
  usage = '',
): Parsed<O> => {
  // Not strict: its errors name no nearest option, and it refuses values that begin with a dash.
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { placeholder }]) => [name, { type: placeholder ? 'string' : 'boolean' }]),
    ),
  });
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option || !Object.hasOwn(options, token.name)) {
      const hint = `The nearest is --${nearest(token.name, Object.keys(options))}; --help lists all.`;
      throw new UsageError(`unknown option ${token.rawName}`, hint);
    }
    if (option.placeholder && token.value === undefined)
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.placeholder}`);
    if (!option.placeholder && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`);
    given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? '']);
  }
  if (positionals.length > most) throw new UsageError(`unexpected argument "${positionals[most]}"`, usage);
  const values = Object.entries(options).map(([name, { read }]) => [name, read(name, given.get(name) ?? [])]);
  return { values: Object.fromEntries(values) as Values<O>, positionals };
};

/** Options that have an effect only together with another, which is not given. */
export const refuseWithout = (
  owner: string,
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
): void => {
  const given = names.find((name) => values[name] !== undefined && values[name] !== false);
  if (given !== undefined) throw new UsageError(`--${given} belongs to ${owner}`);
};

/** The options on a help page. */
export const describeOptions = (options: Options): string => {
  const rows = Object.entries(options).map(([name, { placeholder, repeated, help }]) => {
    return [`  --${name}${placeholder ? ` ${placeholder}` : ''}${repeated ? ' …' : ''}`, help] as const;
  });
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)) + 2);
  return rows
    .map(([left, help]) => (left.length < width ? left.padEnd(width) + help : `${left}\n${' '.repeat(width)}${help}`))
    .join('\n');
};
