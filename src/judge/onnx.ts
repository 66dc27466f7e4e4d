// Small networks beside the language models (block-size policies, routers) as ONNX files, run by onnxruntime-web in
// WebAssembly: in a worker, on a page and in Node alike. The runtime is loaded with the first network that needs it.
import type * as Runtime from 'onnxruntime-web/wasm';
import { OutriderError } from '../errors.ts';

export interface OnnxNetwork extends Disposable {
  /** One row of f32 in, one row of f32 out. */
  run(features: Float32Array): Promise<Float32Array>;
}

/** What the file must declare: one input `[1, width]` and one output `[1, width]`, by name. */
export interface OnnxShape {
  readonly input: { readonly name: string; readonly width: number };
  readonly output: { readonly name: string; readonly width: number };
}

let runtime: Promise<typeof Runtime> | null = null;

const loadRuntime = (): Promise<typeof Runtime> => {
  runtime ??= import('onnxruntime-web/wasm').then((loaded) => {
    loaded.env.wasm.numThreads = 1; // threads need cross-origin isolation, and networks this small gain nothing
    loaded.env.logLevel = 'error';
    return loaded;
  });
  runtime.catch(() => {
    runtime = null; // a download that failed may be tried again
  });
  return runtime;
};

const bad = (name: string, message: string): OutriderError =>
  new OutriderError('bad-checkpoint', `${name}: ${message}`);

/** `name` is the file's, for messages. Throws `bad-checkpoint` where it is no ONNX file or declares something else. */
export const openOnnx = async (name: string, bytes: Uint8Array, { input, output }: OnnxShape): Promise<OnnxNetwork> => {
  const { InferenceSession, Tensor } = await loadRuntime();
  const session = await InferenceSession.create(bytes).catch((cause: unknown) => {
    throw bad(name, `not a network that onnxruntime can run: ${(cause as Error).message}`);
  });
  const run = async (features: Float32Array): Promise<Float32Array> => {
    const results = await session.run({ [input.name]: new Tensor('float32', features, [1, features.length]) });
    return results[output.name]?.data as Float32Array;
  };
  try {
    if (!session.inputNames.includes(input.name) || session.inputNames.length > 1)
      throw bad(name, `its inputs are ${session.inputNames.join(', ')}; expected ${input.name} alone`);
    if (!session.outputNames.includes(output.name))
      throw bad(name, `its outputs are ${session.outputNames.join(', ')}; expected ${output.name}`);
    const probe = await run(new Float32Array(input.width)).catch((cause: unknown) => {
      throw bad(name, `it does not take ${input.width} features: ${(cause as Error).message}`);
    });
    if (probe.length !== output.width) throw bad(name, `it gives ${probe.length} values; expected ${output.width}`);
  } catch (error) {
    await session.release();
    throw error;
  }
  return { run, [Symbol.dispose]: () => void session.release() };
};
