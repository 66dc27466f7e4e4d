// Finds stop strings in a stream of text. Text that may be the beginning of a stop string is held back until that is
// certain, so a part of one is never shown. A match may span any number of deltas.
import { partialMark } from './partial-mark.ts';

export interface StopMatcher {
  /** Text that can be shown. After `stopped` it is always empty. */
  push(delta: string): string;
  /** The held-back text, when the stream has ended without a match. */
  end(): string;
  /** The stop string that ended the text, or null. */
  readonly stopped: string | null;
}

/** None of the stop strings is empty: requests with an empty one are refused. */
export const stopMatcher = (stops: readonly string[]): StopMatcher => {
  let held = '';
  let stopped: string | null = null;
  return {
    get stopped() {
      return stopped;
    },
    push(delta) {
      if (stopped !== null) return '';
      const text = held + delta;
      let at = text.length;
      for (const stop of stops) {
        const found = text.indexOf(stop);
        if (found >= 0 && found < at) {
          at = found;
          stopped = stop;
        }
      }
      if (stopped !== null) {
        held = '';
        return text.slice(0, at);
      }
      const hold = partialMark(text, stops);
      held = text.slice(text.length - hold);
      return text.slice(0, text.length - hold);
    },
    end() {
      const text = held;
      held = '';
      return text;
    },
  };
};
