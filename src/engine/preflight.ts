// Tells whether models would fit this device before any is downloaded: it reads configs and the headers of the weights.
// WebGPU states how large a buffer may be, but not how much memory there is. Some browsers state roughly how much
// memory the computer has; in others only the size of buffers is checked. A checkpoint that holds a head although its
// config ties it to the embedding counts as one matrix: only their values tell whether a load takes both (own-head.ts).

import { checkAborted, type OutriderError } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import type { ModelRole } from '../decode/core/system.ts';
import type { Gpu } from '../gpu/device.ts';
import { openPolicyNetwork } from '../judge/block-policy.ts';
import { isOnnx, openJudgeNetwork } from '../judge/onnx-judge.ts';
import { openSentenceNetwork } from '../judge/sentences.ts';
import type { Architecture } from '../model/architecture.ts';
import { largestBuffer } from '../model/cache/kv-cache.ts';
import { isScored, readsDraftStates } from '../model/families/families.ts';
import { scratchBytes } from '../model/forward/scratch.ts';
import type { CachePrecision } from '../model/interface.ts';
import { checkedDrafter, checkedModel, checkedScored, checkedStateJudge } from '../model/load/checked-architecture.ts';
import { attentionEstimate, cacheEstimate, spareRows, weightBytes } from '../model/load/estimate.ts';
import type { Checkpoint } from '../weights/checkpoint.ts';
import type { ByteSource } from '../weights/files/byte-source.ts';
import { type ProbedFiles, probed } from '../weights/files/probed.ts';
import { fileSet, openCheckpoint } from '../weights/open.ts';
import type { Precision } from '../weights/quantize/quantize.ts';
import { inRange } from './in-range.ts';
import { loading } from './load/checkpoint.ts';
import { DRAFTER_KINDS } from './load/drafter.ts';
import { type ModelRegistry, precisionOf } from './registry.ts';
import type { ModelSources } from './sources.ts';

/** How models would be loaded. */
export interface PreflightOptions {
  readonly precision?: Precision | { readonly [Role in ModelRole]?: Precision } | undefined;
  readonly cache?: CachePrecision | undefined;
  /** Tokens of prompt and answer together, for the caches. Default: 2048, or the model's context if that is less. */
  readonly tokens?: number | undefined;
  /** The computer's memory in bytes. Default: what the browser states. */
  readonly memory?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What one model takes, in bytes. */
export interface PreflightPart {
  readonly role: ModelRole;
  readonly name: string;
  /** Null when no part of it goes to the device. */
  readonly family: string | null;
  readonly download: number;
  readonly weights: number;
  readonly cache: number;
  readonly scratch: number;
}

/** Whether models fit this device, and why not. */
export interface Preflight {
  readonly parts: readonly PreflightPart[];
  /** Bytes of all files. */
  readonly download: number;
  /** Bytes of weights, caches and scratch of all. */
  readonly device: number;
  /** Tokens that the caches are estimated for. */
  readonly tokens: number;
  /** In bytes: the largest buffer of this device; the computer's memory, or null when the browser does not state it. */
  readonly limits: { readonly buffer: number; readonly memory: number | null };
  readonly fits: boolean;
  /** Why they do not fit, and what would help; empty when they fit. */
  readonly why: string;
  readonly hint: string;
}

const DEFAULT_TOKENS = 2048;

/** What the engine gives. */
interface Surroundings {
  readonly gpu: Gpu;
  readonly registry: Pick<ModelRegistry, 'resolve' | 'openStore'>;
}

interface Opened {
  readonly role: ModelRole;
  readonly architecture: Architecture;
  readonly checkpoint: Checkpoint;
  /** Bytes of its files, if they are not another model's. */
  readonly download: number;
}

const DRAFTERS: readonly ModelRole[] = DRAFTER_KINDS;
const JUDGES: readonly ModelRole[] = ['prm', 'router'];

/** The architecture as its role reads it. Tensors that do not fit it are refused, as in a load. */
const readAs = (role: ModelRole, checkpoint: Checkpoint, opened: readonly Opened[]): Architecture => {
  const { name, config, tensors } = checkpoint;
  const wrongRole = (what: string): OutriderError => bad(`${name} is no ${what}`, 'Load it under its own role.');
  if (DRAFTERS.includes(role)) {
    const target = opened.find((one) => one.role === 'target');
    const vocabulary = config.vocab_size ?? target?.architecture.sizes.vocabulary; // GGUF may not say it
    const whole = 'vocab_size' in config ? { ...config, vocab_size: vocabulary } : config;
    const { kind, architecture } = checkedDrafter({ config: whole, tensors });
    if (kind === role) return architecture;
    throw wrongRole(`drafter for ${role}: it is one for ${kind}`);
  }
  if (!JUDGES.includes(role)) return checkedModel(checkpoint);
  if (isScored(tensors)) return checkedScored(checkpoint);
  return readsDraftStates(config) ? checkedStateJudge(checkpoint) : checkedModel(checkpoint);
};

const nothing = (role: ModelRole, name: string): PreflightPart => ({
  role,
  name,
  family: null,
  download: 0,
  weights: 0,
  cache: 0,
  scratch: 0,
});

/** The file of a network that runs in the host's memory; null where the model goes to the device. */
const hostNetwork = async (
  role: ModelRole,
  files: ProbedFiles,
  signal: AbortSignal | undefined,
): Promise<ByteSource | null> => {
  if (role === 'policy') return openPolicyNetwork(files, signal);
  if (role === 'sentences') return openSentenceNetwork(files, signal);
  return JUDGES.includes(role) && (await isOnnx(files, signal)) ? openJudgeNetwork(files, signal) : null;
};

/** On another machine. */
const isFar = (given: ModelSources[ModelRole]): boolean =>
  typeof given === 'object' && (('kind' in given && given.kind.startsWith('remote')) || 'open' in given);

const deviceMemory = (): number | null => {
  const { deviceMemory: gib } = (globalThis.navigator ?? {}) as { deviceMemory?: number };
  return gib === undefined ? null : gib * 2 ** 30;
};

const size = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

interface Request {
  readonly gpu: Gpu;
  readonly positionsOf: (architecture: Architecture) => number;
  readonly cache: CachePrecision;
}

/** Callers may write JavaScript, so types are not certain. */
const requestOf = (gpu: Gpu, { cache = 'f32', tokens = DEFAULT_TOKENS }: PreflightOptions): Request => {
  inRange('tokens', tokens, 1, Number.MAX_SAFE_INTEGER, true);
  return { gpu, positionsOf: ({ sizes: { context } }) => Math.min(tokens, context), cache };
};

const weigh = (
  { role, architecture, checkpoint, download }: Opened,
  { gpu, positionsOf, cache }: Request,
  as: Precision | undefined,
) => ({
  role,
  name: checkpoint.name,
  family: architecture.family,
  download,
  weights: weightBytes(architecture, checkpoint, as),
  cache: cacheEstimate(gpu, architecture, {
    positions: positionsOf(architecture),
    precision: cache,
    spare: spareRows(checkpoint),
  }),
  scratch: scratchBytes(architecture),
});

const onDevice = (parts: readonly PreflightPart[]): number =>
  parts.reduce((sum, { weights, cache, scratch }) => sum + weights + cache + scratch, 0);

type Verdict = Pick<Preflight, 'fits' | 'why' | 'hint'>;

/** A layer's cache is one buffer, and so is what attention keeps between its passes; weights are split to fit. */
const holdBuffers = (
  opened: readonly Opened[],
  limit: number,
  { gpu, positionsOf, cache }: Request,
): Verdict | null => {
  for (const { architecture, checkpoint } of opened) {
    const rows = { positions: positionsOf(architecture), spare: spareRows(checkpoint), precision: cache };
    const layer = largestBuffer(architecture, rows);
    const attention = attentionEstimate(gpu, architecture, rows);
    if (layer > limit)
      return {
        fits: false,
        why: `${checkpoint.name}: the cache of one layer takes ${size(layer)}, and a buffer of this device holds ${size(limit)}`,
        hint: cache === 'q8' ? 'Ask for fewer tokens.' : 'Choose a q8 cache, or ask for fewer tokens.',
      };
    if (attention > limit)
      return {
        fits: false,
        why: `${checkpoint.name}: attention takes ${size(attention)} of scratch, and a buffer of this device holds ${size(limit)}`,
        hint: 'Ask for fewer tokens.',
      };
  }
  return null;
};

const holdMemory = (
  parts: readonly PreflightPart[],
  opened: readonly Opened[],
  memory: number,
  request: Request,
): Verdict | null => {
  const device = onDevice(parts);
  if (device <= memory) return null;
  const others = parts.filter(({ role }) => opened.every((one) => one.role !== role));
  const lighter = (['q8', 'q4'] as const).find(
    (as) => onDevice([...others, ...opened.map((one) => weigh(one, request, as))]) <= memory,
  );
  return {
    fits: false,
    why: `${size(device)} on the device are more than the ${size(memory)} of memory that this computer has`,
    hint: lighter ? `With weights of ${lighter.slice(1)} bits it fits.` : 'Choose a smaller model.',
  };
};

/** As in a load: drafters are read with its sizes. */
const targetFirst = (sources: ModelSources): readonly (readonly [ModelRole, ModelSources['target']])[] => {
  const all = Object.entries(sources) as [ModelRole, ModelSources['target']][];
  return all.toSorted(([a], [b]) => Number(b === 'target') - Number(a === 'target'));
};

/** A digest is checked over a whole file, and headers are all that is read here. */
const unchecked = <From extends object>(from: From): From => ('digests' in from ? { ...from, digests: {} } : from);

export const preflight = async (
  sources: ModelSources,
  options: PreflightOptions,
  { gpu, registry }: Surroundings,
): Promise<Preflight> => {
  const { signal, memory = deviceMemory() } = options;
  if (memory !== null) inRange('memory', memory, 0, Number.POSITIVE_INFINITY);
  const request = requestOf(gpu, options);
  const parts: PreflightPart[] = [];
  const opened: Opened[] = [];
  const add = (one: Opened): void => {
    opened.push(one);
    parts.push(weigh(one, request, precisionOf(one.role, options)));
  };
  for (const [role, given] of targetFirst(sources)) {
    checkAborted(signal);
    if (!given || isFar(given)) continue;
    const [target] = opened;
    if (role === 'mtp' && given === sources.target && target) {
      const { checkpoint } = target; // built in: its headers have been read, and its bytes are counted
      add({ role, checkpoint, download: 0, architecture: readAs(role, checkpoint, opened) });
      continue;
    }
    const from = unchecked(registry.resolve(given));
    if ('model' in from) {
      parts.push({ ...nothing(role, from.name), weights: from.model.bytes });
      continue;
    }
    const how = { signal, ...(from.kind === 'url' && { store: await registry.openStore() }) };
    await loading(from, how, async () => {
      using files = probed(fileSet(from, how));
      using network = await hostNetwork(role, files, signal);
      if (network) {
        parts.push({ ...nothing(role, files.name), download: network.size });
        return;
      }
      using checkpoint = await openCheckpoint({ kind: 'folder', files }, { signal });
      add({ role, checkpoint, download: checkpoint.bytes, architecture: readAs(role, checkpoint, opened) });
    });
  }
  const { maxBufferSize, maxStorageBufferBindingSize } = gpu.device.limits;
  const buffer = Math.min(maxBufferSize, maxStorageBufferBindingSize);
  const fault =
    holdBuffers(opened, buffer, request) ?? (memory === null ? null : holdMemory(parts, opened, memory, request));
  return {
    parts,
    download: parts.reduce((sum, { download }) => sum + download, 0),
    device: onDevice(parts),
    tokens: Math.max(0, ...opened.map(({ architecture }) => request.positionsOf(architecture))),
    limits: { buffer, memory },
    ...(fault ?? { fits: true, why: '', hint: '' }),
  };
};
