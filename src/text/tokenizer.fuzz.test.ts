// tokenizer.json and tokenizer_config.json come from strangers. Damaged ones are loaded and used: the outcome is a
// tokenizer or an error of ours that says what is wrong, soon.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { mutateJson } from '../testing/fuzz/mutate-json.ts';
import { random } from '../testing/fuzz/random.ts';
import { loadTokenizer } from './tokenizer.ts';

const SEED = 20_261_123;
const INPUTS = inputs(3_000);

const read = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../public/models/target', file), 'utf8'));

it(`${INPUTS} damaged tokenizers: a tokenizer or an error that names what is wrong`, async () => {
  const whole = { tokenizer: read('tokenizer.json'), config: read('tokenizer_config.json') };
  const model = whole.tokenizer.model as Record<string, unknown>;
  // A tenth of the entries, so that most changes hit something other than the vocabulary.
  const few = { ...model, vocab: Object.fromEntries(Object.entries(model.vocab as object).slice(0, 60)), merges: [] };
  const small = { ...whole, tokenizer: { ...whole.tokenizer, model: few } };
  vi.spyOn(console, 'warn').mockReturnValue(); // the library warns of what it makes do without
  const below = random(SEED);
  const watch = new Watch();
  const messages = new Set<string>();
  let good = 0;
  for (let i = 0; i < INPUTS; i++) {
    const damaged = mutateJson(small, below);
    const shown = (): string => `input ${i}: ${JSON.stringify(damaged).slice(0, 3000)}`;
    try {
      await watch.input(async () => {
        const tokenizer = await loadTokenizer(damaged);
        expect(tokenizer.vocabulary, shown()).toBeLessThan(2 ** 24);
        const ids = tokenizer.encode('Ida has 54 stones.\n\nHow many?', { special: true });
        tokenizer.decode(ids, { special: true });
        if (tokenizer.hasChatTemplate) tokenizer.chat([{ role: 'user', content: 'Hello' }]);
      });
      good++;
    } catch (error) {
      if (!(error instanceof OutriderError) || (error.code !== 'bad-checkpoint' && error.code !== 'bad-request'))
        throw new Error(shown(), { cause: error });
      messages.add(error.message.slice(0, 60));
    }
    watch.check(shown());
  }
  console.log(`${INPUTS} damaged tokenizers: ${good} loaded, refused in ${messages.size} ways, ${watch}`);
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(messages.size).toBeGreaterThan(10);
}, 300_000);
