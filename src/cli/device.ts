// Opens Dawn's device for a command, names it on stderr, and loads models on it.
import { missingRoles, optionalRoles } from '../decode/core/missing-roles.ts';
import type { DecodingSystem, ModelRole } from '../decode/core/system.ts';
import { BUILT_IN } from '../engine/built-in.ts';
import { DRAFTER_KINDS, loadDrafterSource } from '../engine/load/drafter.ts';
import { loadJudgeSource } from '../engine/load/judge.ts';
import { loadSource } from '../engine/load/language-model.ts';
import type {
  LoadedDrafter,
  LoadedJudge,
  LoadedModel,
  LoadedModels,
  LoadSourceOptions,
  ModelLoadTimes,
  Progress,
} from '../engine/load/loaded-models.ts';
import { loadPolicySource, loadSentencesSource } from '../engine/load/networks.ts';
import type { Gpu } from '../gpu/device.ts';
import { openNodeGpu } from '../gpu/node.ts';
import { SYSTEMS } from '../systems/index.ts';
import type { Source } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import { choice, text, texts, UsageError } from './arguments.ts';
import { bundledNames, DEFAULT_DRAFT, DEFAULT_MODEL, modelSource, PRECISIONS, readModelName } from './model-source.ts';
import { stepReaderOf } from './step-reader.ts';
import { openDiskStore } from './store.ts';
import { formatBytes } from './table.ts';
import type { Terminal } from './terminal.ts';

export const precisionOption = choice(
  PRECISIONS,
  'precision of the weights on the device (default: as in the file); of one model alone: M@q4',
);

export const kvOption = choice(
  ['f32', 'f16', 'q8'],
  'precision of cached keys and values (default: f32); f16 takes half the memory, q8 28 %',
);

const DRAFTER = 'a DFlash, DSpark or EAGLE-3 drafter of this target, or built-in: its own MTP layer';

/** Of a command that has no other drafter. */
export const drafterOption = text('M', DRAFTER);

/** Options that name auxiliary models. */
export const auxiliaryOptions = {
  draft: text('M', 'a small model of the same vocabulary (default, for the bundled target: draft)'),
  drafter: text('M', `${DRAFTER} (default, for the bundled target: the system's)`),
  also: texts(
    'M',
    "another member of the target's ensemble, of the same vocabulary; may be repeated (default: the draft)",
  ),
  judge: text(
    'M',
    "a reward model, a router, a language model, or layers on top of the draft, which judge this target's steps (default, for the bundled target: prm, router)",
  ),
  sentences: text(
    'M',
    'a sentence-embedding model that compares candidate steps, for specguard: a folder or an address',
  ),
  policy: text('M', 'a block-size policy for this target and drafter (default, for the bundled target: blockpilot)'),
} as const;

export interface OpenedDevice extends Disposable {
  readonly gpu: Gpu;
}

const describe = ({ info, device, software }: Gpu): string => {
  const features = ['shader-f16', 'subgroups'].filter((name) => device.features.has(name));
  const facts = [info.description || info.device || info.vendor, info.architecture, ...features];
  return [...new Set([...facts, ...(software ? ['software'] : [])])].filter((fact) => fact !== '').join(' · ');
};

/** Closing it frees everything on it. */
export const openDevice = async ({ note }: Terminal): Promise<OpenedDevice> => {
  const gpu = await openNodeGpu();
  note(`device: ${describe(gpu)}`);
  return { gpu, [Symbol.dispose]: () => gpu.destroy() };
};

const tell = ({ phase, loaded, total }: Progress): string =>
  phase === 'compile' ? 'compiling shaders' : `${phase} ${formatBytes(loaded)} of ${formatBytes(total)}`;

interface Wanted {
  readonly model: string | undefined;
  readonly precision: Precision | undefined;
}

export const loadOnDevice = async (device: OpenedDevice, wanted: Wanted, terminal: Terminal): Promise<LoadedModel> =>
  loadFrom(device, await modelSource(wanted.model, terminal), wanted, terminal);

const loadFrom = async (
  { gpu }: OpenedDevice,
  source: Source,
  { model, precision }: Wanted,
  { signal, progress, note }: Terminal,
): Promise<LoadedModel> => {
  const loaded = await loadSource(gpu, source, {
    precision: (model === undefined ? undefined : readModelName(model).precision) ?? precision,
    signal,
    store: openDiskStore(),
    onProgress: (state) => progress(tell(state)),
  });
  const { total, tokenizer, read, repack, compile, check } = loaded.times as ModelLoadTimes;
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  note(
    `loaded ${loaded.name} in ${seconds(total)}: tokenizer ${seconds(tokenizer)}, read ${seconds(read)}, ` +
      `repack ${seconds(repack)}, check ${seconds(check)}; shaders ${seconds(compile)} at the same time; ` +
      `${formatBytes(loaded.model.bytes)} on the device`,
  );
  if (!loaded.model.batchInvariant)
    note('warning: this device scores a row alone differently than among others; every pass is padded, and slower');
  return loaded;
};

export interface WantedTogether extends Wanted {
  readonly draft: string | undefined;
  readonly drafter: string | undefined;
  readonly policy?: string | undefined;
  readonly also?: readonly string[];
  readonly judge?: string | undefined;
  readonly sentences?: string | undefined;
}

/** By role: its option, and its bundled model. */
const AUXILIARY = {
  draft: { option: 'draft', bundled: 'draft' },
  dflash: { option: 'drafter', bundled: 'dflash' },
  dspark: { option: 'drafter', bundled: 'dspark' },
  eagle3: { option: 'drafter', bundled: 'eagle3' },
  mtp: { option: 'drafter', bundled: BUILT_IN },
  policy: { option: 'policy', bundled: 'blockpilot' },
  prm: { option: 'judge', bundled: 'prm' },
  router: { option: 'judge', bundled: 'router' },
} as const;
type AuxiliaryRole = keyof typeof AUXILIARY;

/** The bundled model of a role, if the target is the bundled one. */
const bundledFor = (role: AuxiliaryRole, { model }: Wanted, root: string): string | undefined => {
  const { option, bundled } = AUXILIARY[role];
  // A judge reads the tokens of the whole family; a drafter is made for one target.
  const family = option === 'judge' ? [DEFAULT_MODEL, DEFAULT_DRAFT] : [DEFAULT_MODEL];
  return family.includes(model ?? DEFAULT_MODEL) && bundledNames(root).includes(bundled) ? bundled : undefined;
};

const neededFor = (role: AuxiliaryRole, wanted: Wanted, root: string): string => {
  if (role === 'mtp') return BUILT_IN; // no other model's would do
  const bundled = bundledFor(role, wanted, root);
  if (bundled) return bundled;
  throw new UsageError(`the system needs a model for ${role}`, `Name one with --${AUXILIARY[role].option}.`);
};

/** A drafter was named, and it is of another kind than the system's. */
const wrongDrafter = (drafters: readonly LoadedDrafter[], role: ModelRole): Error => {
  const found = drafters.map(({ name, model }) => `${name} is a drafter for ${model.kind}`).join(', ');
  const kinds: readonly ModelRole[] = drafters.map(({ model }) => model.kind);
  const fitting = SYSTEMS.filter(({ needs }) => needs.some((need) => kinds.includes(need))).map(({ id }) => id);
  return new UsageError(
    `${found}, and the system needs one for ${role}`,
    `Use --system ${fitting.join(' or ')}, or name another file with --drafter.`,
  );
};

const nameOf = (role: ModelRole, wanted: WantedTogether): string | undefined => {
  if (role === 'target') return wanted.model ?? DEFAULT_MODEL;
  return role in AUXILIARY
    ? wanted[AUXILIARY[role as AuxiliaryRole].option]
    : wanted.also?.[Number(role.slice('also-'.length)) - 1];
};

/** Loads the target, the auxiliary models that were named, and the others that the systems need. */
export const loadTogether = async (
  device: OpenedDevice,
  wanted: WantedTogether,
  systems: readonly Pick<DecodingSystem, 'needs' | 'uses' | 'usesOneOf' | 'joins' | 'instead'>[],
  terminal: Terminal,
): Promise<LoadedModels & { readonly target: LoadedModel }> => {
  const { root, signal, progress } = terminal;
  const missing = systems.flatMap((system) => missingRoles(system, (role) => nameOf(role, wanted) !== undefined));
  const isBundled = (role: ModelRole) =>
    role in AUXILIARY && bundledFor(role as AuxiliaryRole, wanted, root) !== undefined;
  const welcome = systems
    .flatMap((system) => optionalRoles(system, (role) => nameOf(role, wanted) !== undefined || isBundled(role)))
    .filter((role) => nameOf(role, wanted) === undefined);
  const bundled = (role: AuxiliaryRole): string | undefined => {
    if (missing.includes(role)) return neededFor(role, wanted, root);
    return welcome.includes(role) ? bundledFor(role, wanted, root) : undefined;
  };
  // All names are checked before the first byte is read.
  const draftName = wanted.draft ?? bundled('draft');
  const drafterNames = [wanted.drafter, ...DRAFTER_KINDS.map(bundled)];
  const policyName = wanted.policy ?? bundled('policy');
  const judgeNames = [wanted.judge, bundled('prm'), bundled('router')];
  const named = (names: readonly (string | undefined)[]) => names.filter((name) => name !== undefined);

  const targetName = wanted.model ?? DEFAULT_MODEL;
  const also = wanted.also ?? [];
  const all = [targetName, draftName, ...also, ...drafterNames, policyName, wanted.sentences, ...judgeNames];
  const sources = new Map<string, Source>();
  for (const name of named(all))
    if (!sources.has(name) && name !== BUILT_IN) sources.set(name, await modelSource(name, terminal));
  const sourceOf = (name: string): Source => sources.get(name === BUILT_IN ? targetName : name) as Source;

  const load = (name: string) =>
    loadFrom(device, sourceOf(name), { model: name, precision: wanted.precision }, terminal);
  const target = await load(targetName);
  const draft = draftName === undefined ? null : await load(draftName);
  const others: LoadedModel[] = [];
  for (const name of also) others.push(await load(name));
  const store = openDiskStore();
  const options = (name: string): LoadSourceOptions => ({
    precision: readModelName(name).precision ?? wanted.precision,
    signal,
    store,
    onProgress: (state) => progress(tell(state)),
  });
  const drafters: LoadedDrafter[] = [];
  for (const name of named(drafterNames))
    drafters.push(await loadDrafterSource(device.gpu, sourceOf(name), target, options(name)));
  const isThere = (role: ModelRole) =>
    DRAFTER_KINDS.every((kind) => kind !== role) || drafters.some(({ model }) => model.kind === role);
  const [absent] = systems.flatMap((system) => missingRoles(system, isThere));
  if (absent) throw wrongDrafter(drafters, absent);
  const policy = policyName === undefined ? null : await loadPolicySource(sourceOf(policyName), { signal, store });
  const sentences =
    wanted.sentences === undefined ? null : await loadSentencesSource(sourceOf(wanted.sentences), { signal, store });
  const judges: LoadedJudge[] = [];
  const reader = stepReaderOf({ target, ...(draft && { draft }) });
  for (const name of named(judgeNames))
    judges.push(
      await loadJudgeSource(device.gpu, sourceOf(name), {
        ...options(name),
        target: reader,
        draft: draft ?? undefined,
      }),
    );
  const [prm] = judges.filter(({ model }) => model.gives === 'reward');
  const [router] = judges.filter(({ model }) => model.gives === 'advantage');
  return {
    target,
    ...Object.fromEntries(others.map((model, i) => [`also-${i + 1}`, model])),
    ...(policy && { policy }),
    ...(sentences && { sentences }),
    ...(draft && { draft }),
    // Of one kind the one that was named.
    ...Object.fromEntries(drafters.toReversed().map((drafter) => [drafter.model.kind, drafter])),
    ...(prm && { prm }),
    ...(router && { router }),
  };
};
