// A kernel is a typed contract: the buffers it binds, in order, its uniforms, its constants and its grid. A missing or
// misspelt binding or uniform is a type error, and src/kernels/shaders.test.ts holds each contract against its shader.
import type { Access, Grid, Live, Recorder, Tensor, Values, Word } from './types.ts';

export type { Access, Grid, Live, Tensor, Word } from './types.ts';

export interface KernelSource<
  Bindings extends Readonly<Record<string, Access>>,
  Uniforms extends Readonly<Record<string, Word>>,
  Tuning extends Readonly<Record<string, number>>,
> {
  readonly name: string;
  /** The text of a .wgsl file (`?raw`) or of a generator: bindings 0… in order, then the uniforms, all in group 0. */
  readonly wgsl: string;
  readonly bindings: Bindings;
  readonly uniforms: Uniforms;
  /** WGSL `override` constants and their defaults. */
  readonly tuning: Tuning;
  /** Workgroups, at most 65 535 a dimension; asked at each replay, because `live` changes. */
  readonly grid: (uniforms: Values<Uniforms>, tuning: Tuning, live: Live) => Grid;
}

/** Makes the function that records one dispatch of a kernel in a plan. kernels/shaders.test.ts compares shader and source. */
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
    plan: Recorder,
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
