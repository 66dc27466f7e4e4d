// Other networks than language models, as ONNX files (block-size policies, judges, sentence embeddings), run by
// onnxruntime-web: in WebAssembly, in a worker, on a page and in Node alike; on request those that read texts run on
// WebGPU. Each runtime is loaded with the first network that needs it.
import type * as Runtime from 'onnxruntime-web/wasm';
import { OutriderError } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import type { OnnxProvider } from '../engine/load/loaded-models.ts';

/** WebGPU's is the build for JSPI: the one for browsers without it has 27 MB of WebAssembly, not 17. */
const IMPORTS: Readonly<Record<OnnxProvider, () => Promise<typeof Runtime>>> = {
  wasm: () => import('onnxruntime-web/wasm'),
  webgpu: () => import('onnxruntime-web/jspi'),
};

const runtimes = new Map<OnnxProvider, Promise<typeof Runtime>>();

const loadRuntime = (on: OnnxProvider): Promise<typeof Runtime> => {
  const known = runtimes.get(on);
  if (known) return known;
  const runtime = IMPORTS[on]().then((loaded) => {
    loaded.env.wasm.numThreads = 1; // threads need cross-origin isolation, and networks this small gain nothing
    loaded.env.logLevel = 'error';
    return loaded;
  });
  runtimes.set(on, runtime);
  runtime.catch(() => runtimes.delete(on)); // a download that failed may be tried again
  return runtime;
};

const openSession = async (name: string, bytes: Uint8Array, on: OnnxProvider): Promise<Runtime.InferenceSession> => {
  const { InferenceSession } = await loadRuntime(on);
  const errorsOnly = 3;
  const options = { executionProviders: [on], logSeverityLevel: errorsOnly } as const;
  return InferenceSession.create(bytes, options).catch((cause: unknown) => {
    throw bad(`${name}: not a network that onnxruntime can run: ${(cause as Error).message}`);
  });
};

/** Frees the session where what is done with it fails. */
const orRelease = async <T>(session: Runtime.InferenceSession, use: () => Promise<T>): Promise<T> => {
  try {
    return await use();
  } catch (error) {
    await session.release();
    throw error;
  }
};

export interface OnnxNetwork extends Disposable {
  /** One row of f32 in, one row of f32 out. */
  run(features: Float32Array): Promise<Float32Array>;
}

/** What the file must declare: one input `[1, width]` and one output `[1, width]`, by name. */
export interface OnnxShape {
  readonly input: { readonly name: string; readonly width: number };
  readonly output: { readonly name: string; readonly width: number };
}

/** `name` is the file's, for messages. Throws `bad-checkpoint` where it is no ONNX file or declares something else. */
export const openOnnx = async (name: string, bytes: Uint8Array, { input, output }: OnnxShape): Promise<OnnxNetwork> => {
  const { Tensor } = await loadRuntime('wasm');
  const session = await openSession(name, bytes, 'wasm');
  const run = async (features: Float32Array): Promise<Float32Array> => {
    const results = await session.run({ [input.name]: new Tensor('float32', features, [1, features.length]) });
    return results[output.name]?.data as Float32Array;
  };
  return orRelease(session, async () => {
    if (!session.inputNames.includes(input.name) || session.inputNames.length > 1)
      throw bad(`${name}: its inputs are ${session.inputNames.join(', ')}; expected ${input.name} alone`);
    if (!session.outputNames.includes(output.name))
      throw bad(`${name}: its outputs are ${session.outputNames.join(', ')}; expected ${output.name}`);
    const probe = await run(new Float32Array(input.width)).catch((cause: unknown) => {
      throw bad(`${name}: it does not take ${input.width} features: ${(cause as Error).message}`);
    });
    if (probe.length !== output.width) throw bad(`${name}: it gives ${probe.length} values; expected ${output.width}`);
    return { run, [Symbol.dispose]: () => void session.release() };
  });
};

/** Rows of f32 for a text. */
export interface Encoded {
  readonly rows: number;
  readonly width: number;
  readonly data: Float32Array;
}

export interface OnnxEncoder extends Disposable {
  /** Its first output, for one text: a row for every token, or a single one. */
  run(tokens: readonly number[]): Promise<Encoded>;
  /** For people: why it does not run where it was to. */
  readonly notice?: string;
}

/** What a text may be given as, int64 `[1, length]`; `input_ids` is needed, the others where the file asks for them. */
const TEXT_INPUTS: Readonly<Record<string, (token: number, i: number) => number>> = {
  input_ids: (token) => token,
  attention_mask: () => 1,
  token_type_ids: () => 0,
  position_ids: (_, i) => i,
};

const openText = async (name: string, bytes: Uint8Array, on: OnnxProvider): Promise<OnnxEncoder> => {
  const { Tensor } = await loadRuntime(on);
  const session = await openSession(name, bytes, on);
  const raw = async (tokens: readonly number[]): Promise<{ dims: readonly number[]; data: Float32Array }> => {
    const feeds = Object.fromEntries(
      session.inputNames.map((input) => {
        const fill = TEXT_INPUTS[input] as (typeof TEXT_INPUTS)[string];
        const values = BigInt64Array.from(tokens, (token, i) => BigInt(fill(token, i)));
        return [input, new Tensor('int64', values, [1, tokens.length])];
      }),
    );
    const { type, dims, data } = (await session.run(feeds))[session.outputNames[0] as string] as Runtime.Tensor;
    if (!(data instanceof Float32Array)) throw bad(`${name}: its first output is of type ${type}; expected float32`);
    if (dims[0] !== 1 || dims.length < 2 || dims.length > 3)
      throw bad(
        `${name}: its first output has the shape [${dims.join(', ')}]; expected [1, length, width] or [1, width]`,
      );
    return { dims, data };
  };
  return orRelease(session, async () => {
    const inputs = session.inputNames;
    const known = Object.keys(TEXT_INPUTS);
    if (!inputs.includes('input_ids') || inputs.some((input) => !known.includes(input)))
      throw bad(
        `${name}: its inputs are ${inputs.join(', ')}; expected input_ids, and of ${known.slice(1).join(', ')}`,
      );
    const probe = async (length: number): Promise<readonly number[]> =>
      (await raw(Array<number>(length).fill(0))).dims.slice(1);
    const [short, long] = await probe(5)
      .then(async (dims) => [dims, await probe(7)] as const)
      .catch((cause: unknown) => {
        if (cause instanceof OutriderError) throw cause;
        throw bad(`${name}: it does not take int64 ids [1, length]: ${(cause as Error).message}`);
      });
    // Rows of tokens grow with the text; what does not is one row of the whole text.
    const byToken = short.length === 2 || short[0] !== long[0];
    if (byToken && (short[0] !== 5 || long[0] !== 7))
      throw bad(`${name}: it gives ${short[0]} rows for 5 tokens and ${long[0]} for 7`);
    return {
      async run(tokens) {
        const { data } = await raw(tokens);
        const rows = byToken ? tokens.length : 1;
        return { rows, width: data.length / rows, data };
      },
      [Symbol.dispose]: () => void session.release(),
    };
  });
};

/**
 * A network that reads token ids. What cannot run on WebGPU (no adapter, no JSPI, a file of WebAssembly that is not
 * there) runs in WebAssembly, with a notice; what cannot run there either is refused as ever.
 */
export const openTextOnnx = async (
  name: string,
  bytes: Uint8Array,
  on: OnnxProvider = 'wasm',
): Promise<OnnxEncoder> => {
  if (on === 'wasm') return openText(name, bytes, on);
  try {
    return await openText(name, bytes, on);
  } catch (cause) {
    const network = await openText(name, bytes, 'wasm');
    return { ...network, notice: `${name} runs in WebAssembly, not on WebGPU (${(cause as Error).message}).` };
  }
};
