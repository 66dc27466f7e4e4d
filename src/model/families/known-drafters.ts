// What drafts for a target and cannot run without one: its architectures and the family that reads each, as known-models.ts
// has those of language models.
import { Config } from './config.ts';
import { type DFlash, readDFlash } from './dflash.ts';
import { type Eagle3, readEagle3 } from './eagle3.ts';
import { type DrafterName, isDrafter, isModel, type Json, named, unsupported } from './known-models.ts';

export type DrafterFamily = DFlash | Eagle3;

const DRAFTERS: Readonly<Record<DrafterName, (config: Config) => DrafterFamily>> = {
  DFlashDraftModel: readDFlash,
  LlamaForCausalLMEagle3: readEagle3,
};

export const readDrafter = (json: Json): DrafterFamily => {
  const name = named(json);
  if (isDrafter(name)) return DRAFTERS[name](new Config(json));
  const hint = isModel(name) ? 'It is a language model; as a drafter it goes by the name of draft.' : '';
  throw unsupported(name, Object.keys(DRAFTERS), hint);
};
