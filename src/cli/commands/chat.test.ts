// `outrider chat` prints what transformers renders: 70 published templates, with tools and without.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { chat } from './chat.ts';

const { conversations, templates } = (
  noShared
    ? { conversations: {}, templates: {} }
    : JSON.parse(readFileSync(shared('golden/templates', 'renders.json'), 'utf8'))
) as {
  conversations: Record<string, unknown>;
  templates: Record<string, { clock?: boolean; renders: Record<string, { text?: string; raises?: string }> }>;
};

/** It has one token, so ids are of no use: the prompt is what is compared. */
const TOKENIZER = {
  version: '1.0',
  ...{ truncation: null, padding: null, normalizer: null, pre_tokenizer: null, post_processor: null },
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
  added_tokens: [],
  decoder: { type: 'ByteLevel' },
};
const SPECIAL = { bos_token: '<s>', eos_token: '</s>', pad_token: '</s>', unk_token: '<unk>' };

const scratch = mkdtempSync(join(tmpdir(), 'outrider-chat-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const promptOf = async (file: string): Promise<string> => {
  let printed: unknown;
  const terminal = {
    root: process.cwd(),
    signal: new AbortController().signal,
    colour: false,
    write: async () => {},
    json: async (value: unknown) => {
      printed = value;
    },
    note: () => {},
    progress: () => {},
  };
  const values = { model: scratch, messages: file, 'as-sent': false };
  await chat.run({ values, positionals: [] } as unknown as Parameters<typeof chat.run>[0], terminal);
  return (printed as { prompt: string }).prompt;
};

describe.skipIf(noShared)('the prompts of published templates', () => {
  it.each(Object.entries(templates))('%s', async (name, { clock, renders }) => {
    // The day on which the references were made.
    if (clock) vi.useFakeTimers({ now: new Date(2026, 10, 22, 12), toFake: ['Date'] });
    try {
      const chat_template = readFileSync(shared('golden/templates', `${name}.jinja`), 'utf8');
      writeFileSync(join(scratch, 'tokenizer.json'), JSON.stringify(TOKENIZER));
      writeFileSync(join(scratch, 'tokenizer_config.json'), JSON.stringify({ ...SPECIAL, chat_template }));
      for (const [id, { text, raises }] of Object.entries(renders)) {
        const file = join(scratch, 'messages.json');
        writeFileSync(file, JSON.stringify(conversations[id]));
        if (raises === undefined) expect(await promptOf(file), id).toBe(text);
        else await expect(promptOf(file), id).rejects.toThrow(raises);
      }
    } finally {
      vi.useRealTimers();
    }
  });
});
