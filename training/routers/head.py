"""Trains heads that judge a step by the draft's own hidden states, without a second reading of the text, and compares them
with the bundled judges: would the target's step be better than the draft's?

    python -m routers.head ../public/models FRESH.jsonl STEPS.jsonl …     (from training/; FRESH and STEPS by routers.steps)

A head reads what the frozen draft has anyway: of every token its embedding, the output of each layer, the normed state that
predicted it, the entropy and the gap of the first two in its place, and its log-probability. `linear` reads the end of a
step; `tokens` finds in each token how likely it is the first bad one; `attend` is a narrow layer of attention over all of
them, and `wide` one as wide as the draft's. The labels are those of the bundled router (`routers.router` with --label truth
--every 1), or by --truth 0 the router's own scores, so that a head learns to say what the router says. All heads are trained
together, since reading costs most. AUC: on the draft's greedy steps of FRESH.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bundled import evaluate
from bundled.model import LanguageModel, Layer, Sizes, rope

from . import steps
from .judge import Judge, auc, load_judge, resampled
from .prm import rewards
from .router import Recipe, gains, labelled, predict, probability, tokens_of
from .rows import Batch, Judged, Row, batches, collate

WIDTH = 32  # of a head's own states
WIDE = 96
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
    before_it = logprob[rows, previous]
    said = before_it.gather(2, batch.ids[..., None])
    entropy = -(before_it.exp() * before_it).sum(-1, keepdim=True)
    first, second = before_it.topk(2).values.split(1, dim=-1)
    scaled = [F.rms_norm(state, state.shape[-1:]) for state in states]
    return torch.cat((*scaled, last[rows, previous], entropy, (first - second).clamp_max(12), said.clamp_min(-12)), dim=-1)


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
    """A layer of attention over the draft's states."""

    def __init__(self, inputs: int, width: int = WIDTH) -> None:
        super().__init__()
        sizes = Sizes(layers=1, width=width, heads=2, kv_heads=1, head_dim=width // 2, ffn=2 * width)
        self.inner = nn.Linear(inputs, width)
        self.layer = Layer(sizes)
        self.top = zero(nn.Linear(width, 1))
        self.cos, self.sin = rope(sizes)

    def forward(self, seen: Tensor, batch: Batch) -> Tensor:
        cos, sin = self.cos[batch.positions][:, None], self.sin[batch.positions][:, None]
        told = self.top(self.layer(self.inner(seen), cos, sin, None, batch.mask))[..., 0]
        return doubt(so_far(seen[..., -1], batch)) + told


class Wide(Attend):
    def __init__(self, inputs: int) -> None:
        super().__init__(inputs, WIDE)


HEADS = {"linear": Linear, "tokens": Tokens, "attend": Attend, "wide": Wide}


@torch.no_grad()
def taught(teacher: Judge, rows: list[Row]) -> dict[int, Tensor]:
    """By a row's group: what the teacher says at each of its tokens."""
    made = {}
    for group in batches(rows, 6000):
        batch = collate(group)
        said = probability(teacher.judge(teacher.states_of(batch)))
        made |= {row.judged[0].group: said[r, : len(row.ids)].clone() for r, row in enumerate(group) if row.judged}
    return made


@dataclass
class Labels:
    """Of every token of a judged step, the chance that the target's step is better: by truth, by a teacher, or between."""

    truth: float
    said: dict[int, Tensor]

    def of(self, batch: Batch) -> tuple[list[tuple[int, int]], Tensor]:
        """The tokens' rows and columns, and their labels."""
        known = tokens_of(batch, batch.judged, RECIPE)
        by_truth = torch.tensor([*known.values()], dtype=torch.float32)
        if not self.said:
            return [*known], by_truth
        by_teacher = torch.stack([self.said[batch.rows[r].judged[0].group][column] for r, column in known])
        return [*known], self.truth * by_truth + (1 - self.truth) * by_teacher


def train(draft: LanguageModel, rows: list[Row], heads: list[nn.Module], labels: Labels, epochs: float, rate: float, log) -> None:
    """All heads on the same steps; the loss at the end of a step counts as much as that of all its tokens."""
    rng = Random(5)
    parameters = [parameter for head in heads for parameter in head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    plan: list[list[Row]] = []
    for _ in range(round(epochs)):
        groups = batches(rng.sample(rows, len(rows)), 3000)
        plan += rng.sample(groups, len(groups))
    totals = torch.zeros(len(heads))
    for update, group in enumerate(plan):
        batch = collate(group)
        seen = read(draft, batch)
        places, wanted = labels.of(batch)
        at = {place: index for index, place in enumerate(places)}
        ends = torch.tensor([at[r, j.index] for r, j in batch.judged])
        rows_at, columns_at = torch.tensor(places).unbind(1)
        losses = []
        for head in heads:
            told = head(seen, batch)[rows_at, columns_at]
            each = F.binary_cross_entropy_with_logits(told, wanted, reduction="none")
            losses.append(each[ends].mean() + RECIPE.every * each.mean())
        optimizer.param_groups[0]["lr"] = rate * min(1, (update + 1) / 20) * (1 - update / len(plan))
        torch.stack(losses).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        totals += torch.stack(losses).detach()
        if (update + 1) % 100 == 0:
            log(f"{update + 1} of {len(plan)}, losses {[round(total / 100, 4) for total in totals.tolist()]}")
            totals.zero_()


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
    low, high = np.quantile([auc(scores[at], better[at]) for at in resampled(groups)], [0.025, 0.975])
    whole = auc(scores, better)
    return {"auc": round(whole, 4), "interval": [round(low, 4), round(high, 4)], "steps": len(mine), "better": int(better.sum())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("fresh", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--heads", nargs="+", choices=HEADS, default=[*HEADS])
    parser.add_argument("--epochs", type=float, nargs="+", default=[20], help="one number, or one for each of --problems")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--problems", type=int, nargs="+", help="also with only so many problems of the data, for a curve")
    parser.add_argument("--truth", type=float, default=1, help="share of the truth in the labels; the rest is the router's scores")
    parser.add_argument("--save", type=Path, help="a folder for the trained heads")
    args = parser.parse_args()
    torch.set_num_threads(1)
    draft = evaluate.load(args.models / "draft")
    fresh, data = steps.load(args.fresh), [one for path in args.data for one in steps.load(path)]
    held = labelled(fresh, gains(fresh, None), False)
    gain = {(j.group, j.number, j.kind): j.gain for row in held for j in row.judged}

    def told(name: str, found: list[tuple[Judged, float]], **more) -> None:
        print(json.dumps({"judge": name, **more, **summary(found)}), flush=True)

    told("least log-probability", least_logprobs(fresh))
    router = load_judge(args.models / "router")[0]
    told("router", predict(router, held))
    reward = []
    for index, (_, judged) in enumerate(rewards(load_judge(args.models / "prm")[0], fresh)):
        for j, value in judged:
            if (index, j.number, j.kind) in gain:
                j.group, j.gain = index, gain[index, j.number, j.kind]
                reward.append((j, -value))
    told("prm", reward)
    weights = sum(p.numel() for p in draft.parameters())
    inputs = read(draft, collate(held[:1])).shape[-1]
    rows = labelled(data, gains(data, None), False)
    labels = Labels(args.truth, taught(router, rows) if args.truth < 1 else {})
    counts = args.problems or [len(rows)]
    for count, epochs in zip(counts, args.epochs * (1 if len(args.epochs) > 1 else len(counts)), strict=True):
        heads = {}
        for name in args.heads:
            torch.manual_seed(0)
            heads[name] = HEADS[name](inputs)
        train(draft, rows[:count], [*heads.values()], labels, epochs, args.rate, lambda line: print(line, flush=True))
        for name, head in heads.items():
            size = sum(p.numel() for p in head.parameters())
            told(name, scored(draft, held, head.eval()), problems=count, weights=size, of_the_draft=round(size / weights, 3))
            if args.save:
                torch.save(head.state_dict(), args.save / f"{name}-{count}.pt")


if __name__ == "__main__":
    main()
