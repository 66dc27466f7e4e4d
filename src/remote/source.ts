// Which server, which of its models, and the key to it: plain data, so that it can be handed to an engine in a worker.
// The key is in no event, error or log; whoever makes one of these keeps it in memory only.

export interface RemoteSource {
  readonly kind: 'remote';
  /** Where `/v1/completions` is asked; the `/v1` may be said or left out. */
  readonly address: string;
  /** As the server calls it. */
  readonly model: string;
  readonly key?: string | undefined;
  /** When the server cannot be had: end the run with an error (default), or go on with what the local draft wrote. */
  readonly fallBack?: 'draft' | 'fail' | undefined;
}

/** A target behind an OpenAI-compatible completions server (vLLM, SGLang, llama.cpp), for step systems. */
export const remote = (
  address: string,
  model: string,
  key?: string,
  { fallBack = 'fail' }: Pick<RemoteSource, 'fallBack'> = {},
): RemoteSource => ({ kind: 'remote', address, model, fallBack, ...(key !== undefined && { key }) });
