// A kernel as a typed contract: which buffers it binds in which order, which constants it takes, how large its grid is.
// A missing or misspelt binding or uniform is a type error, and a test holds each contract against its shader.
import type { Plan } from './plan.ts';

/** `constant` binds as a uniform buffer: the whole subgroup reads one address, which software adapters broadcast. */
export type Access = 'read' | 'write' | 'update' | 'constant';
/** Every uniform field is one 32-bit word, in the order of the shader's struct. */
export type Word = 'u32' | 'i32' | 'f32';
export type Values<Fields extends Readonly<Record<string, Word>>> = { readonly [Name in keyof Fields]: number };
export type Grid = readonly [x: number, y?: number, z?: number];

/** A range of a device buffer. `shape` is row-major; the last entry of an activation is its stride. */
export interface Tensor {
  readonly buffer: GPUBuffer;
  /** In bytes; a multiple of 256 where the tensor is bound apart from its buffer's start. */
  readonly offset: number;
  readonly bytes: number;
  readonly shape: readonly number[];
}

/** What varies from pass to pass and sets a grid. */
export interface Live {
  /** Cache slots that any row may see. */
  readonly keys: number;
  /** Some row's keys pass from chunk to chunk elsewhere than its slots do: `cut` in kernels/cache/rows.ts. Default: none. */
  readonly branched?: boolean;
}

/** What a pipeline is built and cached from. */
export interface PipelineSource {
  readonly name: string;
  readonly wgsl: string;
  readonly access: readonly Access[];
  /** Words in the uniform struct, which is bound last; 0 = the shader has none. */
  readonly words: number;
  readonly constants: Readonly<Record<string, number>>;
}

export interface KernelSource<
  Bindings extends Readonly<Record<string, Access>>,
  Uniforms extends Readonly<Record<string, Word>>,
  Tuning extends Readonly<Record<string, number>>,
> {
  readonly name: string;
  /** A .wgsl file's text (`?raw`), or a generator's: bindings 0… in order, then the uniforms, all in group 0. */
  readonly wgsl: string;
  readonly bindings: Bindings;
  readonly uniforms: Uniforms;
  /** WGSL `override` constants and their defaults. */
  readonly tuning: Tuning;
  /** Workgroups; at most 65 535 a dimension. Called at each replay, because `live` changes. */
  readonly grid: (uniforms: Values<Uniforms>, tuning: Tuning, live: Live) => Grid;
}

export const defineKernel = <
  const Bindings extends Readonly<Record<string, Access>>,
  const Uniforms extends Readonly<Record<string, Word>>,
  const Tuning extends Readonly<Record<string, number>>,
>(
  source: KernelSource<Bindings, Uniforms, Tuning>,
) => {
  const order = Object.keys(source.bindings) as (keyof Bindings & string)[];
  const access = Object.values(source.bindings);
  const fields = Object.entries(source.uniforms);
  const record = (
    plan: Plan,
    tensors: { readonly [Name in keyof Bindings]: Tensor },
    uniforms: Values<Uniforms>,
    tuning: { readonly [Name in keyof Tuning]: number } = source.tuning,
  ): void => {
    const words = new Uint32Array(fields.length);
    const floats = new Float32Array(words.buffer);
    fields.forEach(([name, kind], i) => {
      if (kind === 'f32') floats[i] = uniforms[name as keyof Uniforms];
      else words[i] = uniforms[name as keyof Uniforms];
    });
    const pipeline = { name: source.name, wgsl: source.wgsl, access, words: fields.length, constants: tuning };
    plan.dispatch(
      pipeline,
      order.map((name) => tensors[name]),
      words,
      (live) => source.grid(uniforms, tuning as Tuning, live),
    );
  };
  return Object.assign(record, { source });
};
