// A conversation with tools, as a chat template of the family wants it: arguments as objects, short ids where they must be,
// and everything in plain messages where the template knows no tools.
import type { ChatMessage } from '../chat-template.ts';
import { parseWithFloats, textOfJson } from '../python-json.ts';
import { familyOf } from './families.ts';
import type { ToolFamily } from './family.ts';
import { hermes } from './hermes.ts';
import { asTemplateTools, type Tools } from './tools.ts';

interface Call {
  readonly id?: string;
  readonly function: { readonly name: string; readonly arguments: unknown };
}

/** What the template is given. */
export interface ToolConversation {
  readonly family: ToolFamily | null;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly unknown[] | undefined;
}

const asObject = (written: unknown): unknown => {
  if (typeof written !== 'string') return written;
  if (written.trim() === '') return {}; // some servers write nothing for a function without parameters
  try {
    const value = parseWithFloats(written);
    return typeof value === 'object' && value !== null ? value : written;
  } catch {
    return written;
  }
};

/** Nine letters and digits that stand for any id. */
const shortId = (id: string): string => {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  let hash = 0n;
  for (const character of id) hash = (hash * 131n + BigInt(character.codePointAt(0) as number)) % 36n ** 9n;
  return hash.toString(36).padStart(9, '0');
};

const withCalls = (message: ChatMessage, { shortIds = false }: Partial<ToolFamily>): ChatMessage => {
  const idOf = (id: string): string => (shortIds ? shortId(id) : id);
  const { tool_calls: calls, tool_call_id: answers, ...rest } = message;
  return {
    ...rest,
    ...(calls?.length && {
      tool_calls: (calls as readonly Call[]).map(({ id, function: own, ...call }) => ({
        ...call,
        ...(id !== undefined && { id: idOf(id) }),
        function: { ...own, arguments: asObject(own.arguments) },
      })),
    }),
    ...(typeof answers === 'string' && { tool_call_id: idOf(answers) }),
  };
};

const listed = (calls: readonly unknown[]): readonly string[] =>
  (calls as readonly Call[]).map(
    ({ function: own }) => `{"name": ${JSON.stringify(own.name)}, "arguments": ${textOfJson(asObject(own.arguments))}}`,
  );

/** Calls as text, for templates that write a message's content only. */
const writeCalls = (family: ToolFamily, calls: readonly unknown[] | undefined): string => {
  const [mark = ''] = family.open;
  if (!calls?.length) return '';
  if (family === hermes)
    return listed(calls)
      .map((call) => `${mark}\n${call}\n</tool_call>`)
      .join('\n');
  if (family.id === 'lfm2') {
    const python = ({ function: own }: Call): string =>
      `${own.name}(${Object.entries((asObject(own.arguments) ?? {}) as object)
        .map(([key, value]) => `${key}=${textOfJson(value)}`)
        .join(', ')})`;
    return `${mark}[${(calls as readonly Call[]).map(python).join(', ')}]${family.close[0] ?? ''}`;
  }
  return `${mark}[${listed(calls).join(', ')}]${family.id === 'phi4-mini' ? family.close[0] : ''}`;
};

const asContent =
  (family: ToolFamily) =>
  ({ tool_calls: calls, ...message }: ChatMessage): ChatMessage => ({
    ...message,
    content: [message.content, writeCalls(family, calls)].filter((part) => part !== '').join('\n'),
  });

/** The functions and how to call them, for a model whose template does not say so. */
const instructions = ({ functions }: Tools): string =>
  [
    'You may call functions. These are their signatures, in <tools></tools>:',
    `<tools>\n${asTemplateTools(functions)
      .map((tool) => JSON.stringify(tool))
      .join('\n')}\n</tools>`,
    'To call one, write a JSON object with its name and arguments in <tool_call></tool_call>:',
    '<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>',
  ].join('\n');

const withSystem = (messages: readonly ChatMessage[], text: string, template = ''): readonly ChatMessage[] => {
  const [first, ...others] = messages;
  // Gemma 2 has no system message, so the first question has it.
  if (template.includes('System role not supported') && first)
    return [{ ...first, content: `${text}\n\n${first.content}` }, ...others];
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...messages];
  return [{ ...first, content: first.content === '' ? text : `${first.content}\n\n${text}` }, ...others];
};

/** Results of tools are the user's; several in turn are one message. */
const plainResults = (messages: readonly ChatMessage[]): readonly ChatMessage[] => {
  const out: ChatMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') out.push(message);
    else {
      const content = `<tool_response>\n${message.content}\n</tool_response>`;
      const last = out.at(-1);
      if (last?.role === 'user' && last.content.endsWith('</tool_response>'))
        out.splice(-1, 1, { role: 'user', content: `${last.content}\n${content}` });
      else out.push({ role: 'user', content });
    }
  }
  return out;
};

/** `template`: the model's own; `tools`: those that may be called now. */
export const toolConversation = (
  template: string,
  given: readonly ChatMessage[],
  tools: Tools | undefined,
): ToolConversation => {
  const own = familyOf(template);
  const functions = tools && tools.choice !== 'none' && tools.functions.length > 0 ? tools.functions : null;
  const calls = given.some(({ role, tool_calls }) => role === 'tool' || tool_calls?.length);
  if (!functions && !calls) return { family: null, messages: given, tools: undefined };
  const family = own ?? hermes;
  const prepared = given.map((message) => withCalls(message, family));
  const wanted = functions ? family : null;
  if (!own) {
    const plain = plainResults(prepared.map(asContent(hermes)));
    const messages = tools && functions ? withSystem(plain, instructions(tools), template) : plain;
    return { family: wanted, messages, tools: undefined };
  }
  const messages = template.includes('tool_calls') ? prepared : prepared.map(asContent(family));
  if (!functions) return { family: wanted, messages, tools: undefined };
  if (family.id !== 'phi4-mini') return { family: wanted, messages, tools: asTemplateTools(functions) };
  const [first, ...others] = withSystem(messages, '');
  const described = { ...first, tools: JSON.stringify(functions) } as ChatMessage;
  return { family: wanted, messages: [described, ...others], tools: undefined };
};
