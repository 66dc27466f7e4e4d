// Granite 3 and Phi-4-mini: `<|tool_call|>` and a JSON list of calls, which Phi closes with `<|/tool_call|>`. Some of their
// models write `<tool_call>` or `functools[` instead.
import type { ToolFamily } from './family.ts';
import { jsonCall, readJsonCall } from './json-call.ts';

export const granite: ToolFamily = {
  id: 'granite',
  knows: (template) => template.includes('<|tool_call|>') && !template.includes('<|tool|>'),
  open: ['<|tool_call|>', '<tool_call>'],
  close: ['</tool_call>'],
  read: (text) => readJsonCall(text),
  grammar: { before: '"<|tool_call|>["', between: '", "', after: '"]"', call: jsonCall('arguments') },
};

export const phi4: ToolFamily = {
  id: 'phi4-mini',
  knows: (template) => template.includes('<|tool|>'),
  open: ['<|tool_call|>', 'functools['],
  close: ['<|/tool_call|>'],
  read: (text) => readJsonCall(text),
  grammar: { before: '"<|tool_call|>["', between: '", "', after: '"]<|/tool_call|>"', call: jsonCall('arguments') },
};
