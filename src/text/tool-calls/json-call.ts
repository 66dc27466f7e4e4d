// A call as a JSON object: `{"name": "f", "arguments": {…}}`. The arguments are passed on as they are written, so they can
// be streamed; an object with its keys in another order is read when it is complete.
import { literal } from '../../constraint/literal.ts';
import { type GrammarRules, type PartialCall, WAIT } from './family.ts';
import type { ToolFunction } from './tools.ts';

/** The end of the JSON value that starts here; -1: it goes on. */
export const endOfJson = (text: string, start: number): number => {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i] as string;
    if (quoted) {
      if (character === '\\') i++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth === 0 && !quoted) return i + 1;
  }
  return -1;
};

const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
/** Up to the first character of the arguments. */
const HEAD = new RegExp(
  `^\\{\\s*(?:"(?:id|type)"\\s*:\\s*${TEXT}\\s*,\\s*)*"name"\\s*:\\s*(${TEXT})\\s*,\\s*"(?:arguments|parameters)"\\s*:\\s*(?=\\{)`,
);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const asObject = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;

/** Arguments that are not an object, as some models write them. */
const asArguments = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '{}' : JSON.stringify(value);

export const readJsonCall = (text: string): PartialCall | null => {
  if (!text.startsWith('{')) return text === '' ? WAIT : null;
  const [head, quoted = '""'] = HEAD.exec(text) ?? [];
  const end = endOfJson(text, 0);
  if (head !== undefined) {
    const name = parsed(quoted);
    if (typeof name !== 'string') return null;
    const last = endOfJson(text, head.length);
    const own = text.slice(head.length, last === -1 ? text.length : last);
    // Some models forget the last bracket.
    const isOpen = last !== -1 && end === -1 && /^\s*[^\s,}]/.test(text.slice(last));
    // An id that follows the arguments comes too late for a stream, so it is left out of whole answers too.
    return { name, arguments: own, used: isOpen ? last : last === -1 || end === -1 ? null : end };
  }
  if (end === -1) return WAIT;
  const whole = asObject(parsed(text.slice(0, end)));
  const own = asObject(whole?.function) ?? whole;
  const name = own?.name;
  if (!own || typeof name !== 'string') return null;
  const id = whole?.id;
  return {
    name,
    ...(typeof id === 'string' && { id }),
    arguments: asArguments(own.arguments ?? own.parameters),
    used: end,
  };
};

const NO_ARGUMENTS = { type: 'object', additionalProperties: false } as const;
/** Next to an empty list of properties they say nothing of others. */
const SILENT: readonly string[] = ['type', 'properties', 'required', 'title', 'description', '$schema'];

/** The schema of a function's arguments: one that lists no parameters takes none, unless it says otherwise. */
export const argumentsOf = ({ parameters }: ToolFunction): Readonly<Record<string, unknown>> => {
  const listed = Object.keys((parameters?.properties ?? { any: true }) as object).length > 0;
  const empty = !listed && Object.keys(parameters ?? {}).every((key) => SILENT.includes(key));
  return parameters && !empty ? parameters : NO_ARGUMENTS;
};

/** `{"name": "f", "arguments": …}` as EBNF. */
export const jsonCall =
  (key: 'arguments' | 'parameters') =>
  (own: ToolFunction, { json }: GrammarRules): string =>
    `${literal(`{"name": ${JSON.stringify(own.name)}, "${key}": `)} ${json(argumentsOf(own))} "}"`;
