// Which server, which of its models, and the key to it: plain data, so that it can be handed to an engine in a worker.
// The key is in no event, error or log; the pages that make one of these keep it in memory only.

export interface Server {
  /** With or without `/v1` at its end. */
  readonly address: string;
  /** The server's name for it. */
  readonly model: string;
  readonly key?: string | undefined;
}

/** Asked for `/v1/completions`. */
export interface RemoteSource extends Server {
  readonly kind: 'remote';
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

/** What a reward model or a router is shown: the problem, a newline, and the steps, each with its end. */
interface Shown {
  /** Follows each step. Default: a newline; `<extra_0>` of Qwen2.5-Math-PRM, ` ки\n` of math-shepherd. */
  readonly stepEnd?: string | undefined;
}

/**
 * vLLM's `/pooling`: a model with a head. Of a list of rows the last one counts; a row of classes is ordered, worst
 * first.
 */
interface ByPooling extends Shown {
  readonly by: 'pooling';
  /** What the rows hold. Default: probabilities, as vLLM gives them unless it is told otherwise. */
  readonly values?: 'probabilities' | 'logits' | undefined;
}

/** `/v1/completions`: any language model, by which of two words it would write next. */
interface ByWords extends Shown {
  readonly by: 'words';
  /** The word that speaks against the step, and the one for it. Default: `-` and `+`. */
  readonly words?: readonly [against: string, inFavour: string] | undefined;
  /** Follows the last step. Default: nothing. */
  readonly question?: string | undefined;
}

/** How a server's judge scores a step. */
export type JudgedBy = ByPooling | ByWords;
/** A judge on another machine. */
export type RemoteJudge = Server &
  JudgedBy & {
    readonly kind: 'remote-judge';
    /**
     * When it cannot be had: end the run with an error (default), or have the target write every step from there on.
     */
    readonly fallBack?: 'target' | 'fail' | undefined;
  };

/** A reward model (as `prm`) or a router (as `router`) behind a server: every step of the draft's is asked about. */
export const remoteJudge = (
  address: string,
  model: string,
  how: JudgedBy = { by: 'pooling' },
  key?: string,
  { fallBack = 'fail' }: Pick<RemoteJudge, 'fallBack'> = {},
): RemoteJudge => ({ kind: 'remote-judge', address, model, fallBack, ...how, ...(key !== undefined && { key }) });
