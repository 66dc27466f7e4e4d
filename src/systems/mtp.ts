// Multi-token prediction (DeepSeek-V3, arXiv 2412.19437; Qwen3.5). Exact. The target's checkpoint brings one more layer,
// which was trained with it to predict the token after the next one from the target's last hidden state and the next
// token's embedding. As EAGLE-3's it drafts further by reading its own output; it has the target's embedding and head.
// Beyond the paper, which drafts one token, a draft is a chain or a tree of any depth. As llama.cpp, it begins with 3.
import { defineFeatures } from './define-features.ts';

export default defineFeatures({
  id: 'mtp',
  title: 'MTP',
  summary: 'A layer that comes with the target, trained to predict a second token, drafts; no other model is needed.',
  paper: 'https://arxiv.org/abs/2412.19437',
  initial: { shape: 'chain', depth: 3 },
});
