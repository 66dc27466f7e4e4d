// EAGLE-3 (arXiv 2503.01840). Exact. One layer reads the target's hidden states and the next token's embedding and
// drafts token by token, feeding its own output back: a chain, or a tree of the most probable continuations, of which
// the target keeps the longest path that it agrees with. At temperature > 0 the tokens of a chain are drawn and kept
// with probability p/q; the nodes of a tree are not drawn, so the target's own draw picks among siblings. Beyond the
// paper, a draft may be as deep as pays; on a software adapter a tree is then a chain with leaves.
import { defineFeatures } from './define-features.ts';

export default defineFeatures({
  id: 'eagle3',
  title: 'EAGLE-3',
  summary: 'One layer on the target’s own features drafts a tree of continuations; the longest accepted path is kept.',
  paper: 'https://arxiv.org/abs/2503.01840',
  initial: { shape: 'tree', depth: 7 },
});
