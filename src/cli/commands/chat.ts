// Prints the prompt that the chat template makes of a conversation, and its token ids. It runs no model. The template is
// given what the engine would give it: where it knows no tools, they and their calls are plain messages.
import { isObject } from '../../base/is-object.ts';
import { checkRequest } from '../../engine/check-request.ts';
import { toolConversation } from '../../text/tool-calls/conversation.ts';
import type { ToolFunction } from '../../text/tool-calls/tools.ts';
import { UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { messagesOption, readConversation } from '../messages.ts';
import { modelOption, needTokenizer, openTokenizer } from '../model-source.ts';

/** A tool as conversations have it: a function, or an object that has it under `function`. */
const functionOf = (tool: unknown): ToolFunction => {
  const own = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  if (!isObject(own)) return tool as ToolFunction; // it is refused with the rest of the request
  const { name, description, parameters } = own as unknown as ToolFunction;
  return { name, ...(description && { description }), ...(parameters && { parameters }) };
};

export const chat = defineCommand({
  name: 'chat',
  summary: 'prints the prompt and ids that the chat template makes of a conversation; generate --messages answers it',
  usage: '[--model M] --messages F.json',
  positionals: [],
  options: { model: modelOption, messages: messagesOption },
  async run({ values }, terminal) {
    if (values.messages === undefined) throw new UsageError('chat needs --messages F.json');
    const { messages: written, tools = [], ...others } = await readConversation(values.messages);
    const functions = { functions: tools.map(functionOf) };
    checkRequest({ prompt: { messages: written }, tools: functions });
    const tokenizer = needTokenizer(await openTokenizer(values.model, terminal), values.model);
    const template = tokenizer.chatTemplate(tools.length > 0) ?? '';
    const { messages, tools: told } = toolConversation(template, written, functions);
    // A template that takes tools gets all that the file says of them.
    const options = { ...others, ...(told && { tools }) };
    await terminal.json({ prompt: tokenizer.chat(messages, options), ids: tokenizer.encodeChat(messages, options) });
  },
});
