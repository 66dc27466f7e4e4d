// A target or a judge on another machine, as the command line names it: `--remote ADDRESS --remote-model NAME`. Keys
// come from the environment, because arguments are kept in shell histories and process lists. The draft runs here.
import type { DecodingSystem } from '../decode/core/system.ts';
import type { LoadedJudge, LoadedModel, LoadedModels } from '../engine/load/loaded-models.ts';
import { exposedKey, serverAddress } from '../remote/address.ts';
import { openRemoteJudge } from '../remote/remote-judge.ts';
import { type LoadedRemote, openRemote } from '../remote/remote-target.ts';
import { type JudgedBy, type RemoteJudge, remote, remoteJudge } from '../remote/server.ts';
import { SYSTEMS } from '../systems/index.ts';
import { choice, text, UsageError } from './arguments.ts';
import { loadTogether, type OpenedDevice, type WantedTogether } from './device.ts';
import { DEFAULT_DRAFT } from './model-source.ts';
import { stepReaderOf } from './step-reader.ts';
import type { Terminal } from './terminal.ts';

const REMOTE_KEY = 'OUTRIDER_REMOTE_KEY';
const JUDGE_KEY = 'OUTRIDER_REMOTE_JUDGE_KEY';

export const remoteOptions = {
  remote: text('ADDRESS', `address of a completions server that has the target; its key, if any, is in ${REMOTE_KEY}`),
  'remote-model': text('NAME', 'what that server calls the target'),
  'remote-fall-back': choice(
    ['draft', 'fail'],
    'when the server does not answer: go on with the draft, or fail (default)',
  ),
  'remote-judge': text(
    'ADDRESS',
    `address of a server that scores steps (vLLM's /pooling); its key, if any, is in ${JUDGE_KEY}`,
  ),
  'remote-judge-model': text('NAME', 'what that server calls the judge'),
  'remote-judge-words': text('NO,YES', 'ask which of two words a language model would write next, by /v1/completions'),
  'remote-judge-question': text('TEXT', 'follows the last step, when words are asked for'),
  'remote-judge-step-end': text('TEXT', 'follows each step (default: a newline)'),
  'remote-judge-fall-back': choice(
    ['target', 'fail'],
    'when that server fails: the target writes all remaining steps, or fail (default)',
  ),
} as const;

type Wanted = WantedTogether & {
  readonly remote?: string | undefined;
  readonly 'remote-model'?: string | undefined;
  readonly 'remote-fall-back'?: 'draft' | 'fail' | undefined;
  readonly 'remote-judge'?: string | undefined;
  readonly 'remote-judge-model'?: string | undefined;
  readonly 'remote-judge-words'?: string | undefined;
  readonly 'remote-judge-question'?: string | undefined;
  readonly 'remote-judge-step-end'?: string | undefined;
  readonly 'remote-judge-fall-back'?: 'target' | 'fail' | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of a target on this machine. */
const LOCAL = ['model', 'drafter', 'policy', 'also'] as const;

/** Null when the target is on this machine. Wrong options are errors before anything is loaded. */
export const readRemote = (
  wanted: Wanted,
  systems: readonly DecodingSystem[],
  environment: Environment = process.env,
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
  const bound = systems.find((system) => !system.remote);
  if (bound) {
    const able = SYSTEMS.filter((each) => each.remote).map(({ id }) => id);
    throw new UsageError(`${bound.id} needs its target on this machine`, `With --remote: ${able.join(', ')}.`);
  }
  return openRemote(remote(address, model, environment[REMOTE_KEY] || undefined, { fallBack }));
};

/** Loads what such systems need on this machine, and opens the remote target. */
const loadWithRemote = async (
  device: OpenedDevice,
  far: LoadedRemote,
  wanted: WantedTogether,
  systems: readonly DecodingSystem[],
  terminal: Terminal,
): Promise<LoadedModels & { readonly draft: LoadedModel }> => {
  // The draft reads the text in the target's place, and judges are loaded for it.
  const needs = systems
    .filter((system) => system.remote) // not those that would write the target's steps here
    .flatMap((system) => system.needs.filter((role) => role !== 'target' && role !== 'draft'));
  const here = { ...wanted, model: wanted.draft ?? DEFAULT_DRAFT, draft: undefined };
  if (far.notice) terminal.note(`warning: ${far.notice}`);
  const { target: draft, ...others } = await loadTogether(device, here, [{ needs }], terminal);
  return { ...others, draft, remote: far };
};

/** What `--remote-judge` decides on. */
const GIVES = { prm: 'reward', router: 'advantage' } as const;
const isJudge = (role: string): role is keyof typeof GIVES => role in GIVES;

/** How the server is asked for a score. */
const readJudgedBy = ({
  'remote-judge-words': words,
  'remote-judge-question': question,
  'remote-judge-step-end': stepEnd,
}: Wanted): JudgedBy => {
  if (words === undefined) {
    if (question !== undefined) throw new UsageError('--remote-judge-question is given without --remote-judge-words');
    return { by: 'pooling', stepEnd };
  }
  const [against, inFavour, ...more] = words.split(',');
  if (!against || !inFavour || more.length > 0)
    throw new UsageError(`--remote-judge-words ${words}: expected the word against a step and the one for it`);
  return { by: 'words', words: [against, inFavour], question, stepEnd };
};

/** Null when judges are on this machine. Wrong options are errors before anything is loaded. */
const readRemoteJudge = (
  wanted: Wanted,
  systems: readonly DecodingSystem[],
  environment: Environment,
): RemoteJudge | null => {
  const { 'remote-judge': address, 'remote-judge-model': model, 'remote-judge-fall-back': fallBack } = wanted;
  if (address === undefined) {
    const alone = Object.keys(remoteOptions).find(
      (name) => name.startsWith('remote-judge-') && wanted[name as keyof typeof remoteOptions] !== undefined,
    );
    if (alone) throw new UsageError(`--${alone} is given without --remote-judge ADDRESS`);
    return null;
  }
  if (model === undefined) throw new UsageError('--remote-judge is given without --remote-judge-model NAME');
  if (wanted.judge !== undefined) throw new UsageError('--judge and --remote-judge are both given');
  if (!systems.some(({ needs }) => needs.some(isJudge)))
    throw new UsageError(`${systems.map(({ id }) => id).join(', ')} asks no judge, and --remote-judge names one`);
  const key = environment[JUDGE_KEY] || undefined;
  const judge = remoteJudge(address, model, readJudgedBy(wanted), key, { fallBack });
  serverAddress(judge, ''); // throws where the address or the key is wrong
  return judge;
};

export interface Far {
  readonly target: LoadedRemote | null;
  readonly judge: RemoteJudge | null;
}

/** The models on other machines. */
export const readFar = (
  wanted: Wanted,
  systems: readonly DecodingSystem[],
  environment: Environment = process.env,
): Far => ({
  target: readRemote(wanted, systems, environment),
  judge: readRemoteJudge(wanted, systems, environment),
});

/** Loads all that these systems need, on this machine and on others. */
export const loadAll = async (
  device: OpenedDevice,
  { target, judge }: Far,
  wanted: WantedTogether,
  systems: readonly DecodingSystem[],
  terminal: Terminal,
): Promise<LoadedModels> => {
  const here = judge
    ? systems.map((system) => ({ ...system, needs: system.needs.filter((role) => !isJudge(role)) }))
    : systems;
  const models = target
    ? await loadWithRemote(device, target, wanted, here, terminal)
    : await loadTogether(device, wanted, here, terminal);
  if (!judge) return models;
  const reader = stepReaderOf(models) as LoadedModel;
  const exposed = exposedKey(judge);
  if (exposed) terminal.note(`warning: ${exposed}`);
  const roles = new Set(systems.flatMap(({ needs }) => needs.filter(isJudge)));
  const judges = [...roles].map((role): [string, LoadedJudge] => [
    role,
    { name: judge.model, model: openRemoteJudge(judge, reader, GIVES[role]) },
  ]);
  return { ...models, ...Object.fromEntries(judges) };
};
