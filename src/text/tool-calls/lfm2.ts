// LFM2: `<|tool_call_start|>[f(city="Rome"), g()]<|tool_call_end|>`, calls as Python writes them.
import { literal } from '../../constraint/literal.ts';
import type { ToolFamily } from './family.ts';
import { ANY_NAME, namedArguments } from './named-arguments.ts';
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
    call(own, rules) {
      const { listed, others } = namedArguments(own, /^[^\s=(),'"]+$/, rules);
      if (others !== null) {
        const one = rules.rule(`${ANY_NAME} "=" ${rules.json(others)}`);
        return `${literal(`${own.name}(`)} (${one} (", " ${one})*)? ")"`;
      }
      /** Of the arguments from one on: where it is the first of the call, and where it follows one. */
      let [first, after] = [['""'], ''];
      for (const { key, schema, required } of listed.toReversed()) {
        const written = `${literal(`${key}=`)} ${rules.json(schema)}`;
        first = [`${written} ${after}`, ...(required ? [] : first)];
        after = rules.rule(required ? `", " ${written} ${after}` : `(", " ${written})? ${after}`);
      }
      return `${literal(`${own.name}(`)} (${first.join(' | ')}) ")"`;
    },
  },
};
