// Text to token ids and back. Special tokens spelled out in the text are recognised; nothing is added to it.
import { integers, text, UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { modelOption, needTokenizer, openModel, openTokenizer } from '../model-source.ts';

export const tokenize = defineCommand({
  name: 'tokenize',
  summary: 'token ids of a text, or the text of token ids',
  usage: '[--model M] (--text T | --ids 1,2,3)',
  positionals: [],
  options: {
    model: modelOption,
    text: text('T', 'the text to encode'),
    ids: integers('1,2,3', 'the ids to decode', { least: 0 }),
  },
  async run({ values }, terminal) {
    if ((values.text === undefined) === (values.ids === undefined))
      throw new UsageError('tokenize needs either --text or --ids');
    using checkpoint = await openModel(values.model, terminal);
    const tokenizer = await openTokenizer(checkpoint, terminal.signal);
    const ids = values.ids ?? needTokenizer(tokenizer, values.model).encode(values.text ?? '');
    await terminal.json({ ids, text: tokenizer?.decode(ids, { special: true }) ?? null });
  },
});
