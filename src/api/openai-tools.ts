// OpenAI's tools, tool messages, response formats and reasoning effort, read as ours.

import { isObject } from '../base/is-object.ts';
import { shown } from '../base/shown.ts';
import type { Constraint, JsonSchema } from '../constraint/constraint.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import type { ToolFunction, Tools } from '../text/tool-calls/tools.ts';
import { checkParam, invalid } from './openai-error.ts';
import type { ChatCompletionMessage, ChatCompletionParams } from './openai-types.ts';

const unsupported = (param: string, what: string): never =>
  invalid(param, `${what} is not supported by this engine`, 'unsupported_parameter');

const readFunction = (tool: unknown, i: number): ToolFunction => {
  const at = `tools[${i}]`;
  if (!isObject(tool)) return invalid(at, `${at} must be an object`);
  if (tool.type !== 'function') return unsupported(`${at}.type`, `a tool of type ${shown(tool.type)}`);
  const own = tool.function;
  if (!isObject(own)) return invalid(`${at}.function`, `${at}.function must be an object`);
  const { name, description, parameters, strict } = own;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    return invalid(
      `${at}.function.name`,
      `${at}.function.name must be 1 to 64 letters, digits, dashes and underscores`,
    );
  checkParam(`${at}.function.description`, description, typeof description === 'string', 'text');
  checkParam(`${at}.function.parameters`, parameters, isObject(parameters), 'a JSON Schema');
  checkParam(`${at}.function.strict`, strict, typeof strict === 'boolean', 'true or false');
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(strict === true && { strict }),
  };
};

const readTools = ({ tools, tool_choice, parallel_tool_calls }: ChatCompletionParams): Tools | undefined => {
  checkParam('parallel_tool_calls', parallel_tool_calls, typeof parallel_tool_calls === 'boolean', 'true or false');
  checkParam('tools', tools, Array.isArray(tools), 'a list');
  const functions = Array.from(tools ?? [], readFunction);
  const choice = readChoice(tool_choice, functions);
  const twice = functions.findIndex(({ name }, i) => functions.slice(0, i).some((other) => other.name === name));
  if (twice >= 0) invalid(`tools[${twice}].function.name`, `two tools are called ${functions[twice]?.name}`);
  if (functions.length === 0) return undefined;
  return { functions, ...(choice && { choice }), ...(parallel_tool_calls === false && { parallel: false }) };
};

const readChoice = (choice: unknown, functions: readonly ToolFunction[]): Tools['choice'] => {
  if ((choice ?? null) === null || choice === 'none' || choice === 'auto')
    return (choice ?? undefined) as Tools['choice'];
  if (functions.length === 0)
    return invalid('tool_choice', "'tool_choice' is only allowed when 'tools' are specified.");
  if (choice === 'required') return choice;
  const name =
    isObject(choice) && choice.type === 'function' && isObject(choice.function) ? choice.function.name : null;
  if (typeof name !== 'string')
    return invalid(
      'tool_choice',
      'tool_choice must be none, auto, required, or { type: function, function: { name } }',
    );
  if (!functions.some((own) => own.name === name))
    return invalid('tool_choice', `tool_choice names the function '${name}', which is not among the tools`);
  return { name };
};

const readFormat = (format: unknown): Constraint | undefined => {
  if ((format ?? null) === null) return undefined;
  if (!isObject(format)) return invalid('response_format', 'response_format must be an object');
  if (format.type === 'text') return undefined;
  if (format.type === 'json_object') return { json_schema: { type: 'object' } };
  if (format.type !== 'json_schema')
    return invalid('response_format.type', 'response_format.type must be text, json_object or json_schema');
  const own = format.json_schema;
  const at = 'response_format.json_schema';
  if (!isObject(own)) return invalid(at, `${at} must be an object`);
  if (typeof own.name !== 'string' || !/^[\w-]{1,64}$/.test(own.name))
    return invalid(`${at}.name`, `${at}.name must be 1 to 64 letters, digits, dashes and underscores`);
  checkParam(`${at}.strict`, own.strict, typeof own.strict === 'boolean', 'true or false');
  if (!isObject(own.schema)) return invalid(`${at}.schema`, `${at}.schema must be a JSON Schema`);
  return { json_schema: own.schema as JsonSchema };
};

/** Of `outrider`. */
interface ReasoningExtras {
  readonly reasoning?: boolean | undefined;
  readonly reasoning_budget?: number | undefined;
}

const EFFORTS: readonly unknown[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

const readReasoning = (
  { reasoning_effort: effort }: ChatCompletionParams,
  { reasoning, reasoning_budget }: ReasoningExtras,
): NonNullable<RunRequest['reasoning']> => {
  checkParam('reasoning_effort', effort, EFFORTS.includes(effort), `one of ${EFFORTS.join(', ')}`);
  const enabled = reasoning ?? ((effort ?? null) === null ? undefined : effort !== 'none' && effort !== 'minimal');
  return {
    ...(enabled !== undefined && { enabled }),
    ...(reasoning_budget !== undefined && { budget: reasoning_budget }),
  };
};

/** What a chat request asks for beyond a text. Reasoning is always told apart. */
export const readChatParts = (
  params: ChatCompletionParams,
  extras: ReasoningExtras,
): Pick<RunRequest, 'tools' | 'constraint' | 'reasoning'> => {
  const tools = readTools(params);
  const constraint = readFormat(params.response_format);
  return { ...(tools && { tools }), ...(constraint && { constraint }), reasoning: readReasoning(params, extras) };
};

const idsOf = (message: ChatCompletionMessage | undefined): readonly string[] =>
  message?.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [];

/** The calls of an assistant's message, or the id of a tool's. Every call has one result, right after it. */
export const readToolMessage = (
  messages: readonly ChatCompletionMessage[],
  i: number,
): Pick<ChatMessage, 'tool_calls' | 'tool_call_id' | 'name'> => {
  const message = messages[i] as ChatCompletionMessage;
  const { role, tool_call_id: id, tool_calls: calls } = message;
  const at = `messages[${i}]`;
  if (role === 'tool') {
    const asked = messages.slice(0, i).findLast((each) => each.role !== 'tool');
    if (typeof id !== 'string') return invalid(`${at}.tool_call_id`, `${at}.tool_call_id must be the id of a call`);
    if (!idsOf(asked).includes(id))
      return invalid(`${at}.tool_call_id`, `${at}.tool_call_id '${id}' is not the id of a call in the message before`);
    const call = asked?.tool_calls?.find((each) => each.id === id);
    return { tool_call_id: id, ...(call && { name: call.function.name }) };
  }
  checkParam(`${at}.tool_calls`, calls, Array.isArray(calls), 'a list');
  if (role !== 'assistant' || !calls?.length) return {};
  for (const [n, call] of calls.entries())
    if (
      typeof call?.id !== 'string' ||
      !isObject(call.function) ||
      typeof call.function.name !== 'string' ||
      typeof call.function.arguments !== 'string'
    )
      return invalid(
        `${at}.tool_calls[${n}]`,
        `${at}.tool_calls[${n}] must be { id, type, function: { name, arguments } }`,
      );
  const end = messages.findIndex((each, n) => n > i && each.role !== 'tool');
  const answered = messages.slice(i + 1, end === -1 ? undefined : end).map((each) => each.tool_call_id);
  const open = idsOf(message).find((each) => !answered.includes(each));
  if (open !== undefined)
    return invalid(
      `${at}.tool_calls`,
      `the call '${open}' of ${at} has no result: a message of role tool must follow it`,
    );
  return {
    tool_calls: calls.map(({ id, function: { name, arguments: input } }) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    })),
  };
};
