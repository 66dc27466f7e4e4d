// The functions that a template can call: Jinja's own, and those that transformers adds.
import { strftime } from './strftime.ts';
import {
  argument,
  type Callable,
  Instance,
  iterate,
  type Named,
  Namespace,
  spend,
  TemplateFault,
  textOf,
  type Value,
  wholeNumber,
} from './values.ts';

/** As Jinja's sandbox. */
const LONGEST_RANGE = 100_000;

const range: Callable = (args) => {
  const [a = 0, b, step = 1] = args.map(wholeNumber);
  const [from, to] = b === undefined ? [0, a] : [a, b];
  if (step === 0) throw new TemplateFault('ValueError', 'range() arg 3 must not be zero');
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (length > LONGEST_RANGE) throw new TemplateFault('OverflowError', `Range too big. The limit is ${LONGEST_RANGE}.`);
  spend(length / 8);
  return Array.from({ length }, (_, i) => from + i * step);
};

/** What `dict(…)` makes of a dict or of pairs, and of named values. */
const dictOf = (args: readonly Value[], named: Named): Map<Value, Value> => {
  const [first = null] = args;
  const pairs = first instanceof Map ? [...first] : first === null ? [] : iterate(first).map(iterate);
  spend(pairs.length / 8);
  return new Map<Value, Value>([
    ...pairs.map((pair) => {
      if (pair.length !== 2) throw new TemplateFault('ValueError', 'dict() takes pairs of a key and a value');
      return pair as unknown as readonly [Value, Value];
    }),
    ...named,
  ]);
};

const namespace: Callable = (args, named) => {
  const fields = [...dictOf(args, named)].map(([key, value]) => [textOf(key), value] as const);
  for (const [name] of fields) checkField(name);
  return new Namespace(new Map(fields));
};

/** transformers keeps such names for Python's own. */
export const checkField = (name: string): void => {
  if (name.startsWith('_'))
    throw new TemplateFault('SecurityError', `a namespace has no names that begin with an underscore: '${name}'`);
};

const cycler: Callable = (items) => {
  if (items.length === 0) throw new TemplateFault('RuntimeError', 'at least one item has to be provided');
  let at = 0;
  const methods: Readonly<Record<string, Callable>> = {
    next() {
      const item = items[at] as Value;
      at = (at + 1) % items.length;
      return item;
    },
    reset() {
      at = 0;
      return null;
    },
  };
  return new Instance('Cycler', (name) =>
    name === 'current' ? items[at] : Object.hasOwn(methods, name) ? methods[name] : undefined,
  );
};

const joiner: Callable = (args, named) => {
  const separator = argument(args, named, 0, 'sep', ', ');
  let used = false;
  return () => {
    const text = used ? separator : '';
    used = true;
    return text;
  };
};

export const globals = (now: () => Date): readonly (readonly [string, Value])[] => [
  ['cycler', cycler],
  ['dict', dictOf],
  ['joiner', joiner],
  ['namespace', namespace],
  [
    'raise_exception',
    ([message]) => {
      throw new TemplateFault('TemplateError', textOf(message ?? ''));
    },
  ],
  ['range', range],
  [
    'strftime_now',
    ([format]) => {
      spend(20);
      return strftime(now(), textOf(format ?? ''));
    },
  ],
];
