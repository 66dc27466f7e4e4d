// A judge on our own kernels. It keeps keys and values, so when a text is continued only the new rows are computed.
import type { Gpu } from '../gpu/device.ts';
import type { LoadModelOptions } from '../model/load/checkpoint-tensors.ts';
import { loadScored } from '../model/load/load-judge.ts';
import { loadTokenizer, type Tokenizer } from '../text/tokenizer.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import { layoutOf, rowsFor } from './input-layout.ts';
import { readJudgeConfig } from './judge-config.ts';
import { TextCursor, type VocabularyJudge } from './judge-cursor.ts';

/** `target`: the tokenizer of the model whose tokens it will be shown. */
export const loadScoredJudge = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  target: Tokenizer | null,
  options: LoadModelOptions,
): Promise<VocabularyJudge> => {
  const config = readJudgeConfig(checkpoint.config);
  const files = await checkpoint.tokenizer(options.signal);
  const tokenizer = files && (await loadTokenizer(files));
  const value = checkpoint.tensors.has('v_head.summary.weight');
  const gives = config.gives ?? (value ? 'reward' : 'advantage');
  const layOut = layoutOf(config, gives, checkpoint.name, { own: tokenizer, target });
  const { model } = await loadScored(gpu, checkpoint, options);
  return {
    family: model.family,
    gives,
    needsSteps: config.layout !== 'prompt',
    vocabulary: model.vocabulary,
    tokenizer,
    sharesVocabulary: config.layout !== 'published',
    context: model.context,
    bytes: model.bytes,
    async open({ capacity = model.context } = {}) {
      const reader = await model.open(Math.min(model.context, rowsFor(config, capacity)));
      return new TextCursor(reader, layOut, capacity);
    },
    [Symbol.dispose]: () => model[Symbol.dispose](),
  };
};
