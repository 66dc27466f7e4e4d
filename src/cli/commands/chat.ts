// Prints the prompt that the chat template makes of a conversation, and its token ids. It runs no model. The template is
// given the messages and tools as they stand in the file, or as the engine would give them.
import { isObject } from '../../base/is-object.ts';
import { checkRequest } from '../../engine/check-request.ts';
import { contentText } from '../../text/message-content.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import { toolConversation } from '../../text/tool-calls/conversation.ts';
import type { ToolFunction } from '../../text/tool-calls/tools.ts';
import { flag, UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { type Conversation, messagesOption, readConversation } from '../messages.ts';
import { modelOption, needTokenizer, openTokenizer } from '../model-source.ts';

/** A tool as conversations have it: a function, or an object that has it under `function`. */
const functionOf = (tool: unknown): ToolFunction => {
  const own = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  if (!isObject(own)) return tool as ToolFunction; // it is refused with the rest of the request
  const { name, description, parameters } = own as unknown as ToolFunction;
  return { name, ...(description && { description }), ...(parameters && { parameters }) };
};

/** Where the template knows no tools, they and their calls are plain messages. */
const asSent = ({ messages: written, tools = [], ...others }: Conversation, tokenizer: Tokenizer): Conversation => {
  const functions = { functions: tools.map(functionOf) };
  checkRequest({ prompt: { messages: written }, tools: functions });
  const template = tokenizer.chatTemplate(tools.length > 0) ?? '';
  const texts = written.map((message) => ({ ...message, content: contentText(message) }));
  const { messages, tools: told } = toolConversation(template, texts, functions);
  // A template that takes tools gets all that the file says of them.
  return { ...others, messages, tools: told && tools };
};

export const chat = defineCommand({
  name: 'chat',
  summary: 'prints the prompt and ids that the chat template makes of a conversation; generate --messages answers it',
  usage: '[--model M] --messages F.json [--as-sent]',
  positionals: [],
  options: {
    model: modelOption,
    messages: messagesOption,
    'as-sent': flag('with calls and tools as the engine gives them to this template, not as the file has them'),
  },
  async run({ values }, terminal) {
    if (values.messages === undefined) throw new UsageError('chat needs --messages F.json');
    const conversation = await readConversation(values.messages);
    const tokenizer = needTokenizer(await openTokenizer(values.model, terminal), values.model);
    const { messages, ...options } = values['as-sent'] ? asSent(conversation, tokenizer) : conversation;
    await terminal.json({ prompt: tokenizer.chat(messages, options), ids: tokenizer.encodeChat(messages, options) });
  },
});
