// Mistral. Until Nemo: `[TOOL_CALLS][{"name": …, "arguments": …}]`. Since Small 3.1: `[TOOL_CALLS]name[ARGS]{…}`, with
// `[CALL_ID]` in between in some templates. Both are read; a template says which one its model writes.
import { literal } from '../../constraint/literal.ts';
import { type PartialCall, type ToolFamily, WAIT } from './family.ts';
import { argumentsOf, endOfJson, jsonCall, readJsonCall } from './json-call.ts';

const shared = {
  open: ['[TOOL_CALLS]'],
  close: [],
  shortIds: true,
  read: (text: string): PartialCall | null => (text.startsWith('{') ? readJsonCall(text) : readNamed(text)),
} as const;

const readNamed = (text: string): PartialCall | null => {
  const [head, name = '', id] = /^([\w.-]+)(?:\[CALL_ID\](\w+))?(?:\[ARGS\])?\s*(?=\{)/.exec(text) ?? [];
  if (head === undefined) return /^[\w.-]*(\[|\s*$)/.test(text) ? WAIT : null;
  const end = endOfJson(text, head.length);
  const own = text.slice(head.length, end === -1 ? text.length : end);
  return { name, ...(id !== undefined && { id }), arguments: own, used: end === -1 ? null : end };
};

/** The marks that its templates write are read by all of them. */
const marks = (template: string): boolean => template.includes('[TOOL_CALLS]');

export const mistralList: ToolFamily = {
  id: 'mistral-list',
  knows: (template) => marks(template) && !template.includes('[ARGS]'),
  ...shared,
  grammar: { before: '"[TOOL_CALLS]["', between: '", "', after: '"]"', call: jsonCall('arguments') },
};

const named = (id: string, before: string): ToolFamily['grammar'] => ({
  before: '',
  between: '',
  after: '',
  call: (own, { json }) => `${literal(`[TOOL_CALLS]${own.name}${id}`)} ${before} "[ARGS]" ${json(argumentsOf(own))}`,
});

export const mistral: ToolFamily = {
  id: 'mistral',
  knows: (template) => marks(template) && template.includes('[ARGS]') && !template.includes('[CALL_ID]'),
  ...shared,
  grammar: named('', ''),
};

export const mistralWithIds: ToolFamily = {
  id: 'mistral-ids',
  knows: (template) => marks(template) && template.includes('[CALL_ID]'),
  ...shared,
  grammar: named('[CALL_ID]', '[a-zA-Z0-9]{9}'),
};
