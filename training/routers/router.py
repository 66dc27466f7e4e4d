"""Trains Arbitrage routers: would the target's step be better than this draft step?

    python -m routers.router PRM.pt STEPS.jsonl HELD_OUT.jsonl OUT.pt [--annotated] [--label truth] …

The gain Δ of a context is the mean score of the target's steps less the score of the draft's; scores are the reward model's
(--label prm) or 1 and 0 for right and wrong (--label truth). The label is 1 where Δ > 0 (--margin: where Δ is larger than
that). With C classes the first is Δ ≤ 0 and the others part (0, 1] evenly; P(target better) = 1 - P(first class).
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F

from bundled.batches import IGNORE
from bundled.model import STREAM
from bundled.optimizer import Optimizer

from . import steps
from .judge import Judge, auc, from_judge, from_language_model, load_judge, shorter
from .prm import rewards
from .rows import Batch, Judged, Row, batches, collate, pack

WARM_UP = 20


@dataclass(frozen=True)
class Recipe:
    """What the variants differ in."""

    annotated: bool = False
    label: str = "truth"
    margin: float = 0.0
    balanced: bool = True
    classes: int = 2
    epochs: float = 3
    rate: float = 0.1
    language: float = 0.0  # weight of the language model's loss, which keeps what the body knows
    every: float = 0.0  # weight of the loss at every token of a step: its label from the first wrong token on, before that 0
    tokens: int = 3000
    seed: int = 9

    @property
    def name(self) -> str:
        parts = ["annotated" if self.annotated else "prompt", self.label + (f">{self.margin}" if self.margin else "")]
        return " ".join([*parts, "balanced" if self.balanced else "all", str(self.classes)])


Gains = list[dict[tuple[int, str], float]]  # for each record: (context, 'greedy' or 'sampled') → Δ


def gains(records: list[steps.Record], prm: Judge | None) -> Gains:
    """Δ by the reward model, or by truth without one."""
    made: Gains = []
    scored = rewards(prm, records) if prm else [(one, None) for one in records]
    for one, judged in scored:
        if judged is None:
            judged = [(j, float(j.right)) for j in pack(one).judged]
        target: dict[int, list[float]] = {}
        for j, value in judged:
            if j.kind == "target":
                target.setdefault(j.number, []).append(value)
        made.append(
            {(j.number, j.kind): float(np.mean(target[j.number]) - value) for j, value in judged if j.kind in ("greedy", "sampled")}
        )
    return made


def label(gain: float, recipe: Recipe) -> int:
    if gain <= max(recipe.margin, 1e-6):
        return 0
    return 1 + min(recipe.classes - 2, int(gain * (recipe.classes - 1)))


def labelled(records: list[steps.Record], gained: Gains, annotated: bool) -> list[Row]:
    rows = []
    for index, one in enumerate(records):
        row = pack(one, annotated, router=True, group=index)
        row.judged = [j for j in row.judged if j.kind in ("greedy", "sampled")]
        for j in row.judged:
            j.gain = gained[index][j.number, j.kind]
        rows.append(row)
    return rows


def chosen(rows: list[Row], recipe: Recipe, rng: Random) -> set[int]:
    """The judged steps to learn from, by identity: all, or as many without gain as with."""
    every = [j for row in rows for j in row.judged]
    with_gain = [j for j in every if label(j.gain, recipe)]
    without = [j for j in every if not label(j.gain, recipe)]
    if recipe.balanced:
        without = rng.sample(without, min(len(without), len(with_gain)))
    return {id(j) for j in [*with_gain, *without]}


def probability(logits: torch.Tensor) -> torch.Tensor:
    """P(target better): all classes but the first."""
    return 1 - logits.softmax(-1)[..., 0]


def ends(batch: Batch, wanted: set[int] | None = None) -> list[tuple[int, Judged]]:
    return [(r, j) for r, j in batch.judged if wanted is None or id(j) in wanted]


@torch.no_grad()
def predict(judge: Judge, rows: list[Row], tokens: int = 6000) -> list[tuple[Judged, float]]:
    made = []
    for group in batches(rows, tokens):
        batch = collate(group)
        found = ends(batch)
        at = batch.places(found)
        made += [(j, p) for (_, j), p in zip(found, probability(judge.judge(judge.states_of(batch)[at])).tolist(), strict=True)]
    return made


def tokens_of(batch: Batch, found: list[tuple[int, Judged]], recipe: Recipe) -> dict[tuple[int, int], int]:
    """Row and index → label, for every token of the steps."""
    made = {}
    for r, j in found:
        so_far, own = batch.rows[r].so_far, label(j.gain, recipe)
        for index in range(j.index - j.length + 1, j.index + 1):
            made[r, index] = 0 if so_far[index] else own
    return made


def train(start: dict, rows: list[Row], recipe: Recipe, log=None) -> Judge:
    """`start`: the weights of a reward model, or of a router of as many classes."""
    rng = Random(recipe.seed)
    judge = from_judge(start, recipe.classes)
    optimizer = Optimizer(judge, 0, 1)
    wanted = chosen(rows, recipe, rng)
    useful = [row for row in rows if any(id(j) in wanted for j in row.judged)]
    plan: list[list[Row]] = []
    while len(plan) < recipe.epochs * len(batches(useful, recipe.tokens)):
        groups = batches(rng.sample(useful, len(useful)), recipe.tokens)
        rng.shuffle(groups)
        plan += groups
    plan = plan[: round(recipe.epochs * len(batches(useful, recipe.tokens)))]
    total = 0.0
    for update, group in enumerate(plan):
        batch = collate(group)
        found = ends(batch, wanted)
        at = batch.places(found)
        hidden = judge.states_of(batch, STREAM)
        loss = F.cross_entropy(judge.judge(hidden[at]), torch.tensor([label(j.gain, recipe) for _, j in found]))
        if recipe.every:
            every = tokens_of(batch, found, recipe)
            rows_at, columns_at = torch.tensor(list(every)).unbind(1)
            told = judge.judge(hidden[rows_at, columns_at])
            loss = loss + recipe.every * F.cross_entropy(told, torch.tensor(list(every.values())))
        if recipe.language:
            known = batch.lm != IGNORE
            loss = loss + recipe.language * F.cross_entropy(judge.head(hidden[known]).float(), batch.lm[known])
        loss.backward()
        optimizer.step(recipe.rate * min(1, (update + 1) / WARM_UP) * (1 - update / len(plan)))
        judge.zero_grad(set_to_none=True)
        total += loss.item()
        if log and (update + 1) % 50 == 0:
            log(f"{recipe.name}: {update + 1} of {len(plan)}, loss {total / 50:.4f}")
            total = 0.0
    return judge


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks with ties shared."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends_at = counts.cumsum()
    return ((ends_at - counts + 1 + ends_at) / 2)[inverse]


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def scores(predicted: np.ndarray, truth: np.ndarray, by_prm: np.ndarray, own: np.ndarray, threshold: float = 0.5) -> dict:
    """The paper's columns, and the AUC that compares judges; `own`: the gain that the variant was trained on."""
    better = truth > 1e-6
    mine = own > 1e-6
    told = predicted > threshold
    return {
        "rho_own": spearman(predicted, own),
        "rho_prm": spearman(predicted, by_prm),
        "rho_truth": spearman(predicted, truth),
        "accuracy": float((told == mine).mean()),
        "accuracy_0": float((~told[~mine]).mean()),
        "accuracy_1": float(told[mine].mean()),
        "auc_truth": auc(predicted, better),
        "steps": len(better),
        "better": int(better.sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prm", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--problems", type=int, help="only the first N of STEPS.jsonl")
    parser.add_argument("--start", type=Path, help="a router to go on from instead of the reward model")
    parser.add_argument("--body", type=Path, help="an exported language model to begin from instead, with a layer on top")
    parser.add_argument("--layers", type=int, nargs="+", help="of the judge it starts from, only these (from 0)")
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--annotated", action="store_true")
    parser.add_argument("--label", choices=["truth", "prm"], default="truth")
    parser.add_argument("--margin", type=float, default=0.0)
    parser.add_argument("--balanced", action="store_true")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--language", type=float, default=0.0)
    parser.add_argument("--every", type=float, default=0.0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    recipe = Recipe(**{name: value for name, value in vars(args).items() if name in Recipe.__dataclass_fields__})
    prm = load_judge(args.prm)[0]
    data, held = steps.load(args.data)[: args.problems], steps.load(args.held_out)
    start = from_language_model(args.body, args.classes) if args.body else load_judge(args.start or args.prm)[0]
    rows = labelled(data, gains(data, prm if args.label == "prm" else None), args.annotated)
    weights = shorter(start.state_dict(), args.layers) if args.layers else start.state_dict()
    judge = train(weights, rows, recipe, print)
    truth, by_prm = gains(held, None), gains(held, prm)
    predicted = [(j, p) for j, p in predict(judge.eval(), labelled(held, truth, args.annotated)) if j.kind == "greedy"]
    keys = [(j.group, (j.number, j.kind)) for j, _ in predicted]
    columns = [np.array([table[i][key] for i, key in keys]) for table in (truth, by_prm)]
    result = scores(np.array([p for _, p in predicted]), *columns, columns[args.label == "prm"])
    print(json.dumps(result))
    torch.save({"model": judge.state_dict(), "recipe": asdict(recipe), "scores": result}, args.out)


if __name__ == "__main__":
    main()
