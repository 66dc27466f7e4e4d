// Llama 3.1 to 3.3: the whole answer is `{"name": …, "parameters": …}`. Some answers begin with `<|python_tag|>`, and then
// may also be `name.call(key="value")`. The object has no mark of its own, so it is a call only with a known name.
import type { ToolFamily } from './family.ts';
import { jsonCall, readJsonCall } from './json-call.ts';
import { readPythonCall } from './python-call.ts';

export const llama3: ToolFamily = {
  id: 'llama3',
  knows: (template) => template.includes('"parameters": dictionary of argument name'),
  open: ['<|python_tag|>'],
  atStart: true,
  close: [],
  read(text, functions, ended) {
    const call = text.startsWith('{') ? readJsonCall(text) : readPythonCall(text, ended, '\\.call');
    if (!call || call.name === null) return call;
    return functions.some(({ name }) => name === call.name) ? call : null;
  },
  grammar: { before: '', between: '"; "', after: '', single: true, call: jsonCall('parameters') },
};
