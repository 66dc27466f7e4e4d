// Engines that answer in text, for tests of what is built on top: a toy model that speaks the bundled vocabulary, and
// the smallest bundled model on a real adapter.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createEngine, type Engine } from '../../engine/engine.ts';
import type { Gpu } from '../../gpu/device.ts';
import { loadTokenizer, type Tokenizer } from '../../text/tokenizer.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { toyModel } from './toy-model.ts';

const MODELS = resolve(import.meta.dirname, '../../../public/models');

const json = (file: string) => JSON.parse(readFileSync(resolve(MODELS, 'target', file), 'utf8'));

/** `template`: in the place of its own. */
export const bundledTokenizer = (template?: string): Promise<Tokenizer> =>
  loadTokenizer({
    tokenizer: json('tokenizer.json'),
    config: { ...json('tokenizer_config.json'), ...(template !== undefined && { chat_template: template }) },
    generation: json('generation_config.json'),
  });

/** Writes nonsense in bundled tokens, and takes conversations. */
export const toyTextEngine = async (
  context = 256,
  stopTokens: readonly number[] = [],
  template?: string,
): Promise<Engine> => {
  const tokenizer = await bundledTokenizer(template);
  const engine = createEngine();
  const model = toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 8, context });
  await engine.load({ target: { name: 'toy', model, tokenizer, stopTokens } });
  return engine;
};

/** A real model, half a megabyte: it solves one-step problems. */
export const draftEngine = async (gpu: Gpu): Promise<Engine> => {
  const engine = createEngine({ gpu });
  await engine.load({ target: await folderSource(resolve(MODELS, 'draft')) });
  return engine;
};
