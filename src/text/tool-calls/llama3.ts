// Llama 3.1 to 3.3: the whole answer is `{"name": …, "parameters": …}`. Some answers begin with `<|python_tag|>`, and then
// may also be `name.call(key="value")`. The object has no mark of its own, so it is a call only with a known name.
import type { ToolFamily } from './family.ts';
import { jsonCall, readJsonCall } from './json-call.ts';
import { readPythonCall } from './python-call.ts';

/** What the parser skips in front of a call comes first, then none; `<|p` of the mark is nowhere. */
const rules = [
  'free ::= [ \\n,;}\\u005b\\u005d]* ("" | free_mark | "`" [^<`] free_text | "```" [A-Za-ik-z] free_text | ' +
    '[^{}`<,;\\u005b\\u005d \\t-\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff] free_text)',
  'free_text ::= [^<]* ("" | free_mark)',
  'free_mark ::= "<" ("" | free_mark | [^<|] free_text | "|" ("" | free_mark | [^<p] free_text))',
];

export const llama3: ToolFamily = {
  id: 'llama3',
  knows: (template) => template.includes('"parameters": dictionary of argument name'),
  open: ['<|python_tag|>'],
  atStart: true,
  close: [],
  read(text, functions, ended, before) {
    if (text[0] !== '{' && !before.includes('<')) return null;
    const call = text[0] === '{' ? readJsonCall(text) : readPythonCall(text, ended, '\\.call');
    if (!call || call.name === null) return call;
    return functions.some(({ name }) => name === call.name) ? call : null;
  },
  grammar: { before: '', between: '"; "', after: '', single: true, call: jsonCall('parameters'), rules },
};
