// Qwen3-Coder and Qwen3.5: `<tool_call><function=f><parameter=key>value</parameter></function></tool_call>`. Values are
// plain text; the schema says which of them are JSON.
import { isObject } from '../../base/is-object.ts';
import { literal } from '../../constraint/literal.ts';
import { lookUp } from '../../constraint/pointer.ts';
import { type GrammarRules, type PartialCall, type ToolFamily, WAIT } from './family.ts';
import { namedArguments } from './named-arguments.ts';
import type { ToolFunction } from './tools.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Circular references end here. */
const MOST_DEPTH = 8;

/** A schema together with what its reference names. */
const resolved = (schema: unknown, whole: unknown, depth = 0): Schema => {
  if (!isObject(schema)) return {};
  const { $ref, ...own } = schema;
  if (typeof $ref !== 'string' || depth === MOST_DEPTH) return schema;
  return { ...resolved(lookUp(whole, $ref), whole, depth + 1), ...own };
};

const isText = ({ type }: Schema): boolean => [type].flat().join() === 'string';

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** Whether a schema has room for a value, by what it says of types. */
const allows = (schema: Schema, value: unknown, whole: unknown, depth = 0): boolean => {
  const part = (each: unknown): boolean =>
    depth === MOST_DEPTH || allows(resolved(each, whole), value, whole, depth + 1);
  const { type = [], anyOf = schema.oneOf, allOf } = schema;
  const types = [type].flat();
  return (
    (types.length === 0 || types.includes(typeOf(value)) || (Number.isInteger(value) && types.includes('integer'))) &&
    (!Array.isArray(anyOf) || anyOf.some(part)) &&
    (!Array.isArray(allOf) || allOf.every(part))
  );
};

const PYTHON = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

/** JSON where the schema allows what the value is as JSON; otherwise a text. */
const asJson = (value: string, schema: Schema, whole: unknown): string => {
  if (!isText(schema))
    try {
      const read: unknown = JSON.parse(PYTHON.get(value) ?? value);
      if (allows(schema, read, whole) || !allows(schema, '', whole)) return JSON.stringify(read);
    } catch {}
  return JSON.stringify(value);
};

/** One line break on either side belongs to the form. */
const inner = (value: string): string => value.replace(/^\n/, '').replace(/\n$/, '');

const OPEN = /^\s*<parameter=([^>]+)>/;
/** The mark that ends a value is sometimes left out. */
const CLOSE = /<\/parameter>|(?=<\/function>\s*<\/tool_call>)/g;

/** Whether a value is JSON that is cut inside a text: there the mark is a part of it. */
const isCut = (value: string): boolean =>
  /^\s*["[{]/.test(value) && /"[^\n]*$/.test(value.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, ''));

const read = (text: string, functions: readonly ToolFunction[]): PartialCall | null => {
  const [head, name = ''] = /^<function=([^>\s]+)>/.exec(text) ?? [];
  if (head === undefined)
    return '<function='.startsWith(text.slice(0, 10)) || /^<function=[^>\s]*$/.test(text) ? WAIT : null;
  const whole = functions.find((own) => own.name === name)?.parameters;
  let at = head.length;
  let json = '{';
  for (;;) {
    const [opening, key = ''] = OPEN.exec(text.slice(at)) ?? [];
    if (opening === undefined) {
      const [end] = /^\s*<\/function>/.exec(text.slice(at)) ?? [];
      return end === undefined
        ? { name, arguments: json, used: null }
        : { name, arguments: `${json}}`, used: at + end.length };
    }
    const rest = text.slice(at + opening.length);
    const schema = resolved((whole?.properties as Schema | undefined)?.[key], whole);
    const end = [...rest.matchAll(CLOSE)].find(({ index }) => isText(schema) || !isCut(rest.slice(0, index)));
    if (!end) return { name, arguments: json, used: null };
    const value = asJson(inner(rest.slice(0, end.index)), schema, whole);
    json += `${json === '{' ? '' : ', '}${JSON.stringify(key)}: ${value}`;
    at += opening.length + end.index + end[0].length;
  }
};

const END = '\n</parameter>\n';
/** How the marks begin that a text cannot hold, because they end it. Whole marks take a grammar four times as long. */
const MARKS = ['</par', '</fu'];

/** A text as it is written, and the end of it. */
const textValue = (schema: Schema, path: string, { says, text, refuse }: GrammarRules): string => {
  says(schema, ['type', 'enum', 'const'], path);
  const values = 'const' in schema ? [schema.const] : schema.enum;
  const possible = [values]
    .flat()
    .filter((value) => typeof value === 'string' && !/\0|\p{Surrogate}|<\/(parameter|function)>/u.test(value));
  if (values !== undefined && possible.length === 0) refuse(`${path} allows no value that this model can write`);
  return possible.length === 0
    ? text(MARKS, literal(END))
    : `(${possible.map((value) => literal(`${value}${END}`)).join(' | ')})`;
};

export const qwen3Coder: ToolFamily = {
  id: 'qwen3-coder',
  knows: (template) => template.includes('<tool_call>') && template.includes('<function='),
  open: ['<tool_call>'],
  close: ['</tool_call>'],
  read,
  grammar: {
    before: '',
    between: '"\\n"',
    after: '',
    call(own, rules) {
      const parts = namedArguments(own, /^[^>]+$/, rules)?.map(({ key, schema, required }) => {
        const whole = resolved(schema, own.parameters);
        const value = isText(whole)
          ? textValue(whole, `/properties/${key}`, rules)
          : `${rules.json(schema)} ${literal(END)}`;
        const written = `${literal(`<parameter=${key}>\n`)} ${value}`;
        return required ? written : `(${written})?`;
      }) ?? [`("<parameter=" [^<>\\n] [^<>\\n]* ">\\n" ${rules.text(MARKS, literal(END))})*`];
      const head = literal(`<tool_call>\n<function=${own.name}>\n`);
      return [head, ...parts, '"</function>\\n</tool_call>"'].join(' ');
    },
  },
};
