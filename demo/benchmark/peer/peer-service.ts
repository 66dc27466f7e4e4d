// The interface between the page and a peer's worker.
import type { Prompt } from '../../../src/index.ts';
import type { TraceEvent } from '../../../src/trace/index.ts';

export interface PeerModel {
  /** A folder under `base`; without a base, a name on the hub. */
  readonly name: string;
  readonly base: string | null;
  readonly dtype: string;
  readonly device: string;
}

export interface PeerLoaded {
  readonly version: string;
  /** Size of its weight files. */
  readonly bytes: number;
}

export interface PeerRequest {
  readonly prompt: Prompt;
  readonly maxTokens: number;
  readonly ignoreEos: boolean;
  readonly temperature: number;
}

export interface PeerAnswer {
  readonly events: readonly TraceEvent[];
}

export interface PeerService {
  load(model: PeerModel, onProgress: (what: string, count?: string) => void): Promise<PeerLoaded>;
  /** Calls `onTokens` with the number of tokens so far. */
  generate(request: PeerRequest, onTokens: (tokens: number) => void): Promise<PeerAnswer>;
}
