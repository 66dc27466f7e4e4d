// SentencePiece's byte-pair encoding, which merges by score and needs no list of merges: Llama 2 and Gemma in GGUF. The
// tokenizer library would need a list made of all ways to cut every piece: 600 000 merges for Gemma.
import { type AddedToken, AddedTokens } from './added-tokens.ts';
import type { Encoder } from './encoder.ts';

/** The `model` of such a tokenizer (weights/gguf/tokenizer.ts writes it). */
export interface SentencePieceModel {
  readonly type: 'SentencePiece';
  /** [piece, score] by id, with `▁` for a space. */
  readonly vocab: readonly (readonly [string, number])[];
  /** Ids that no text is cut into: control tokens, and those that stand for bytes. */
  readonly closed: readonly number[];
  /** By byte; null where the vocabulary has none. */
  readonly bytes: readonly (number | null)[];
  readonly unknown: number | null;
  /** A space is put before the text, and after each special token. */
  readonly addsSpace: boolean;
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** Two neighbours that could be merged. */
interface Pair {
  readonly left: number;
  readonly right: number;
  readonly score: number;
  /** Characters of both: a pair of which one has grown since is out of date. */
  readonly length: number;
}

/** The best score first, then the leftmost. */
const isBefore = (a: Pair, b: Pair): boolean => a.score > b.score || (a.score === b.score && a.left < b.left);

/** A binary heap. */
class Queue {
  readonly #pairs: Pair[] = [];

  push(pair: Pair): void {
    const pairs = this.#pairs;
    let at = pairs.push(pair) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(pair, pairs[parent] as Pair)) break;
      pairs[at] = pairs[parent] as Pair;
      at = parent;
    }
    pairs[at] = pair;
  }

  pop(): Pair | undefined {
    const pairs = this.#pairs;
    const [first, last] = [pairs[0], pairs.pop()];
    if (!last || pairs.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= pairs.length) break;
      if (child + 1 < pairs.length && isBefore(pairs[child + 1] as Pair, pairs[child] as Pair)) child++;
      if (!isBefore(pairs[child] as Pair, last)) break;
      pairs[at] = pairs[child] as Pair;
      at = child;
    }
    pairs[at] = last;
    return first;
  }
}

const encoder = new TextEncoder();

export const openSentencePiece = (model: SentencePieceModel, added: readonly AddedToken[]): Encoder => {
  const closed = new Set(model.closed);
  const ids = new Map<string, number>();
  model.vocab.forEach(([piece], id) => {
    if (!closed.has(id)) ids.set(piece, id);
  });
  const tokens = new AddedTokens(added);
  const addedIds = new Map(added.map(({ content, id }) => [content, id]));

  /** Merges the pieces of a text without added tokens. */
  const merge = (text: string, out: number[]): void => {
    const starts: number[] = [];
    for (let at = 0; at < text.length; at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1) starts.push(at);
    const count = starts.length;
    const ends = starts.map((_, i) => starts[i + 1] ?? text.length);
    const next = starts.map((_, i) => i + 1);
    const previous = starts.map((_, i) => i - 1);
    const queue = new Queue();
    const consider = (left: number, right: number): void => {
      if (left < 0 || right >= count) return;
      const piece = text.slice(starts[left], ends[right]);
      const id = ids.get(piece);
      if (id !== undefined) queue.push({ left, right, score: model.vocab[id]?.[1] ?? 0, length: piece.length });
    };
    for (let i = 1; i < count; i++) consider(i - 1, i);
    for (let pair = queue.pop(); pair; pair = queue.pop()) {
      const { left, right, length } = pair;
      const gone = (i: number): boolean => ends[i] === starts[i];
      if (gone(left) || gone(right) || (ends[right] as number) - (starts[left] as number) !== length) continue;
      if (next[left] !== right) continue;
      ends[left] = ends[right] as number;
      ends[right] = starts[right] as number;
      next[left] = next[right] as number;
      if ((next[left] as number) < count) previous[next[left] as number] = left;
      consider(previous[left] as number, left);
      consider(left, next[left] as number);
    }
    for (let i = 0; i < count; i = next[i] as number) {
      const piece = text.slice(starts[i], ends[i]);
      const id = ids.get(piece);
      if (id !== undefined) out.push(id);
      else
        for (const byte of encoder.encode(piece)) {
          const found = model.bytes[byte] ?? model.unknown;
          if (found !== null) out.push(found);
        }
    }
  };

  return {
    encode(text, special, mark = null) {
      const out: number[] = special ? [...model.before] : [];
      let afterSpecial = true;
      for (const section of tokens.split(text)) {
        if (section.token) out.push(section.token.id);
        else {
          const spaced = ((model.addsSpace && afterSpecial ? ' ' : '') + section.text).replaceAll(' ', '▁');
          for (const part of mark === null ? [spaced] : spaced.split(mark)) merge(part, out);
        }
        afterSpecial = section.token !== null;
      }
      if (special) out.push(...model.after);
      return out;
    },
    idOf: (token) => addedIds.get(token) ?? ids.get(token),
  };
};
