// Qwen3-Coder and Qwen3.5: `<tool_call><function=f><parameter=key>value</parameter></function></tool_call>`. Values are
// plain text; the schema says which of them are JSON.
import { isObject } from '../../base/is-object.ts';
import { literal } from '../../constraint/literal.ts';
import { type GrammarRules, type PartialCall, type ToolFamily, WAIT } from './family.ts';
import { ANY_NAME, argumentOf, namedArguments, partsOf } from './named-arguments.ts';
import type { ToolFunction } from './tools.ts';

type Schema = Readonly<Record<string, unknown>>;

const isText = (schema: unknown): schema is Schema => isObject(schema) && [schema.type].flat().join() === 'string';

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** The types of a schema's values; undefined among them: any. `whole`: where its references are looked up. */
const typesOf = (schema: unknown, whole: unknown, seen = new Set<unknown>()): readonly unknown[] => {
  if (seen.has(schema)) return []; // they are counted where it was seen
  seen.add(schema);
  const said = partsOf(schema, whole).map(({ type, oneOf, anyOf = oneOf, ...own }) => {
    if (type !== undefined) return [type].flat();
    if ('const' in own) return [typeOf(own.const)];
    if (Array.isArray(own.enum)) return own.enum.map(typeOf);
    return Array.isArray(anyOf) ? anyOf.flatMap((part) => typesOf(part, whole, seen)) : [undefined];
  });
  return said.find((types) => !types.includes(undefined)) ?? [undefined];
};

const PYTHON = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

/** JSON where the schema allows what the value is as JSON; otherwise a text. */
const asJson = (value: string, schema: unknown, whole: unknown): string => {
  if (!isText(schema))
    try {
      const read: unknown = JSON.parse(PYTHON.get(value) ?? value);
      const types = typesOf(schema, whole);
      const own = Number.isInteger(read) && types.includes('integer') ? 'integer' : typeOf(read);
      const isJson = types.includes(own) || types.includes(undefined) || !types.includes('string');
      // Long whole numbers would be rounded, and 1.0 would be 1: a number stays as the model wrote it.
      if (isJson) return typeof read === 'number' ? value.trim() : JSON.stringify(read);
    } catch {}
  return JSON.stringify(value);
};

/** One line break on either side belongs to the form. */
const inner = (value: string): string => value.replace(/^\n/, '').replace(/\n$/, '');

const OPEN = /^\s*<parameter=([^>]+)>/;
/** The mark that ends a value is sometimes left out. */
const CLOSE = /<\/parameter>|(?=<\/function>\s*<\/tool_call>)/g;

/** The mark that ends a function is sometimes left out, too. */
const LAST = /^\s*(?:<\/function>|(?=<\/tool_call>))/;

/** Whether a value is JSON that is cut inside a text: there the mark is a part of it. */
const isCut = (value: string): boolean =>
  /^\s*["[{]/.test(value) && /"[^\n]*$/.test(value.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, ''));

const read = (text: string, functions: readonly ToolFunction[]): PartialCall | null => {
  const [head, name = ''] = /^<function=([^>\s]+)>/.exec(text) ?? [];
  if (head === undefined)
    return '<function='.startsWith(text.slice(0, 10)) || /^<function=[^>\s]*$/.test(text) ? WAIT : null;
  const parameters = functions.find((own) => own.name === name)?.parameters;
  let at = head.length;
  let json = '{';
  for (;;) {
    const [opening, key = ''] = OPEN.exec(text.slice(at)) ?? [];
    if (opening === undefined) {
      const [end] = LAST.exec(text.slice(at)) ?? [];
      return end === undefined
        ? { name, arguments: json, used: null }
        : { name, arguments: `${json}}`, used: at + end.length };
    }
    const rest = text.slice(at + opening.length);
    const schema = argumentOf(parameters, key);
    const end = [...rest.matchAll(CLOSE)].find(({ index }) => isText(schema) || !isCut(rest.slice(0, index)));
    if (!end) return { name, arguments: json, used: null };
    const value = asJson(inner(rest.slice(0, end.index)), schema, parameters);
    json += `${json === '{' ? '' : ', '}${JSON.stringify(key)}: ${value}`;
    at += opening.length + end.index + end[0].length;
  }
};

const END = '\n</parameter>\n';
/**
 * A text and its end. It does not hold `</par` and `</fu`, with which the marks begin that end it: to compile whole marks
 * takes four times as long.
 */
const rules = [
  'text ::= [^<]* (mark | end)',
  'mark ::= "<" (mark | end | [^</] text | "/" (mark | end | [^<pf] text | "f" (mark | end | [^<u] text) | ' +
    '"p" (mark | end | [^<a] text | "a" (mark | end | [^<r] text))))',
].map((rule) => rule.replaceAll('end', literal(END)));

/** A text as it is written, and the end of it. */
const textValue = (schema: Schema, path: string, { says }: GrammarRules): string => {
  const possible = ['const' in schema ? schema.const : schema.enum]
    .flat()
    .filter((value) => typeof value === 'string' && !/\0|\p{Surrogate}|<\/(parameter|function)>/u.test(value));
  if (possible.length > 0 && says(schema, ['type', 'enum', 'const'], path))
    return `(${possible.map((value) => literal(`${value}${END}`)).join(' | ')})`;
  says(schema, ['type'], path);
  return 'text';
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
    call(own, writer) {
      const { listed, others } = namedArguments(own, /^[^>]+$/, writer);
      const value = (schema: unknown, path: string): string =>
        isText(schema) ? textValue(schema, path, writer) : `${writer.json(schema)} ${literal(END)}`;
      const parts = listed.map(({ key, schema, required }) => {
        const written = `${literal(`<parameter=${key}>\n`)} ${value(schema, `/properties/${key}`)}`;
        return required ? written : `(${written})?`;
      });
      if (others !== null) parts.push(`("<parameter=" ${ANY_NAME} ">\\n" ${value(others, '/additionalProperties')})*`);
      const head = literal(`<tool_call>\n<function=${own.name}>\n`);
      return [head, ...parts, '"</function>\\n</tool_call>"'].join(' ');
    },
    rules,
  },
};
