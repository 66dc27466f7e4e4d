"""Does an ensemble pay? Weighted and contrastive combinations of the bundled models on the held-out problems.

    python -m bundled.ensemble ../public/models --json data/ensemble.json      (from training/)

One pass of each model over the right answers is enough for every combination, without decoding and without sampling noise: at
temperature 0 an ensemble writes the whole right text if each right token is the argmax of the combined law; at temperature 1
the chance that it does is the product of the right tokens' probabilities. Answers reached by another text do not
count (`bundled.evaluate` counts those too: 0.2 points more for the target, 2.2 for the mid, 5.4 for the draft).
"""

import argparse
import json
from itertools import combinations
from pathlib import Path

import torch
from torch import Tensor

from . import evaluate, vocabulary
from .batches import IGNORE, pack, row

NAMES = ("target", "mid", "draft")
WEIGHTS = (0.25, 0.5, 0.75, 0.9)  # of the first member; the others share the rest evenly
MUS = (0.05, 0.1, 0.2, 0.3, 0.5)


@torch.no_grad()
def right_rows(folder: Path, problems: list[dict], batch: int = 50) -> tuple[list[Tensor], list[Tensor]]:
    """For every problem the logits at each token of the right answer, and those tokens (<eos> included)."""
    model, tokenizer = evaluate.load(folder), vocabulary.load(folder)
    logits, wanted = [], []
    for start in range(0, len(problems), batch):
        ids, labels = pack([row(tokenizer, p["question"], p["answer"]) for p in problems[start : start + batch]])
        told = model.head(model.hidden(ids))
        for one, label in zip(told, labels, strict=True):
            logits.append(one[label != IGNORE])
            wanted.append(label[label != IGNORE])
    return logits, wanted


def weighted(laws: list[Tensor], weight: float) -> Tensor:
    rest = (1 - weight) / max(1, len(laws) - 1)
    return weight * laws[0] + sum(rest * law for law in laws[1:])


def contrastive(logits: list[Tensor], mu: float) -> Tensor:
    return (logits[0] - mu * torch.stack(logits[1:]).mean(0)).softmax(-1)


def scores(laws: list[Tensor], wanted: list[Tensor]) -> dict[str, float]:
    """Whole texts right at temperature 0, and expected at temperature 1."""
    exact = [bool((law.argmax(-1) == ids).all()) for law, ids in zip(laws, wanted, strict=True)]
    chance = [law.gather(-1, ids[:, None]).log().sum().exp().item() for law, ids in zip(laws, wanted, strict=True)]
    return {"T=0": round(sum(exact) / len(exact), 4), "T=1": round(sum(chance) / len(chance), 4)}


def table(models: Path, problems: list[dict]) -> dict:
    raw, wanted = {}, []
    for name in NAMES:
        raw[name], wanted = right_rows(models / name, problems)
    laws = {name: [one.softmax(-1) for one in raw[name]] for name in NAMES}
    made = {
        "problems": len(problems),
        "alone": {name: scores(laws[name], wanted) for name in NAMES},
        "weighted": {},
        "contrastive": {},
    }
    for members in [*combinations(NAMES, 2), NAMES]:
        key = " + ".join(members)
        each = list(zip(*(laws[name] for name in members), strict=True))
        made["weighted"][key] = {str(w): scores([weighted(list(part), w) for part in each], wanted) for w in WEIGHTS}
        rows = list(zip(*(raw[name] for name in members), strict=True))
        key = f"{members[0]} - {' and '.join(members[1:])}"
        made["contrastive"][key] = {str(mu): scores([contrastive(list(part), mu) for part in rows], wanted) for mu in MUS}
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--problems", type=int)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    made = table(args.models, evaluate.held_out(args.problems))
    print(json.dumps(made, indent=1))
    if args.json:
        args.json.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
