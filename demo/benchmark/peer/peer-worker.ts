// transformers.js on onnxruntime-web, in a worker of its own, used as its guide says: model.generate with a streamer.
// It emits the same trace events as the engine, so that all figures are computed in the same way.
//
// Package and runtime are files of this build, loaded when a peer first runs. The rest of the page does not use them.
import '../queue/counters.ts';
import runtimeUrl from 'peer-runtime.wasm?url';
import { expose } from 'comlink';
import packageUrl from '../../../node_modules/@huggingface/transformers/dist/transformers.min.js?url';
import { type Counts, countsNow } from '../queue/counters.ts';
import { since } from '../queue/read-counters.ts';
import type { PeerAnswer, PeerLoaded, PeerModel, PeerRequest, PeerService } from './peer-service.ts';

type Transformers = typeof import('@huggingface/transformers');
type Event = PeerAnswer['events'][number];

let library: Transformers;
let tokenizer: Awaited<ReturnType<Transformers['AutoTokenizer']['from_pretrained']>>;
let model: Awaited<ReturnType<Transformers['AutoModelForCausalLM']['from_pretrained']>>;

const load = async (
  { name, base, dtype, device }: PeerModel,
  onProgress: (what: string, count?: string) => void,
): Promise<PeerLoaded> => {
  onProgress('transformers.js and its runtime');
  library = await import(/* @vite-ignore */ new URL(packageUrl, import.meta.url).href);
  const { AutoModelForCausalLM, AutoTokenizer, env } = library;
  // Bundled files by address; other models from the hub, by the name that the user entered.
  Object.assign(env, {
    allowLocalModels: base !== null,
    allowRemoteModels: base === null,
    localModelPath: base ?? '',
    useBrowserCache: base === null && 'caches' in self, // missing on a page without TLS
  });
  const { wasm } = env.backends.onnx as { wasm: { wasmPaths: object; numThreads: number } };
  wasm.wasmPaths = { wasm: new URL(runtimeUrl, import.meta.url).href };
  let bytes = 0;
  const files = new Map<string, number>();
  const progress_callback = (step: { status: string; file?: string; loaded?: number; total?: number }): void => {
    if (step.status !== 'progress' || !step.file?.includes('.onnx')) return;
    files.set(step.file, step.total ?? 0);
    bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
    onProgress(step.file, `${((step.loaded ?? 0) / 1e6).toFixed(0)} of ${((step.total ?? 0) / 1e6).toFixed(0)} MB`);
  };
  tokenizer = await AutoTokenizer.from_pretrained(name);
  model = await AutoModelForCausalLM.from_pretrained(name, {
    dtype: dtype as 'fp32',
    device: device as 'webgpu',
    progress_callback: progress_callback as never,
  });
  onProgress('ready');
  return { version: env.version ?? '', bytes };
};

/** Token ids of a prompt: the engine's own, if the model has a chat template. */
const idsOf = (prompt: PeerRequest['prompt']): number[] => {
  if ('tokens' in prompt) return [...prompt.tokens];
  const text =
    'text' in prompt
      ? prompt.text
      : tokenizer.chat_template
        ? (tokenizer.apply_chat_template(prompt.messages as never, {
            tokenize: false,
            add_generation_prompt: true,
          }) as string)
        : prompt.messages.map(({ content }) => content).join('\n');
  return tokenizer.encode(text, { add_special_tokens: false });
};

const generate = async (request: PeerRequest, onTokens: (tokens: number) => void): Promise<PeerAnswer> => {
  const { maxTokens, ignoreEos, temperature } = request;
  const ids = idsOf(request.prompt);
  const input = new library.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
  const mask = new library.Tensor('int64', new BigInt64Array(ids.length).fill(1n), [1, ids.length]);
  const events: Event[] = [
    { at: 0, type: 'run', version: 1, system: 'transformers.js', knobs: {}, seed: 0, prompt: ids },
  ];
  const made: number[] = [];
  const start = performance.now();
  let [last, counted]: [number, Counts] = [start, countsNow()];
  const commit = (token: number): void => {
    const [now, counts, round] = [performance.now(), countsNow(), made.length];
    const [at, ms] = [now - start, now - last];
    const work = since(counted, counts);
    if (round === 0) events.push({ at, type: 'prefill', by: 'target', rows: ids.length, reused: 0, ms });
    else events.push({ at, type: 'verify', round, by: 'target', path: [0], next: token, source: 'sampled', ms });
    events.push({ at, type: 'commit', round, tokens: [token], source: ['sampled'], text: null, logprobs: null, ms });
    const { dispatches, submits, maps } = work;
    events.push({ at, type: 'kernels', round, dispatches, submits, readbacks: maps, spans: [] });
    made.push(token);
    [last, counted] = [now, counts];
    onTokens(made.length);
  };
  let prompt = true;
  const streamer = {
    put(value: bigint[][]) {
      if (!prompt) for (const token of value.flat()) commit(Number(token));
      prompt = false; // the first call carries the prompt
    },
    end() {},
  };
  await model.generate({
    inputs: input,
    attention_mask: mask,
    max_new_tokens: maxTokens,
    ...(ignoreEos && { min_new_tokens: maxTokens }),
    ...(temperature > 0 ? { do_sample: true, temperature } : { do_sample: false }),
    streamer,
  } as never);
  const finish_reason = made.length < maxTokens ? 'stop' : 'length';
  const text = tokenizer.decode(made, { skip_special_tokens: true });
  events.push({ at: performance.now() - start, type: 'done', finish_reason, stop: null, text });
  return { events };
};

expose({ load, generate } satisfies PeerService);
