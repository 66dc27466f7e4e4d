"""The policy: features of the prefill's last logits to one score for each candidate block size.

As published: Linear, ReLU, residual blocks of Linear and ReLU, Linear; input the raw logits; label the size with the
largest τ. Ours predicts τ itself, for every size ("rate"): what a round of a size costs depends on the device, so the engine
divides the prediction by times that it has measured, and one file serves every device. For comparison, labels by time: one best
size, or a soft label that sizes share by how close they come to the quickest.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

INPUTS = ("raw", "softmax", "normalised")
GOALS = ("rate", "time", "soft", "tau")
# Milliseconds of a round (draft and verify) at each block size, until a device's own are measured.
COSTS = {1: 2.7, 2: 4.2, 4: 5.0, 6: 6.2, 8: 7.2, 10: 9.5, 12: 10.2, 16: 12.5}

SOFTNESS = 0.03  # a size that is this share slower than the quickest counts for a factor e less


def costs(path: Path | None, blocks: list[int]) -> np.ndarray:
    """Milliseconds of a round at each block size."""
    table = {int(b): ms for b, ms in json.loads(path.read_text()).items()} if path else COSTS
    return np.array([table[block] for block in blocks])


def features(logits: Tensor, kind: str) -> Tensor:
    if kind == "softmax":
        return logits.softmax(-1)
    if kind == "normalised":
        return (logits - logits.mean(-1, keepdim=True)) / logits.std(-1, keepdim=True)
    return logits


class Policy(nn.Module):
    """`depth` counts hidden layers: 1 has no residual block, the published network has 2."""

    def __init__(self, inputs: int, blocks: int, width: int = 128, depth: int = 2) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(depth - 1))
        self.last = nn.Linear(width, blocks)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x).relu()
        for layer in self.hidden:
            x = x + layer(x).relu()
        return self.last(x)


@dataclass
class Data:
    """Prompts and the time of their whole answers at every candidate size."""

    logits: Tensor  # [n, vocabulary]
    times: Tensor  # [n, sizes], milliseconds
    tokens: Tensor  # [n], committed in rounds
    rounds: Tensor  # [n, sizes]
    blocks: list[int]


def read(path: Path, blocks: list[int], cost: np.ndarray) -> Data:
    with np.load(path) as found:
        chosen = [found["blocks"].tolist().index(block) for block in blocks]
        rounds = found["rounds"][:, chosen]
        tokens, logits = found["answer_tokens"] - 1, found["logits"]
    times = torch.from_numpy(rounds * cost).float()
    return Data(torch.from_numpy(logits), times, torch.from_numpy(tokens).float(), torch.from_numpy(rounds).float(), blocks)


def learn(
    data: Data, kind: str = "raw", width: int = 128, depth: int = 2, goal: str = "time", epochs: int = 60, seed: int = 0
) -> Policy:
    """Fits a policy. `goal`: "rate" predicts log τ of every size; "time" (the quickest size), "tau" (the published label: the
    largest τ) and "soft" (shared by time) score the sizes."""
    torch.manual_seed(seed)
    x = features(data.logits, kind)
    policy = Policy(x.shape[1], len(data.blocks), width, depth)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=epochs * -(-len(x) // 64))
    labels = data.rounds.argmin(1) if goal == "tau" else data.times.argmin(1)
    shares = (-data.times / data.times.min(1, keepdim=True).values / SOFTNESS).softmax(-1)
    lengths = (data.tokens[:, None] / data.rounds).log()
    if goal == "rate":
        with torch.no_grad():
            policy.last.bias.copy_(lengths.mean(0))
    for _ in range(epochs):
        for part in torch.randperm(len(x)).split(64):
            scores = policy(x[part])
            if goal == "rate":
                loss = 10 * F.mse_loss(scores, lengths[part])
            else:
                loss = F.cross_entropy(scores, shares[part] if goal == "soft" else labels[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return policy.eval()


def speed(data: Data, choice: Tensor) -> float:
    """Milliseconds a token when each prompt runs at its chosen size (an index into the candidates)."""
    return (data.times.gather(1, choice[:, None]).sum() / data.tokens.sum()).item()


def fixed(data: Data, index: int) -> Tensor:
    return torch.full((len(data.tokens),), index)


def best_fixed(data: Data) -> int:
    """The index of the one size that is quickest over all problems."""
    return min(range(len(data.blocks)), key=lambda index: speed(data, fixed(data, index)))


def tau(data: Data, choice: Tensor) -> float:
    return (data.tokens.sum() / data.rounds.gather(1, choice[:, None]).sum()).item()


@torch.no_grad()
def choose(policy: Policy, logits: Tensor, kind: str, cost: np.ndarray | None = None) -> Tensor:
    """The best-scored size. A policy that predicts log τ takes the costs, and the least time a token wins."""
    scores = policy(features(logits, kind))
    return (scores if cost is None else scores - torch.from_numpy(cost).float().log()).argmax(-1)
