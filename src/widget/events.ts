// The events of the element. Their names have a prefix, because a bubbling `error` or `progress` would be taken for the
// browser's own.

import type { Fault } from '../base/errors.ts';
import type { Loaded } from '../engine/engine.ts';
import type { LoadProgress } from '../engine/sources.ts';
import type { EventOf, Metrics, Source, TraceEvent } from '../trace/index.ts';

/** A token of the answer, and how it came about. */
export interface ChatToken {
  readonly token: number;
  /** What it added to the answer; '' while it is held back. */
  readonly text: string;
  readonly source: Source;
}

/** A finished answer, and what it took. */
export interface ChatAnswer {
  readonly prompt: string;
  readonly text: string;
  readonly finishReason: EventOf<'done'>['finish_reason'];
  readonly metrics: Metrics;
  /** Everything that happened; as JSON lines it is a file that `trace` replays. */
  readonly events: readonly TraceEvent[];
}

/** All of them bubble and cross shadow roots. */
export interface OutriderChatEventMap {
  /** A message is about to be sent, or a trace replayed; `preventDefault()` stops it. */
  'outrider-start': CustomEvent<{ readonly prompt: string; readonly replay: boolean }>;
  'outrider-progress': CustomEvent<LoadProgress>;
  /** Models were loaded. */
  'outrider-ready': CustomEvent<Loaded>;
  /** The conversation exceeds the context: the model no longer sees its first `forgotten` exchanges. */
  'outrider-overflow': CustomEvent<{ readonly forgotten: number }>;
  'outrider-token': CustomEvent<ChatToken>;
  /** At least one token was committed. */
  'outrider-round': CustomEvent<EventOf<'commit'>>;
  'outrider-done': CustomEvent<ChatAnswer>;
  'outrider-error': CustomEvent<Fault>;
}
