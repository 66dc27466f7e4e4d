// Hermes 2 and 3, Qwen 2.5 and 3, Granite 4, SmolLM3: `<tool_call>{"name": …, "arguments": …}</tool_call>`. It is also the
// form that models are asked for whose template knows no tools.
import type { ToolFamily } from './family.ts';
import { jsonCall, readJsonCall } from './json-call.ts';

export const hermes: ToolFamily = {
  id: 'hermes',
  knows: (template) =>
    (template.includes('<tool_call>') && !/<function=|<arg_key>|ns_token|<tool_calls>/.test(template)) ||
    /\bxml_tools\b/.test(template),
  open: ['<tool_call>'],
  close: ['</tool_call>'],
  read: (text) => readJsonCall(text),
  grammar: {
    before: '',
    between: '"\\n"',
    after: '',
    call: (own, rules) => `"<tool_call>\\n" ${jsonCall('arguments')(own, rules)} "\\n</tool_call>"`,
  },
};
