"""DSpark's loss: cross-entropy, distance from the target's distribution, and the confidence's own.

Softmax and gradient are written out, because over thousands of tokens autograd would keep many copies of the logits.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

TRUE, DISTANCE = 0.1, 0.9  # weights of cross-entropy and of the sum of |q - p|


class Distance(torch.autograd.Function):
    """Σ weight · (TRUE · CE(q, label) + DISTANCE · Σ|q - p|); `outside` is p's mass outside the reduced vocabulary."""

    @staticmethod
    def forward(ctx, logits: Tensor, p: Tensor, outside: Tensor, labels: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        q = logits.float().softmax(-1)
        distance = q - p
        signs = distance.sign()
        distance = distance.abs_().sum(-1) + outside
        known = labels >= 0
        rows = torch.arange(len(labels))
        right = q[rows, labels.clamp(min=0)]
        # The derivative by the logits: q (s - Σ q s) of the distance, q - 1[label] of the cross-entropy.
        grad = signs.sub_((q * signs).sum(-1, keepdim=True)).mul_(q).mul_((DISTANCE * weights)[:, None])
        truth = TRUE * weights * known
        grad.addcmul_(q, truth[:, None])
        grad[rows, labels.clamp(min=0)] -= truth
        ctx.save_for_backward(grad.to(logits.dtype))
        loss = (truth * -right.clamp(min=1e-9).log()).sum() + (DISTANCE * weights * distance).sum()
        ctx.mark_non_differentiable(distance)
        return loss, distance

    @staticmethod
    def backward(ctx, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = ctx.saved_tensors
        return grad * upstream.to(grad.dtype), None, None, None, None


def dspark_loss(logits: Tensor, confidence: Tensor | None, p: Tensor, outside: Tensor, labels: Tensor, weights: Tensor):
    """Loss over rows [rows, drafted] and each row's expected acceptance; `labels` are draft ids, -1 where there is none."""
    weights = weights / weights.sum()
    loss, distance = Distance.apply(logits, p, outside, labels, weights)
    accepted = 1 - distance / 2
    if confidence is not None:
        loss = loss + (weights * F.binary_cross_entropy_with_logits(confidence, accepted.clamp(0, 1), reduction="none")).sum()
    return loss, accepted
