// What is loaded beside language models: drafters, policies, judges and sentence encoders, here or on another machine. A
// chunk of its own, because a page that decodes plainly needs none of it.
import { bad, refuse } from '../../base/refuse.ts';
import type { ModelRole } from '../../decode/core/system.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { LoadJudgeOptions } from '../../judge/load-judge.ts';
import type { BlockDrafter, FeatureDrafter } from '../../model/interface.ts';
import type { RemoteJudge } from '../../remote/server.ts';
import type { FileSet } from '../../weights/files/byte-source.ts';
import { fileSet, type Source } from '../../weights/open.ts';
import type { ModelSource, ModelSources } from '../sources.ts';
import {
  type LoadedDrafter,
  type LoadedJudge,
  type LoadedModel,
  type LoadedModels,
  type LoadedPolicy,
  type LoadedSentences,
  type LoadSourceOptions,
  openSource,
  readerOf,
} from './language-model.ts';

/** Of whichever kind its config names. */
export const loadDrafterSource = async (
  gpu: Gpu,
  source: Source,
  target: LoadedModel,
  options: LoadSourceOptions = {},
): Promise<LoadedDrafter> => {
  const { signal, precision, onProgress } = options;
  using checkpoint = await openSource(source, options);
  const { loadDrafter } = await import('../../model/load/load-drafter.ts');
  const model = await loadDrafter(gpu, checkpoint, target.model, { precision, signal, onProgress });
  return { name: checkpoint.name, model };
};

/** As what it was loaded for; a drafter of the other kind is freed and refused. */
export const asKind = <Kind extends 'dflash' | 'eagle3'>(
  { name, model }: LoadedDrafter,
  kind: Kind,
): LoadedDrafter<Extract<BlockDrafter | FeatureDrafter, { readonly kind: Kind }>> => {
  const isKind = (drafter: typeof model): drafter is Extract<typeof model, { readonly kind: Kind }> =>
    drafter.kind === kind;
  if (isKind(model)) return { name, model };
  model[Symbol.dispose]();
  throw bad(`${name} is a drafter for ${model.kind}, not for ${kind}`);
};

/** Of a network that is one file: it has no phases. */
const filesOf = (source: Source, { signal, store, onProgress }: LoadSourceOptions): FileSet =>
  fileSet(source, {
    signal,
    store,
    onProgress: (loaded) => onProgress?.({ phase: 'download', loaded, total: loaded }),
  });

export const loadSentencesSource = async (
  source: Source,
  options: LoadSourceOptions = {},
): Promise<LoadedSentences> => {
  const files = filesOf(source, options);
  const { openSentences } = await import('../../judge/sentences.ts');
  return { name: files.name, ...(await openSentences(files, options)) };
};

export const loadPolicySource = async (source: Source, options: LoadSourceOptions = {}): Promise<LoadedPolicy> => {
  const files = filesOf(source, options);
  const { openBlockPolicy } = await import('../../judge/block-policy.ts');
  return { name: files.name, model: await openBlockPolicy(files, options.signal) };
};

export const loadJudgeSource = async (
  gpu: Gpu,
  source: Source,
  options: LoadJudgeOptions = {},
): Promise<LoadedJudge> => {
  const { loadJudge } = await import('../../judge/load-judge.ts');
  return loadJudge(gpu, source, options);
};

/** Where they go, and how one of them is loaded unless it is there. */
export interface Place {
  readonly models: () => LoadedModels;
  put(models: LoadedModels): void;
  one<Model extends { readonly model: Disposable }>(
    role: ModelRole,
    there: Model | undefined,
    from: ModelSource<Model>,
    load: (gpu: Gpu, source: Source, options: LoadSourceOptions) => Promise<Model>,
  ): Promise<Model>;
  /** Nothing of it is on this machine. */
  far(role: ModelRole, source: object): void;
}

const isFar = (from: RemoteJudge | ModelSource<LoadedJudge>): from is RemoteJudge =>
  typeof from === 'object' && 'kind' in from && from.kind === 'remote-judge';

const GIVES = { prm: 'reward', router: 'advantage' } as const;

/** The target, if there is one, is there already. */
export const loadAuxiliary = async (sources: ModelSources, { models, put, one, far }: Place): Promise<void> => {
  const there = models();
  const needed = (what: string, model = there.target): LoadedModel => {
    if (model) return model;
    throw refuse(`${what} needs its target`, 'Load the target together with it.');
  };
  const drafter =
    <Kind extends 'dflash' | 'eagle3'>(kind: Kind) =>
    async (gpu: Gpu, source: Source, how: LoadSourceOptions) =>
      asKind(await loadDrafterSource(gpu, source, needed(`a ${kind} drafter`), how), kind);
  const { dflash, eagle3, policy, sentences } = sources;
  if (dflash !== undefined) put({ dflash: await one('dflash', there.dflash, dflash, drafter('dflash')) });
  if (eagle3 !== undefined) put({ eagle3: await one('eagle3', there.eagle3, eagle3, drafter('eagle3')) });
  if (policy !== undefined)
    put({ policy: await one('policy', there.policy, policy, (_, source, how) => loadPolicySource(source, how)) });
  if (sentences !== undefined) {
    const encoder = (_: Gpu, source: Source, how: LoadSourceOptions) => loadSentencesSource(source, how);
    put({ sentences: await one('sentences', there.sentences, sentences, encoder) });
  }
  for (const role of ['prm', 'router'] as const) {
    const from = sources[role];
    if (from === undefined) continue;
    const reader = (): LoadedModel => needed('a judge', readerOf(there));
    const place = (judge: LoadedJudge): void => put(role === 'prm' ? { prm: judge } : { router: judge });
    if (isFar(from)) {
      const { openRemoteJudge } = await import('../../remote/remote-judge.ts');
      place({ name: from.model, model: openRemoteJudge(from, reader(), GIVES[role]) });
      far(role, from);
      continue;
    }
    const judge = (gpu: Gpu, source: Source, how: LoadSourceOptions) =>
      loadJudgeSource(gpu, source, { ...how, target: reader() });
    place(await one(role, there[role], from, judge));
  }
};
