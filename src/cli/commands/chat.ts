// Prints the prompt that the chat template makes of a conversation, and its token ids. It runs no model.
import { UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { messagesOption, readConversation } from '../messages.ts';
import { modelOption, needTokenizer, openTokenizer } from '../model-source.ts';

export const chat = defineCommand({
  name: 'chat',
  summary: 'prints the prompt and ids that the chat template makes of a conversation; generate --messages answers it',
  usage: '[--model M] --messages F.json',
  positionals: [],
  options: { model: modelOption, messages: messagesOption },
  async run({ values }, terminal) {
    if (values.messages === undefined) throw new UsageError('chat needs --messages F.json');
    const { messages, ...options } = await readConversation(values.messages);
    const tokenizer = needTokenizer(await openTokenizer(values.model, terminal), values.model);
    await terminal.json({ prompt: tokenizer.chat(messages, options), ids: tokenizer.encodeChat(messages, options) });
  },
});
