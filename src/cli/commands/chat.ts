// Prints the prompt that the chat template makes of a conversation, and its token ids.
import { UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { messagesOption, readMessages } from '../messages.ts';
import { modelOption, needTokenizer, openModel, openTokenizer } from '../model-source.ts';

export const chat = defineCommand({
  name: 'chat',
  summary: 'prints the prompt that a conversation becomes, and its token ids',
  usage: '[--model M] --messages F.json',
  positionals: [],
  options: { model: modelOption, messages: messagesOption },
  async run({ values }, terminal) {
    if (values.messages === undefined) throw new UsageError('chat needs --messages F.json');
    const messages = await readMessages(values.messages);
    using checkpoint = await openModel(values.model, terminal);
    const tokenizer = needTokenizer(await openTokenizer(checkpoint, terminal.signal), values.model);
    await terminal.json({ prompt: tokenizer.chat(messages), ids: tokenizer.encodeChat(messages) });
  },
});
