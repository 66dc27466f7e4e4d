// A checkpoint with a reward head (`v_head.summary`) or a classifier (`score`) becomes a scored model. Its body is that
// of the language model which its architecture is named after; a vocabulary head in the same checkpoint is not read. One
// that reads the draft's hidden states becomes a state model.
import { checkAborted } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Matrix } from '../../kernels/matmul/matmul.ts';
import type { Checkpoint, TensorInfo } from '../../weights/checkpoint.ts';
import type { Architecture } from '../architecture.ts';
import { Arena } from '../arena.ts';
import { readScored, scoredHead } from '../families/families.ts';
import type { Network } from '../forward/interpreter.ts';
import type { RopeDivisors } from '../forward/rope-table.ts';
import { ScoredModel } from '../judges/scored-model.ts';
import { StateModel } from '../judges/state-model.ts';
import { checkedStateJudge } from './checked-architecture.ts';
import {
  checkTensors,
  divisorSinks,
  type LoadModelOptions,
  type Prepared,
  prepareWeights,
  streamWeights,
} from './checkpoint-tensors.ts';
import { reportPipelines } from './compile-progress.ts';
import type { Sink } from './device-weights.ts';
import type { PlannedMatrix, PlannedWeight } from './weight-layout.ts';

type Json = Readonly<Record<string, unknown>>;

/** Labels of a classifier with so many rows, as the config names them. */
const labelsOf = ({ id2label, num_labels: count }: Json, rows: number): readonly string[] => {
  if (typeof id2label === 'object' && id2label !== null) return Object.values(id2label).map(String);
  if ((count ?? rows) !== rows) throw bad(`num_labels is ${shown(count)}, and score.weight has ${rows} rows`);
  return Array.from({ length: rows }, (_, i) => `LABEL_${i}`);
};

interface Head {
  readonly kind: 'value' | 'classes';
  readonly labels: readonly string[];
  readonly weight: string;
  readonly bias: string;
}

const readHead = ({ name, config, tensors }: Checkpoint, { sizes: { hidden } }: Architecture): Head => {
  const at = scoredHead(tensors);
  if (at === null)
    throw bad(
      `${name}: neither v_head.summary.weight nor score.weight is there`,
      'A judge has a reward head or a token classifier; this looks like a language model.',
    );
  const kind = at === 'score' ? 'classes' : 'value';
  const [weight, bias] = [`${at}.weight`, `${at}.bias`];
  const found = tensors.get(weight) as TensorInfo;
  const labels = kind === 'value' ? ['value'] : labelsOf(config, found.shape[0] as number);
  const check = (tensor: string, shape: readonly number[]): void => {
    const has = tensors.get(tensor)?.shape;
    if (has && (has.length !== shape.length || has.some((size, i) => size !== shape[i])))
      throw bad(`${tensor}: expected [${shape.join(', ')}], found [${has.join(', ')}]`);
  };
  check(weight, [labels.length, hidden]);
  check(bias, [labels.length]);
  return { kind, labels, weight, bias };
};

export interface LoadedScored {
  readonly model: ScoredModel;
  readonly kind: Head['kind'];
  /** One a class; a value has one. */
  readonly labels: readonly string[];
}

/** What is made for a judge: it compiles by itself, and its weights stream in meanwhile. */
interface Made extends Disposable {
  ropeDivisors: RopeDivisors;
  ready(): Promise<void>;
}

interface Making<M extends Made> {
  readonly architecture: Architecture;
  /** Weights that the architecture does not declare. */
  readonly others?: readonly PlannedWeight[];
  /** Owns the arena from then on. */
  readonly make: (parts: Omit<Network, 'scratch' | 'reduced'> & { readonly arena: Arena }, prepared: Prepared) => M;
  readonly sinks?: (model: M) => readonly (readonly [string, Sink])[];
}

/** If any of it fails or is aborted, everything is freed. */
const build = async <M extends Made>(
  gpu: Gpu,
  checkpoint: Checkpoint,
  { architecture, others = [], make, sinks: more }: Making<M>,
  options: LoadModelOptions,
): Promise<M> => {
  const { signal, precision, onProgress } = options;
  const arena = new Arena(gpu);
  let model: M | null = null;
  let compiling: Promise<void> | null = null;
  try {
    const prepared = await prepareWeights(gpu, arena, checkpoint, architecture, { precision, others });
    checkAborted(signal);
    const { what, weights, tuning } = prepared;
    const made = await gpu.allocating(what, () => make({ gpu, architecture, weights, tuning, arena }, prepared));
    model = made;
    compiling = reportPipelines(gpu, onProgress, () => made.ready());
    const sinks = new Map([...prepared.sinks, ...divisorSinks(made), ...(more?.(made) ?? [])]);
    await Promise.all([compiling, streamWeights(gpu, checkpoint, sinks, options)]);
    checkAborted(signal);
    if (gpu.failure) throw gpu.failure;
    return made;
  } catch (error) {
    await compiling?.catch(() => {}); // or it would allocate after this load has failed
    if (model) model[Symbol.dispose]();
    else arena.free();
    throw error;
  }
};

export interface LoadedScored {
  readonly model: ScoredModel;
  readonly kind: Head['kind'];
  /** One a class; a value has one. */
  readonly labels: readonly string[];
}

export const loadScored = async (
  gpu: Gpu,
  checkpoint: Checkpoint,
  options: LoadModelOptions = {},
): Promise<LoadedScored> => {
  const architecture = readScored(checkpoint.config, checkpoint.tensors);
  const head = readHead(checkpoint, architecture);
  checkTensors(architecture, checkpoint.tensors, [head.weight, head.bias]);
  // The head stays f32 at every precision: it has few rows, and every score depends on them.
  const scoring: PlannedMatrix = {
    kind: 'matrix',
    key: 'scores',
    format: 'f32',
    rows: head.labels.length,
    columns: architecture.sizes.hidden,
    pieces: [{ checkpoint: head.weight, from: 0, rows: head.labels.length, first: 0, step: 1 }],
  };
  const making: Making<ScoredModel> = {
    architecture,
    others: [scoring],
    make: (parts, { matrices }) => new ScoredModel({ ...parts, head: matrices.get(scoring.key) as Matrix }),
    sinks: (model) => {
      if (!checkpoint.tensors.has(head.bias)) return [];
      const bias: Sink = (block) => {
        model.bias = block.decode();
      };
      return [[head.bias, bias]];
    },
  };
  return { model: await build(gpu, checkpoint, making, options), kind: head.kind, labels: head.labels };
};

/** Layers that read the hidden states of a draft: a judge without a text of its own. */
export const loadStateModel = (
  gpu: Gpu,
  checkpoint: Checkpoint,
  options: LoadModelOptions = {},
): Promise<StateModel> => {
  const architecture = checkedStateJudge(checkpoint);
  return build(gpu, checkpoint, { architecture, make: (parts) => new StateModel(parts) }, options);
};
