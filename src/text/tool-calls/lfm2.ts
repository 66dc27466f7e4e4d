// LFM2: `<|tool_call_start|>[f(city="Rome"), g()]<|tool_call_end|>`, calls as Python writes them.
import { literal } from '../../constraint/literal.ts';
import type { ToolFamily } from './family.ts';
import { readPythonCall } from './python-call.ts';

export const lfm2: ToolFamily = {
  id: 'lfm2',
  knows: (template) => template.includes('List of tools: '),
  open: ['<|tool_call_start|>'],
  close: ['<|tool_call_end|>'],
  read: (text, _, ended) => readPythonCall(text, ended),
  grammar: {
    before: '"<|tool_call_start|>["',
    between: '", "',
    after: '"]<|tool_call_end|>"',
    call({ name, parameters }, { json }) {
      const required = (parameters?.required ?? []) as readonly string[];
      const properties = Object.entries((parameters?.properties ?? {}) as Readonly<Record<string, unknown>>);
      // Required arguments come first, so that the others may each be left out with their comma.
      const ordered = [true, false].flatMap((must) => properties.filter(([key]) => required.includes(key) === must));
      const parts = ordered.map(([key, schema], i) => {
        const own = `${literal(`${i > 0 && required.length > 0 ? ', ' : ''}${key}=`)} ${json(schema)}`;
        return required.includes(key) ? own : required.length > 0 ? `(${own})?` : own;
      });
      const list = required.length > 0 || parts.length === 0 ? parts.join(' ') : `(${parts.join(' | ')})?`;
      return `${literal(`${name}(`)} ${list} ")"`;
    },
  },
};
