// What is in a checkpoint, and what it would take on the device, from its headers alone: no weight is read, no device
// is opened, so it answers at once for a model of any size, also behind an address.
import { OutriderError } from '../../base/errors.ts';
import type { Architecture } from '../../model/architecture.ts';
import { cacheBytes } from '../../model/cache/kv-cache.ts';
import { hasMtp, isDrafter, isScored, readsDraftStates } from '../../model/families/families.ts';
import { checkedAny } from '../../model/load/checked-architecture.ts';
import { spareRows, weightBytes } from '../../model/load/estimate.ts';
import type { Checkpoint, TensorInfo } from '../../weights/checkpoint.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { defineCommand } from '../command.ts';
import { openModel } from '../model-source.ts';
import { formatBytes, table } from '../table.ts';

const PRECISIONS: readonly (Precision | undefined)[] = [undefined, 'f32', 'f16', 'q8', 'q4'];
const CONTEXTS = [512, 2048, 8192, 32768, 131072];

interface Resident {
  /** `file`: each weight as the file has it. */
  readonly precision: Precision | 'file';
  readonly weights: number;
}

interface CacheSize {
  readonly context: number;
  readonly f32: number;
  readonly f16: number;
}

export interface Inspection {
  readonly name: string;
  readonly format: Checkpoint['format'];
  readonly architecture: string | null;
  readonly family: string | null;
  /** It drafts for a target, and runs only with it. */
  readonly drafter: boolean;
  /** It scores steps: a reward model or a router. */
  readonly judge: boolean;
  /** A language model that also holds a layer which drafts for it. */
  readonly mtp: boolean;
  /** Why the engine would refuse it, or null. */
  readonly unsupported: string | null;
  readonly parameters: number;
  readonly bytes: number;
  readonly sizes: Architecture['sizes'] | null;
  readonly head: Architecture['head'] | null;
  readonly tokenizer: boolean;
  /** Weights' types as stored. */
  readonly types: Readonly<Record<string, { tensors: number; bytes: number }>>;
  /** Tensors of parts that the engine does not run, such as a vision tower. */
  readonly notLoaded: { readonly tensors: number; readonly bytes: number };
  readonly resident: readonly Resident[];
  readonly cache: readonly CacheSize[];
  readonly tensors: readonly TensorInfo[];
}

const elements = ({ shape }: TensorInfo): number => shape.reduce((product, size) => product * size, 1);

const countTypes = (tensors: Iterable<TensorInfo>): Inspection['types'] => {
  const types: Record<string, { tensors: number; bytes: number }> = {};
  for (const { type, bytes } of tensors) {
    const { tensors: count, bytes: sum } = types[type] ?? { tensors: 0, bytes: 0 };
    types[type] = { tensors: count + 1, bytes: sum + bytes };
  }
  return types;
};

/** The architecture, or why there is none. */
const read = (checkpoint: Checkpoint): Architecture | OutriderError => {
  try {
    return checkedAny(checkpoint);
  } catch (error) {
    if (error instanceof OutriderError) return error;
    throw error;
  }
};

export const describeCheckpoint = (checkpoint: Checkpoint, tokenizer: boolean): Inspection => {
  const { config, tensors } = checkpoint;
  const known = read(checkpoint);
  const architecture = known instanceof OutriderError ? null : known;
  const context = architecture?.sizes.context ?? 0;
  const others = [...tensors.values()].filter(({ name }) =>
    architecture?.otherParts?.some((part) => name.startsWith(part)),
  );
  const spare = spareRows(checkpoint);
  const contexts = [...CONTEXTS.filter((length) => length < context), context];
  return {
    name: checkpoint.name,
    format: checkpoint.format,
    architecture: Array.isArray(config.architectures) ? String(config.architectures[0]) : null,
    family: architecture?.family ?? null,
    drafter: isDrafter(config),
    judge: isScored(tensors) || readsDraftStates(config),
    mtp: architecture !== null && hasMtp(checkpoint),
    unsupported: known instanceof OutriderError ? known.message : null,
    parameters: [...tensors.values()].reduce((sum, tensor) => sum + elements(tensor), 0),
    bytes: checkpoint.bytes,
    sizes: architecture?.sizes ?? null,
    head: isScored(tensors) ? null : (architecture?.head ?? null),
    tokenizer,
    types: countTypes(tensors.values()),
    notLoaded: { tensors: others.length, bytes: others.reduce((sum, { bytes }) => sum + bytes, 0) },
    resident: architecture
      ? PRECISIONS.map((precision) => ({
          precision: precision ?? 'file',
          weights: weightBytes(architecture, checkpoint, precision),
        }))
      : [],
    cache: architecture
      ? contexts.map((positions) => ({
          context: positions,
          f32: cacheBytes(architecture, { positions, precision: 'f32', spare }),
          f16: cacheBytes(architecture, { positions, precision: 'f16', spare }),
          q8: cacheBytes(architecture, { positions, precision: 'q8', spare }),
        }))
      : [],
    tensors: [...tensors.values()],
  };
};

const HEADS: Readonly<Record<Architecture['head'], string>> = {
  own: 'own',
  tied: 'tied to the embedding',
  target: "its target's",
};

const page = (it: Inspection): string => {
  const types = Object.entries(it.types).map(
    ([type, { tensors, bytes }]) => `${type} ${formatBytes(bytes)} (${tensors})`,
  );
  const sizes = Object.entries(it.sizes ?? {}).map(([name, size]) => `${name} ${size}`);
  const facts = [
    ['name', `${it.name} (${it.format}, ${formatBytes(it.bytes)})`],
    ['family', it.family ? `${it.family} (${it.architecture})` : `not supported: ${it.unsupported}`],
    ['parameters', it.parameters.toLocaleString('en')],
    ['sizes', sizes.join(', ') || 'unknown'],
    ['head', it.judge ? "a judge's" : it.head === null ? 'unknown' : HEADS[it.head]],
    ['tokenizer', it.tokenizer ? 'yes' : it.drafter ? "its target's" : 'none: it serves token ids only'],
    ['tensors', types.join(', ')],
    ...(it.notLoaded.tensors > 0
      ? [['not loaded', `${it.notLoaded.tensors} tensors of other parts, ${formatBytes(it.notLoaded.bytes)}`]]
      : []),
    ...(it.mtp ? [['drafter', 'built in: --system mtp']] : []),
  ];
  const resident = table(
    ['context', 'KV cache', ...it.resident.map(({ precision }) => precision)],
    it.cache.flatMap(({ context, ...sizes }) =>
      Object.entries(sizes).map(([precision, cache]) => [
        String(context),
        `${precision} ${formatBytes(cache)}`,
        ...it.resident.map(({ weights }) => formatBytes(weights + cache)),
      ]),
    ),
  );
  return [
    table(null, facts),
    it.family && `On the device, weights and KV cache, by the precision of the weights:\n${resident}`,
    table(
      ['tensor', 'type', 'shape', 'bytes'],
      it.tensors.map(({ name, type, shape, bytes }) => [name, type, `[${shape.join(', ')}]`, String(bytes)]),
    ),
  ]
    .filter((part) => part)
    .join('\n\n');
};

export const inspect = defineCommand({
  name: 'inspect',
  summary: 'what a model is and what it would take on the device, from its headers alone',
  usage: 'PATH',
  about: 'PATH is a folder, a .gguf file, an address, owner/model, an id of models --catalogue, or a bundled model.',
  positionals: ['PATH'],
  options: {},
  async run({ values, positionals }, terminal) {
    using checkpoint = await openModel(positionals[0], terminal);
    const inspection = describeCheckpoint(checkpoint, (await checkpoint.tokenizer(terminal.signal)) !== null);
    if (values.json) await terminal.json(inspection);
    else await terminal.write(`${page(inspection)}\n`);
    checkedAny(checkpoint); // Throws for an unsupported model: its message and hint go to stderr, and the status is 1.
  },
});
