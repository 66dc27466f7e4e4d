// The architecture that a checkpoint is read as, once its tensors are compared with it: what a load checks first, by the
// headers alone. `inspect` and the estimate of memory compute from it, because a config that its tensors contradict may
// ask for any amount of work.
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type { Architecture } from '../architecture.ts';
import {
  type DrafterFamily,
  drafterExtras,
  isDrafter,
  isScored,
  readArchitecture,
  readDrafter,
  readScored,
  readStateJudge,
  readsDraftStates,
  scoredHead,
} from '../families/families.ts';
import { checkTensors } from './checkpoint-tensors.ts';

type Headers = Pick<Checkpoint, 'config' | 'tensors'>;

export const checkedModel = ({ config, tensors }: Headers): Architecture => {
  const architecture = readArchitecture(config, tensors);
  checkTensors(architecture, tensors);
  return architecture;
};

export const checkedDrafter = ({ config, tensors }: Headers): DrafterFamily => {
  const family = readDrafter(config, tensors);
  checkTensors(family.architecture, tensors, drafterExtras(family));
  return family;
};

/** The body of a judge with a head of its own. */
export const checkedScored = ({ config, tensors }: Headers): Architecture => {
  const architecture = readScored(config, tensors);
  const head = scoredHead(tensors);
  checkTensors(architecture, tensors, [`${head}.weight`, `${head}.bias`]);
  return architecture;
};

/** The layers of a judge that go on from the draft's hidden states. */
export const checkedStateJudge = ({ config, tensors }: Headers): Architecture => {
  const architecture = readStateJudge(config, tensors);
  checkTensors(architecture, tensors);
  return architecture;
};

/** Whatever the engine can run: a language model, a drafter, a judge's body. */
export const checkedAny = (headers: Headers): Architecture => {
  if (isScored(headers.tensors)) return checkedScored(headers);
  if (readsDraftStates(headers.config)) return checkedStateJudge(headers);
  return isDrafter(headers.config) ? checkedDrafter(headers).architecture : checkedModel(headers);
};
