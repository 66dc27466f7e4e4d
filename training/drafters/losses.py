"""D-PACE (arXiv 2605.18810): a slot weighs what the expected acceptance length gains from it.

With slot probabilities q, the expected length is a sum of products of q from the first slot on; the derivative by
log q_j is the sum of the products that hold q_j. Softened (q~ = (1 - a) q + a), so that late slots learn early.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from bundled.batches import IGNORE

SOFTENING = 0.5


def d_pace(q: Tensor, valid: Tensor) -> Tensor:
    """Weights of slots along the last dimension; slots that are not valid get none."""
    run = ((1 - SOFTENING) * q + SOFTENING).cumprod(-1) * valid
    return run.flip(-1).cumsum(-1).flip(-1) * valid


def slot_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Weighted cross-entropy over chains of slots; `labels` [..., slots] hold IGNORE after a chain's end."""
    losses = F.cross_entropy(logits.flatten(0, -2).float(), labels.flatten(), ignore_index=IGNORE, reduction="none")
    losses = losses.view(labels.shape)
    valid = (labels != IGNORE).float()
    weights = d_pace(torch.exp(-losses.detach()), valid)
    return (weights * losses).sum() / valid.sum().clamp(min=1)


def accepted(logits: Tensor, labels: Tensor) -> Tensor:
    """How many slots of each chain are right before the first wrong one."""
    return (logits.argmax(-1) == labels).int().cumprod(-1).sum(-1)
