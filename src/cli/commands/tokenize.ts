// Text to token ids and back. Special tokens spelled out in the text are recognised; nothing is added to it, unless asked.
import { flag, integers, refuseWithout, text, UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { readTextFile } from '../messages.ts';
import { modelOption, needTokenizer, openTokenizer } from '../model-source.ts';

/** A text a line: a JSON string, or an object that has it under `text`. */
const readTexts = async (path: string): Promise<readonly string[]> => {
  const lines = (await readTextFile(path)).split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, i) => {
    const wrong = (): UsageError =>
      new UsageError(`${path}: line ${i + 1} holds no text`, 'Expected a JSON string or {"text": "…"} in each line.');
    let read: unknown;
    try {
      read = JSON.parse(line);
    } catch {
      throw wrong();
    }
    const found = typeof read === 'string' ? read : (read as { text?: unknown } | null)?.text;
    if (typeof found !== 'string') throw wrong();
    return found;
  });
};

export const tokenize = defineCommand({
  name: 'tokenize',
  summary: 'token ids of a text, or the text of token ids',
  usage: '[--model M] (--text T | --ids 1,2,3 | --file F.jsonl) [--special]',
  positionals: [],
  options: {
    model: modelOption,
    text: text('T', 'the text to encode'),
    ids: integers('1,2,3', 'the ids to decode', { least: 0 }),
    file: text('F.jsonl', 'a text a line, each a JSON string or {"text": "…"}: their ids, a line each'),
    special: flag('add what the model itself puts around a text (BOS, EOS)'),
  },
  async run({ values }, terminal) {
    const { special, file } = values;
    if ([values.text, values.ids, file].filter((given) => given !== undefined).length !== 1)
      throw new UsageError('tokenize needs one of --text, --ids and --file');
    if (values.ids) refuseWithout('--text and --file', values, ['special']);
    const texts = file === undefined ? null : await readTexts(file);
    const tokenizer = await openTokenizer(values.model, terminal);
    if (texts) {
      const { encode } = needTokenizer(tokenizer, values.model);
      for (const each of texts) await terminal.json({ ids: encode(each, { special }) });
      return;
    }
    const outside = values.ids?.find((id) => tokenizer && id >= tokenizer.vocabulary);
    if (outside !== undefined)
      throw new UsageError(`token ${outside} is outside the vocabulary of ${tokenizer?.vocabulary}`);
    const ids = values.ids ?? needTokenizer(tokenizer, values.model).encode(values.text ?? '', { special });
    await terminal.json({ ids, text: tokenizer?.decode(ids, { special: true }) ?? null });
  },
});
