// A target on another machine, as the command line names it: `--remote ADDRESS --remote-model NAME`. The key comes from
// the environment, because arguments stand in shell histories and process lists. The draft is what is loaded here.
import type { DecodingSystem } from '../decode/system.ts';
import type { LoadedModel, LoadedModels } from '../load.ts';
import { remote } from '../remote/source.ts';
import { type LoadedRemote, openRemote } from '../remote/target.ts';
import { SYSTEMS } from '../systems/index.ts';
import { choice, text, UsageError } from './arguments.ts';
import { loadTogether, type OpenedDevice, type WantedTogether } from './device.ts';
import { DEFAULT_DRAFT } from './model-source.ts';
import type { Terminal } from './terminal.ts';

const REMOTE_KEY = 'OUTRIDER_REMOTE_KEY';

export const remoteOptions = {
  remote: text('ADDRESS', `of a completions server that has the target; its key, if any, is in ${REMOTE_KEY}`),
  'remote-model': text('NAME', 'what that server calls the target'),
  'remote-fall-back': choice(['draft', 'fail'], 'when it cannot be had: go on with the draft, or fail (default)'),
} as const;

type Wanted = WantedTogether & {
  readonly remote?: string | undefined;
  readonly 'remote-model'?: string | undefined;
  readonly 'remote-fall-back'?: 'draft' | 'fail' | undefined;
};

/** Options of a target on this machine. */
const LOCAL = ['model', 'drafter', 'policy', 'also'] as const;

/** Null where the target is here. Whatever can be known to be wrong is told before anything is loaded. */
export const readRemote = (
  wanted: Wanted,
  system: DecodingSystem,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): LoadedRemote | null => {
  const { remote: address, 'remote-model': model, 'remote-fall-back': fallBack = 'fail' } = wanted;
  if (address === undefined) {
    const [alone] = (['remote-model', 'remote-fall-back'] as const).filter((name) => wanted[name] !== undefined);
    if (alone) throw new UsageError(`--${alone} is given without --remote ADDRESS`);
    return null;
  }
  if (model === undefined) throw new UsageError('--remote is given without --remote-model NAME');
  const given = LOCAL.find((name) => (wanted[name]?.length ?? 0) > 0);
  if (given) throw new UsageError(`--${given} goes with a target on this machine, and --remote names another`);
  if (!system.remote) {
    const able = SYSTEMS.filter((each) => each.remote).map(({ id }) => id);
    throw new UsageError(`${system.id} needs its target on this machine`, `With --remote: ${able.join(', ')}.`);
  }
  return openRemote(remote(address, model, environment[REMOTE_KEY] || undefined, { fallBack }));
};

/** What such a system needs on this machine, and the way to the other one. */
export const loadBesideRemote = async (
  device: OpenedDevice,
  far: LoadedRemote,
  wanted: WantedTogether,
  system: DecodingSystem,
  terminal: Terminal,
): Promise<LoadedModels & { readonly draft: LoadedModel }> => {
  // The draft reads the text in the target's place, and judges are loaded for it.
  const needs = system.needs.filter((role) => role !== 'target' && role !== 'draft');
  const here = { ...wanted, model: wanted.draft ?? DEFAULT_DRAFT, draft: undefined };
  const { target: draft, ...others } = await loadTogether(device, here, [{ needs }], terminal);
  return { ...others, draft, remote: far };
};
