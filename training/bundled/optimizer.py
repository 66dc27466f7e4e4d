"""Muon for the matrices (orthogonalised momentum), AdamW for embeddings, heads and norms.

Newton-Schulz is a fifth of an update on a CPU, so with several processes each one orthogonalises its share
of the matrices and the shares are summed: every process then holds the same update.
"""

import torch
import torch.distributed as dist
from torch import Tensor, nn

from .model import STREAM

MOMENTUM = 0.95
QUINTIC = (3.4445, -4.7750, 2.0315)  # Keller Jordan's coefficients


def orthogonal(m: Tensor, steps: int = 5) -> Tensor:
    """The nearest half-orthogonal matrices, roughly; a batch of matrices at once, in the stream's type."""
    a, b, c = QUINTIC
    x = m.to(STREAM)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).to(STREAM)
    for _ in range(steps):
        s = x @ x.mT
        x = a * x + (b * s + c * (s @ s)) @ x
    return (x.mT if tall else x).float()


def outermost(name: str) -> bool:
    """Whether a matrix is a table or ends the network: those are no maps between states, so Muon leaves them alone."""
    return any(part in name for part in ("embed", "lm_head", "v_head", "score", "markov", "confidence"))


class Optimizer:
    """Both optimizers behind one `step(scale)`; `scale` is the schedule's factor on every rate."""

    def __init__(self, model: nn.Module, rank: int, ranks: int, muon: float = 0.02, adam: float = 3e-3) -> None:
        named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        matrices = [p for n, p in named if p.ndim == 2 and not outermost(n)]
        self.rest = torch.optim.AdamW(
            [p for n, p in named if p.ndim != 2 or outermost(n)], lr=adam, betas=(0.9, 0.95), weight_decay=0.0
        )
        self.rate, self.adam, self.decay = muon, adam, 0.1
        self.rank, self.ranks = rank, ranks
        shapes: dict[tuple[int, ...], list[nn.Parameter]] = {}
        for p in matrices:
            shapes.setdefault(tuple(p.shape), []).append(p)
        self.groups = list(shapes.values())
        self.momentum = [torch.zeros(len(g), *g[0].shape) for g in self.groups]

    @torch.no_grad()
    def step(self, scale: float) -> None:
        for group in self.rest.param_groups:
            group["lr"] = self.adam * scale
        self.rest.step()
        updates = []
        for group, momentum in zip(self.groups, self.momentum, strict=True):
            grads = torch.stack([p.grad for p in group])
            momentum.lerp_(grads, 1 - MOMENTUM)
            nesterov = grads.lerp_(momentum, MOMENTUM)
            update = torch.zeros_like(nesterov)
            mine = slice(self.rank, None, self.ranks)
            if nesterov[mine].shape[0]:
                update[mine] = orthogonal(nesterov[mine])
            updates.append(update)
        if self.ranks > 1:
            flat = torch.cat([u.flatten() for u in updates])
            dist.all_reduce(flat)
            parts = flat.split([u.numel() for u in updates])
            updates = [part.view_as(u) for part, u in zip(parts, updates, strict=True)]
        rate = self.rate * scale
        for group, update in zip(self.groups, updates, strict=True):
            rows, columns = group[0].shape
            gain = max(1.0, rows / columns) ** 0.5
            for p, u in zip(group, update, strict=True):
                p.mul_(1 - rate * self.decay).add_(u, alpha=-rate * gain)

    def state(self) -> dict:
        return {"rest": self.rest.state_dict(), "momentum": self.momentum}

    def restore(self, state: dict) -> None:
        self.rest.load_state_dict(state["rest"])
        self.momentum = state["momentum"]
