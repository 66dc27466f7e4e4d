// A chain of tokens as a tree: plain decoding and drafters without branches give it to a model.
import type { Token } from '../../model/interface.ts';

/** These tokens one after another, as a tree; the first is its root. */
export const chainOf = (tokens: readonly Token[]) => ({ tokens, parents: tokens.map((_, i) => i - 1) });
