"""DSpark (arXiv 2607.05147): DFlash whose anchor row drafts too, with a Markov head and a confidence head.

Parameters carry the names of the speculators layout. Row k of a block is at position anchor + k and scores the token
after it; the Markov head corrects it by the token at its own position. The head covers the most frequent tokens only:
target id = i + d2t[i].
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bundled.model import Linear, Sizes
from drafters.dflash import Context, DFlash, before


class MarkovHead(nn.Module):
    def __init__(self, vocabulary: int, drafted: int, rank: int) -> None:
        super().__init__()
        self.markov_w1 = nn.Embedding(vocabulary, rank)
        self.markov_w2 = Linear(rank, drafted)


class ConfidenceHead(nn.Module):
    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.proj = nn.Linear(inputs, 1)
        nn.init.zeros_(self.proj.weight)
        nn.init.zeros_(self.proj.bias)


class DSpark(DFlash):
    def __init__(self, sizes: Sizes, taps: list[int], mask_id: int, block: int, drafted: int, rank: int) -> None:
        super().__init__(sizes, taps, mask_id, block)
        self.lm_head = Linear(sizes.width, drafted)
        self.markov_head = MarkovHead(sizes.vocabulary, drafted, rank)
        self.confidence_head = ConfidenceHead(sizes.width + rank)
        self.register_buffer("d2t", torch.zeros(drafted, dtype=torch.int64))
        self.register_buffer("t2d", torch.zeros(sizes.vocabulary, dtype=torch.bool))

    def states(self, embedding: Tensor, ids: Tensor, context: Context, anchors: Tensor, rows: int) -> Tensor:
        """Normed states [batch, blocks, rows, width] of blocks that begin at `anchors` [batch, blocks] of the texts `ids`."""
        batch, blocks = anchors.shape
        filled = torch.full((batch, blocks, rows), self.mask_id)
        filled[:, :, 0] = ids.gather(1, anchors)
        positions = (anchors[:, :, None] + torch.arange(rows)).flatten(1)
        embedded = F.embedding(filled.flatten(1), embedding).to(context[0][0].dtype)
        made = self(embedded, positions, context, before(anchors, context[0][0].shape[2]))
        return made.view(batch, blocks, rows, -1)

    def scored(self, hidden: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Corrected logits and confidence logits of rows, from their states and the token before each drafted one."""
        e = F.embedding(previous, self.markov_head.markov_w1.weight).to(hidden.dtype)
        logits = self.lm_head(hidden) + self.markov_head.markov_w2(e)
        head = self.confidence_head.proj
        confidence = F.linear(torch.cat((hidden, e), dim=-1).float(), head.weight, head.bias)[..., 0]
        return logits, confidence

    def drafts(self, hidden: Tensor, anchors: Tensor) -> Tensor:
        """The greedy drafts of blocks, left to right: [..., rows] target ids."""
        made, token = [], anchors
        for row in hidden.unbind(-2):
            index = self.scored(row, token)[0].argmax(-1)
            token = index + self.d2t[index]
            made.append(token)
        return torch.stack(made, dim=-1)


def cover(drafter: nn.Module, ids: Tensor, embedding: Tensor) -> None:
    """Sets the reduced vocabulary to these target ids (ascending), whose rows of the target's head it takes."""
    drafter.d2t.copy_(ids - torch.arange(len(ids)))
    drafter.t2d.zero_()[ids] = True
    drafter.lm_head.weight.data.copy_(embedding[ids])
