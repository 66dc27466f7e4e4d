"""Trains heads that judge a step by the draft's own hidden states, without a second reading of the text, and compares them
with the bundled judges: would the target's step be better than the draft's?

    python -m routers.head ../public/models FRESH.jsonl STEPS.jsonl …     (from training/; FRESH and STEPS by routers.steps)

A head reads what the frozen draft has anyway: of every token its embedding, the output of each layer, the normed state that
predicted it, and its log-probability. `linear` reads the end of a step; `tokens` finds in each token how likely it is the
first bad one; `attend` is a narrow layer of attention over all of them. All are trained on the same steps and labels as the
bundled router: those of `routers.router` with --label truth --every 1. AUC: on the draft's greedy steps of FRESH.
"""

import argparse
import json
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bundled import evaluate
from bundled.model import LanguageModel, Layer, Sizes, rope

from . import steps
from .judge import auc, load_judge
from .prm import rewards
from .router import Recipe, gains, label, labelled, predict, tokens_of
from .rows import Batch, Judged, Row, batches, collate

WIDTH = 32  # of a head's own states
RECIPE = Recipe(balanced=False, every=1)


def zero(layer: nn.Linear) -> nn.Linear:
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    return layer


def before(row: Row, width: int) -> list[int]:
    """Of every token the place of the one that it follows."""
    made = [max(0, i - 1) for i in range(width)]
    for begin, first, _ in row.branches:
        made[first] = begin - 1
    return made


@torch.no_grad()
def read(draft: LanguageModel, batch: Batch) -> Tensor:
    """What the draft knows of every token; [batch, length, features]."""
    states = draft.states(batch.ids, positions=batch.positions, mask=batch.mask)
    last = draft.model.norm(states[-1])
    previous = torch.tensor([before(row, batch.ids.shape[1]) for row in batch.rows])
    logprob = draft.head(last).log_softmax(-1)
    rows = torch.arange(len(previous))[:, None]
    said = logprob[rows, previous].gather(2, batch.ids[..., None])
    scaled = [F.rms_norm(state, state.shape[-1:]) for state in states]
    return torch.cat((*scaled, last[rows, previous], said.clamp_min(-12)), dim=-1)


def doubt(logprob: Tensor) -> Tensor:
    """From the log-probability that all is well, the logit that it is not."""
    at_most = logprob.clamp_max(-1e-6)
    return torch.log(-torch.expm1(at_most)) - at_most


def so_far(logprob: Tensor, batch: Batch) -> Tensor:
    """The sum over a step's tokens up to each of them."""
    total = torch.zeros_like(logprob)
    for r, row in enumerate(batch.rows):
        for j in row.judged:
            mine = slice(j.index - j.length + 1, j.index + 1)
            total[r, mine] = logprob[r, mine].cumsum(0)
    return total


class Linear(nn.Module):
    """The states of a step's last token. As every head it begins as the draft's own doubt of the step."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.top = zero(nn.Linear(inputs, 1))

    def forward(self, seen: Tensor, batch: Batch) -> Tensor:
        return doubt(so_far(seen[..., -1], batch)) + self.top(seen)[..., 0]


class Tokens(nn.Module):
    """In each token, how likely it is the first bad one; a step is bad where one of its tokens is."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.inner = nn.Linear(inputs, WIDTH)
        self.top = zero(nn.Linear(WIDTH, 1))

    def forward(self, seen: Tensor, batch: Batch) -> Tensor:
        bad = doubt(seen[..., -1]) + self.top(F.silu(self.inner(seen)))[..., 0]
        return doubt(so_far(F.logsigmoid(-bad), batch))


class Attend(nn.Module):
    """A narrow layer of attention over the draft's states."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        sizes = Sizes(layers=1, width=WIDTH, heads=2, kv_heads=1, head_dim=WIDTH // 2, ffn=2 * WIDTH)
        self.inner = nn.Linear(inputs, WIDTH)
        self.layer = Layer(sizes)
        self.top = zero(nn.Linear(WIDTH, 1))
        self.cos, self.sin = rope(sizes)

    def forward(self, seen: Tensor, batch: Batch) -> Tensor:
        cos, sin = self.cos[batch.positions][:, None], self.sin[batch.positions][:, None]
        told = self.top(self.layer(self.inner(seen), cos, sin, None, batch.mask))[..., 0]
        return doubt(so_far(seen[..., -1], batch)) + told


HEADS = {"linear": Linear, "tokens": Tokens, "attend": Attend}


def train(draft: LanguageModel, rows: list[Row], head: nn.Module, epochs: float, rate: float, log) -> None:
    rng, optimizer = Random(5), torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.01)
    plan: list[list[Row]] = []
    for _ in range(round(epochs)):
        groups = batches(rng.sample(rows, len(rows)), 3000)
        plan += rng.sample(groups, len(groups))
    total = 0.0
    for update, group in enumerate(plan):
        batch = collate(group)
        told = head(read(draft, batch), batch)
        at, columns = batch.places(batch.judged)
        truth = torch.tensor([float(label(j.gain, RECIPE)) for _, j in batch.judged])
        every = tokens_of(batch, batch.judged, RECIPE)
        rows_at, columns_at = torch.tensor(list(every)).unbind(1)
        loss = F.binary_cross_entropy_with_logits(told[at, columns], truth) + RECIPE.every * F.binary_cross_entropy_with_logits(
            told[rows_at, columns_at], torch.tensor(list(every.values()), dtype=torch.float32)
        )
        optimizer.param_groups[0]["lr"] = rate * min(1, (update + 1) / 20) * (1 - update / len(plan))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        if (update + 1) % 100 == 0:
            log(f"{update + 1} of {len(plan)}, loss {total / 100:.4f}")
            total = 0.0


@torch.no_grad()
def scored(draft: LanguageModel, rows: list[Row], head: nn.Module) -> list[tuple[Judged, float]]:
    made = []
    for group in batches(rows, 6000):
        batch = collate(group)
        at = batch.places(batch.judged)
        made += [(j, p) for (_, j), p in zip(batch.judged, head(read(draft, batch), batch)[at].tolist(), strict=True)]
    return made


def least_logprobs(records: list[steps.Record]) -> list[tuple[Judged, float]]:
    made = []
    for one in labelled(records, gains(records, None), False):
        for j in one.judged:
            context = records[j.group].contexts[j.number]
            made.append((j, -min(context.logprobs[j.kind == "sampled"])))
    return made


def summary(found: list[tuple[Judged, float]]) -> dict:
    """Of the draft's greedy steps; the interval by the bootstrap over problems."""
    mine = [(j.group, p, j.gain > 1e-6) for j, p in found if j.kind == "greedy"]
    groups, scores, better = (np.array(column) for column in zip(*mine, strict=True))
    places = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    rng = np.random.default_rng(1)
    drawn = (np.concatenate([places[i] for i in rng.integers(0, len(places), len(places))]) for _ in range(500))
    low, high = np.quantile([auc(scores[at], better[at]) for at in drawn], [0.025, 0.975])
    whole = auc(scores, better)
    return {"auc": round(whole, 4), "interval": [round(low, 4), round(high, 4)], "steps": len(mine), "better": int(better.sum())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("fresh", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--heads", nargs="+", choices=HEADS, default=[*HEADS])
    parser.add_argument("--epochs", type=float, default=20)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--problems", type=int, nargs="+", help="also with only so many problems of the data, for a curve")
    args = parser.parse_args()
    torch.set_num_threads(1)
    draft = evaluate.load(args.models / "draft")
    fresh, data = steps.load(args.fresh), [one for path in args.data for one in steps.load(path)]
    held = labelled(fresh, gains(fresh, None), False)
    gain = {(j.group, j.number, j.kind): j.gain for row in held for j in row.judged}

    def told(name: str, found: list[tuple[Judged, float]], **more) -> None:
        print(json.dumps({"judge": name, **more, **summary(found)}), flush=True)

    told("least log-probability", least_logprobs(fresh))
    told("router", predict(load_judge(args.models / "router")[0], held))
    reward = []
    for index, (_, judged) in enumerate(rewards(load_judge(args.models / "prm")[0], fresh)):
        for j, value in judged:
            if (index, j.number, j.kind) in gain:
                j.group, j.gain = index, gain[index, j.number, j.kind]
                reward.append((j, -value))
    told("prm", reward)
    weights = sum(p.numel() for p in draft.parameters())
    inputs = read(draft, collate(held[:1])).shape[-1]
    for count in args.problems or [len(data)]:
        rows = labelled(data[:count], gains(data[:count], None), False)
        for name in args.heads:
            torch.manual_seed(0)
            head = HEADS[name](inputs)
            train(draft, rows, head, args.epochs, args.rate, lambda line, name=name: print(f"{name}: {line}", flush=True))
            size = sum(p.numel() for p in head.parameters())
            told(name, scored(draft, held, head.eval()), problems=count, weights=size, of_the_draft=round(size / weights, 3))


if __name__ == "__main__":
    main()
