// Finds where the end of a text occurred before, in this text or in earlier ones, and what followed there. Memory is
// linear: the tokens, and each place twice, by the token and by the pair of tokens before it. Look-ups read at most
// `MOST_PLACES` of them, the latest first.
import type { Continuations } from './match-acceptance.ts';

/** Ends a text: a match never reaches from one text into the next. No token has this id. */
const END = -1;
/** Places of one token or pair that a look-up compares. */
const MOST_PLACES = 256;
/** Tokens that are remembered. When there are more, the older half is forgotten. */
const MOST_TOKENS = 1 << 18;
/** Pairs are keyed by one number: ids are below 2^26. */
const PAIR = 2 ** 26;
/** Continuations that fewer of the places share are not worth a row. */
const LEAST_SHARE = 0.1;

/** Places where a text goes on after what was looked up, the latest first. */
export interface Match {
  readonly places: readonly number[];
  /** How many tokens before the place are those before the end of the text. */
  readonly length: number;
}

interface Node {
  readonly parent: number;
  readonly token: number;
  /** Places that go on this way. */
  readonly places: readonly number[];
  readonly depth: number;
}

export class SuffixIndex {
  #tokens: number[] = [];
  readonly #byToken = new Map<number, number[]>();
  readonly #byPair = new Map<number, number[]>();
  /** Where the newest text begins. */
  #start = 0;
  /** The text that was held last, until it may have been forgotten. */
  #held = '';

  /** Tokens remembered, ends of texts counted. */
  get size(): number {
    return this.#tokens.length;
  }

  /** Undefined: a text ends there, or none is that long. */
  tokenAt(place: number): number | undefined {
    const token = this.#tokens[place];
    return token === END ? undefined : token;
  }

  /** Remembers a text that is not the newest one; the same one again is not remembered twice. */
  hold(text: readonly number[]): void {
    const held = text.join();
    if (text.length === 0 || held === this.#held) return;
    this.follow(text);
    this.#append(END);
    this.#start = this.#tokens.length;
    this.#held = held;
  }

  /** The newest text becomes this one. What continues it is appended; any other begins a text of its own. */
  follow(text: readonly number[]): void {
    const known = this.#tokens.length - this.#start;
    const continues =
      known <= text.length && text.every((token, i) => i >= known || this.#tokens[this.#start + i] === token);
    if (!continues) {
      this.#append(END);
      this.#start = this.#tokens.length;
    }
    for (const token of text.slice(continues ? known : 0)) this.#append(token);
    if (this.#tokens.length > MOST_TOKENS) this.#forget();
  }

  /** As `follow`, for a text that is known to continue the newest one. */
  append(tokens: readonly number[]): void {
    for (const token of tokens) this.#append(token);
  }

  /** The longest end of the newest text, at most `most` tokens, that occurred before. Null: it did not. */
  match(most: number): Match | null {
    const all = this.#tokens;
    const end = all.length;
    const last = all[end - 1] ?? END;
    if (last === END) return null;
    const pairs = this.#byPair.get((all[end - 2] ?? END) * PAIR + last) ?? [];
    // The last place is the end itself.
    const known = pairs.length > 1 && end - this.#start > 1 ? pairs : (this.#byToken.get(last) ?? []);
    let [places, longest]: [number[], number] = [[], 0];
    for (let i = known.length - 2; i >= Math.max(0, known.length - 1 - MOST_PLACES); i--) {
      const place = known[i] as number;
      if (all[place] === END) continue;
      let length = 0;
      while (length < most && length < end - this.#start && all[place - 1 - length] === all[end - 1 - length]) length++;
      if (length > longest) [places, longest] = [[], length];
      if (length === longest) places.push(place);
    }
    return places.length > 0 ? { places, length: longest } : null;
  }

  /** What followed, as a tree: of all continuations those that most places share. */
  grow({ places }: Match, { nodes, depth }: { readonly nodes: number; readonly depth: number }): Continuations {
    const kept: Node[] = [{ parent: -1, token: this.#tokens.at(-1) as number, places, depth: 0 }];
    const open: Node[] = [];
    const least = LEAST_SHARE * places.length;
    const expand = (at: number): void => {
      const node = kept[at] as Node;
      if (node.depth === depth) return;
      const groups = new Map<number, number[]>();
      for (const place of node.places) {
        const token = this.#following(place, node.depth);
        if (token === END) continue;
        const group = groups.get(token);
        if (group) group.push(place);
        else groups.set(token, [place]);
      }
      for (const [token, group] of groups)
        if (group.length >= least) open.push({ parent: at, token, places: group, depth: node.depth + 1 });
    };
    expand(0);
    while (open.length > 0 && kept.length <= nodes) {
      // The most frequent, and of several the one nearest to the end of the text.
      const best = open.reduce((a, b) => (b.places.length > a.places.length ? b : a));
      open.splice(open.indexOf(best), 1);
      kept.push(best);
      expand(kept.length - 1);
    }
    return {
      tokens: kept.map(({ token }) => token),
      parents: kept.map(({ parent }) => parent),
      shares: kept.map(({ parent, places: { length } }) => length / (kept[parent]?.places.length ?? length)),
    };
  }

  /** The token `after` places after a place. A copy may reach into itself, as in LZ77. */
  #following(place: number, after: number): number {
    const period = this.#tokens.length - place;
    return this.#tokens[place + (after % period)] as number;
  }

  #append(token: number): void {
    this.#tokens.push(token);
    if (token === END) return;
    const place = this.#tokens.length;
    const before = this.#tokens[place - 2] ?? END;
    const put = (places: Map<number, number[]>, key: number): void => {
      const known = places.get(key);
      if (known) known.push(place);
      else places.set(key, [place]);
    };
    put(this.#byToken, token);
    if (before !== END) put(this.#byPair, before * PAIR + token);
  }

  #forget(): void {
    this.#held = '';
    const newest = this.#tokens.slice(Math.max(this.#start, this.#tokens.length - MOST_TOKENS / 2));
    const older = this.#tokens.slice(-MOST_TOKENS / 2, -newest.length || undefined);
    this.#tokens = [];
    this.#byToken.clear();
    this.#byPair.clear();
    for (const token of newest.length < MOST_TOKENS / 2 ? older : []) this.#append(token);
    this.#append(END);
    this.#start = this.#tokens.length;
    for (const token of newest) this.#append(token);
  }
}
