// What the page asks of a peer's worker.
import type { Prompt } from '../../../src/index.ts';
import type { TraceEvent } from '../../../src/trace/index.ts';

export interface PeerModel {
  /** A folder under `base`, or without one a name on the hub. */
  readonly name: string;
  readonly base: string | null;
  readonly dtype: string;
  readonly device: string;
}

export interface PeerLoaded {
  readonly version: string;
  /** Of its weights' files. */
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
  load(model: PeerModel, tell: (what: string) => void): Promise<PeerLoaded>;
  /** `tell` hears how many tokens there are. */
  generate(request: PeerRequest, tell: (tokens: number) => void): Promise<PeerAnswer>;
}
