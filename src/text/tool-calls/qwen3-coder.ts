// Qwen3-Coder and Qwen3.5: `<tool_call><function=f><parameter=key>value</parameter></function></tool_call>`. Values are
// plain text; the schema says which of them are JSON.
import { literal } from '../../constraint/literal.ts';
import { type PartialCall, type ToolFamily, WAIT } from './family.ts';
import type { ToolFunction } from './tools.ts';

type Schema = Readonly<Record<string, unknown>>;

const propertiesOf = (own: ToolFunction | undefined): Readonly<Record<string, Schema>> =>
  (own?.parameters?.properties ?? {}) as Readonly<Record<string, Schema>>;

const isText = (schema: Schema | undefined): boolean =>
  schema?.type === 'string' && schema.enum === undefined && schema.const === undefined;

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const PYTHON = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

/** JSON where the schema allows what the value is as JSON; otherwise a text. */
const asJson = (value: string, schema: Schema | undefined): string => {
  const types = [schema?.type ?? []].flat();
  if (types.join() !== 'string')
    try {
      const read: unknown = JSON.parse(value);
      const allowed = types.includes(typeOf(read)) || (typeof read === 'number' && types.includes('integer'));
      if (allowed || !types.includes('string')) return JSON.stringify(read);
    } catch {
      const python = PYTHON.get(value);
      if (python) return python;
    }
  return JSON.stringify(value);
};

/** One line break on either side belongs to the form. */
const inner = (value: string): string => value.replace(/^\n/, '').replace(/\n$/, '');

const PARAMETER = /^\s*<parameter=([^>]+)>([\s\S]*?)<\/parameter>/;

const read = (text: string, functions: readonly ToolFunction[]): PartialCall | null => {
  const [head, name = ''] = /^<function=([^>\s]+)>/.exec(text) ?? [];
  if (head === undefined)
    return '<function='.startsWith(text.slice(0, 10)) || /^<function=[^>\s]*$/.test(text) ? WAIT : null;
  const properties = propertiesOf(functions.find((own) => own.name === name));
  let at = head.length;
  let json = '{';
  for (;;) {
    const rest = text.slice(at);
    const [whole, key = '', value = ''] = PARAMETER.exec(rest) ?? [];
    if (whole === undefined) {
      const [end] = /^\s*<\/function>/.exec(rest) ?? [];
      return end === undefined
        ? { name, arguments: json, used: null }
        : { name, arguments: `${json}}`, used: at + end.length };
    }
    json += `${json === '{' ? '' : ', '}${JSON.stringify(key)}: ${asJson(inner(value), properties[key])}`;
    at += whole.length;
  }
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
    call(own, { json, until }) {
      const required = (own.parameters?.required ?? []) as readonly string[];
      const parts = Object.entries(propertiesOf(own)).map(([key, schema]) => {
        const open = literal(`<parameter=${key}>\n`);
        const end = '\n</parameter>\n';
        const value = isText(schema) ? until(end) : `${json(schema)} ${literal(end)}`;
        return required.includes(key) ? `${open} ${value}` : `(${open} ${value})?`;
      });
      const head = literal(`<tool_call>\n<function=${own.name}>\n`);
      return [head, ...parts, '"</function>\\n</tool_call>"'].join(' ');
    },
  },
};
