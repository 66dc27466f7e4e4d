// Follows the place that a text is copied from, past one token that differs. A renamed variable or a changed number ends
// every match, although the text then goes on as before; the copy knows where.
import type { Match, SuffixIndex } from './suffix-index.ts';

/** Tokens that must have been copied, so that one that differs says the text was changed. */
const LEAST_COPIED = 4;

export class FollowedCopy {
  readonly #index: SuffixIndex;
  /** `copied`: tokens, changed ones left out; `differs`: the last token was another one than at this place. */
  #at: { readonly place: number; readonly copied: number; readonly differs: boolean } | null = null;

  constructor(index: SuffixIndex) {
    this.#index = index;
  }

  /** The text is copied from here, or from the latest of these places; null: it is new. */
  follow(match: Match | null): void {
    const [place] = match?.places ?? [];
    if (this.#at && match?.places.includes(this.#at.place)) return;
    this.#at = match && place !== undefined ? { place, copied: match.length, differs: false } : null;
  }

  /** Tokens that are appended to the index afterwards. */
  append(tokens: readonly number[]): void {
    for (const [i, token] of tokens.entries()) {
      if (!this.#at) return;
      const { place, copied, differs } = this.#at;
      // What this call appends may be copied too.
      const there = this.#index.tokenAt(place) ?? tokens[place - this.#index.size];
      const same = there === token && place < this.#index.size + i;
      if (same) this.#at = { place: place + 1, copied: copied + 1, differs: false };
      else this.#at = differs || copied < LEAST_COPIED ? null : { place: place + 1, copied, differs: true };
    }
  }

  /** Where the text would go on after a token that differs; null: no copy was left by the last token. */
  get resumed(): Match | null {
    return this.#at?.differs ? { places: [this.#at.place], length: 0 } : null;
  }
}
