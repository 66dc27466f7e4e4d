// The plain data that the files of gpu/ exchange. Imports nothing, so that none of them needs another for a type.

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
  /** Some row's chunk boundary lies past its chunk's edge (kernels/cache/rows.ts). Default: none. */
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

/** Records the dispatches of kernels: a plan. */
export interface Recorder {
  dispatch(source: PipelineSource, tensors: readonly Tensor[], uniforms: Uint32Array, grid: (live: Live) => Grid): void;
}

/** What has reached the device so far. */
export interface Counters {
  dispatches: number;
  submits: number;
  readbacks: number;
  /** Bytes that came back to the host. */
  readbackBytes: number;
}
