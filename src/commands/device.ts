// Dawn's device for a command that runs a model, the line on stderr that says which it is, and a model on it.

import type { ModelRole } from '../decode/system.ts';
import type { Gpu } from '../gpu/device.ts';
import { openNodeGpu } from '../gpu/node.ts';
import {
  asKind,
  type LoadedDrafter,
  type LoadedModel,
  type LoadedModels,
  loadDrafterSource,
  loadPolicySource,
  loadSource,
  type Progress,
} from '../load.ts';
import type { Precision } from '../weights/quantize.ts';
import { choice, text, UsageError } from './arguments.ts';
import { bundledNames, DEFAULT_MODEL, modelSource } from './model-source.ts';
import { formatBytes } from './table.ts';
import type { Terminal } from './terminal.ts';

export const precisionOption = choice(
  ['f32', 'f16', 'q8', 'q4'],
  'of the weights on the device (default: as in the file)',
);

/** Models beside the target. */
export const besideOptions = {
  draft: text('M', 'a small model of the same vocabulary (default, for the bundled target: draft)'),
  drafter: text('M', "a DFlash or EAGLE-3 drafter of this target (default, for the bundled target: the system's)"),
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

/** Closing it frees everything that lies on it. */
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

export const loadOnDevice = async (
  { gpu }: OpenedDevice,
  { model, precision }: Wanted,
  { root, signal, progress, note }: Terminal,
): Promise<LoadedModel> => {
  const loaded = await loadSource(gpu, await modelSource(model, root), {
    precision,
    signal,
    onProgress: (state) => progress(tell(state)),
  });
  if (!loaded.model.batchInvariant)
    note('warning: this device does not score a row alone as it does among others; every pass is padded, and slower');
  return loaded;
};

interface WantedTogether extends Wanted {
  readonly draft: string | undefined;
  readonly drafter: string | undefined;
  readonly policy?: string | undefined;
}

/** A role's option, and what people call a system's lack of it. */
const OPTION = { draft: 'draft', dflash: 'drafter', eagle3: 'drafter', policy: 'policy' } as const;

/** A role's bundled model. */
const BUNDLED_FOR = { draft: 'draft', dflash: 'dflash', eagle3: 'eagle3', policy: 'blockpilot' } as const;

/** The bundled model of a role, where the target is the bundled one and nothing else was named. */
const bundledFor = (role: keyof typeof OPTION, { model }: Wanted, root: string): string => {
  const bundled = bundledNames(root);
  if ((model ?? DEFAULT_MODEL) === DEFAULT_MODEL && bundled.includes(BUNDLED_FOR[role])) return BUNDLED_FOR[role];
  throw new UsageError(`the system needs a model for ${role}`, `Name one with --${OPTION[role]}.`);
};

/** The target, what was named beside it, and what the systems need beyond that. */
export const loadTogether = async (
  device: OpenedDevice,
  wanted: WantedTogether,
  needs: readonly ModelRole[],
  terminal: Terminal,
): Promise<LoadedModels & { readonly target: LoadedModel }> => {
  const { root, signal, progress } = terminal;
  const { precision } = wanted;
  const lacks = (role: keyof typeof OPTION): boolean => needs.includes(role) && wanted[OPTION[role]] === undefined;
  const draftName = wanted.draft ?? (lacks('draft') ? bundledFor('draft', wanted, root) : undefined);
  const drafterNames = [
    ...(wanted.drafter === undefined ? [] : [wanted.drafter]),
    ...(['dflash', 'eagle3'] as const).filter(lacks).map((role) => bundledFor(role, wanted, root)),
  ];
  const policyName = wanted.policy ?? (lacks('policy') ? bundledFor('policy', wanted, root) : undefined);
  const target = await loadOnDevice(device, wanted, terminal);
  const draft = draftName === undefined ? null : await loadOnDevice(device, { model: draftName, precision }, terminal);
  const drafters: LoadedDrafter[] = [];
  for (const name of drafterNames)
    drafters.push(
      await loadDrafterSource(device.gpu, await modelSource(name, root), target, {
        precision,
        signal,
        onProgress: (state) => progress(tell(state)),
      }),
    );
  const [dflash] = drafters.filter(({ model }) => model.kind === 'dflash');
  const [eagle3] = drafters.filter(({ model }) => model.kind === 'eagle3');
  const policy =
    policyName === undefined ? null : await loadPolicySource(await modelSource(policyName, root), { signal });
  return {
    target,
    ...(policy && { policy }),
    ...(draft && { draft }),
    ...(dflash && { dflash: asKind(dflash, 'dflash') }),
    ...(eagle3 && { eagle3: asKind(eagle3, 'eagle3') }),
  };
};
