// Faster than plain decoding, or not: the same prompt, models and sampling, in the same session, one after the other.
import type { TraceEvent } from '../src/trace.ts';
import { element, say } from './elements.ts';
import { brief } from './figures.ts';
import type { Outcome, RunView } from './run-view.ts';

/** What a run can be compared with. */
export interface Rival {
  /** Requests of one key give one plain run. */
  readonly key: string;
  /** Whether a run at temperature 0, where exact systems give the very same tokens. */
  readonly greedy: boolean;
  readonly exact: boolean;
  /** The system whose tokens and law an exact one has: plain decoding, or for an ensemble the plain ensemble. */
  readonly baseline: string;
  plain(signal: AbortSignal): AsyncIterable<TraceEvent>;
}

/** What an exact system is exact to, and every system is compared with. */
export const baselineName = (baseline: string): string =>
  baseline === 'autoregressive' ? 'plain decoding' : 'the plain ensemble';

const sameness = (run: Outcome, plain: Outcome, { greedy, exact }: Rival): string => {
  const different = plain.tokens.findIndex((token, i) => token !== run.tokens[i]);
  const same = different < 0 && plain.tokens.length === run.tokens.length;
  if (same) return `✓ the same ${run.tokens.length} tokens`;
  if (!exact) return 'other tokens, as an approximate system may';
  if (!greedy) return 'other tokens, drawn from the same distribution';
  return `✗ other tokens from the ${different < 0 ? plain.tokens.length + 1 : different + 1}. on`;
};

/** “2.1× as fast as plain decoding (84 against 40 tokens/s), ✓ the same 61 tokens” */
export const compare = (run: Outcome, plain: Outcome, rival: Rival): { factor: string; sentence: string } => {
  if (run.rate === null || plain.rate === null)
    return { factor: '–', sentence: `Too short to time; ${sameness(run, plain, rival)}.` };
  const factor = `${(run.rate / plain.rate).toFixed(2)}×`;
  const rates = `${brief(run.rate)} against ${brief(plain.rate)} tokens/s`;
  const sentence = `${factor} as fast as ${baselineName(rival.baseline)} (${rates}); ${sameness(run, plain, rival)}.`;
  return { factor, sentence };
};

export class Comparison {
  readonly #button = element('compare', HTMLButtonElement);
  readonly #always = element('always-compare', HTMLInputElement);
  readonly #view: RunView;
  /** Plain runs of this session by request, so that a knob can be tried again and again against one. */
  readonly #plain = new Map<string, Outcome>();
  #latest: { readonly run: Outcome; readonly rival: Rival } | null = null;

  /** `press` is called when the visitor asks; it calls `race` back when the engine is free. */
  constructor(view: RunView, press: () => void) {
    this.#view = view;
    this.#button.addEventListener('click', press);
  }

  /** Models changed: what was measured was measured on others. */
  forget(): void {
    this.#plain.clear();
    this.clear();
  }

  clear(): void {
    this.#latest = null;
    this.#button.disabled = true;
    say('factor', '–');
    say('comparison', '');
  }

  /** A run has ended. True: it is to be compared at once. */
  offer(run: Outcome, rival: Rival): boolean {
    this.clear();
    if (!run.complete) return false;
    if (run.system === rival.baseline) {
      this.#plain.set(rival.key, run);
      return false;
    }
    this.#latest = { run, rival };
    const plain = this.#plain.get(rival.key);
    if (plain) this.#view.putBeside(plain);
    this.#show();
    this.#button.disabled = false; // also then: what was measured a while ago may be measured again
    return this.#always.checked;
  }

  async race(signal: AbortSignal): Promise<void> {
    if (!this.#latest) return;
    const { rival } = this.#latest;
    this.#button.disabled = true;
    try {
      const plain = await this.#view.race(rival.plain(signal), (tokens) =>
        say('comparison', `The same prompt by ${baselineName(rival.baseline)}: ${tokens} tokens`),
      );
      if (plain.complete) this.#plain.set(rival.key, plain);
    } finally {
      say('comparison', '');
      this.#button.disabled = false;
    }
    this.#show();
  }

  #show(): void {
    const plain = this.#latest && this.#plain.get(this.#latest.rival.key);
    if (!this.#latest || !plain) return;
    const { factor, sentence } = compare(this.#latest.run, plain, this.#latest.rival);
    say('factor', factor);
    say('comparison', sentence);
  }
}
