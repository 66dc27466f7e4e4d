"""Trains the router's variants briefly, all alike, and compares them: layout, label, balance, classes.

    python -m routers.table PRM.pt STEPS.jsonl HELD_OUT.jsonl --json data/routers.json [--problems 1000] [--epochs 2]

Measured on the greedy draft steps of the held-out problems' contexts, next to two judges that cost no training: the draft's least
log-probability, and the reward model alone (what rsd uses).
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from . import steps
from .judge import load_judge
from .prm import rewards
from .router import Gains, Recipe, gains, labelled, predict, scores, train

VARIANTS = [
    *(Recipe(a, label, 0.0, balanced) for a in (False, True) for label in ("prm", "truth") for balanced in (True, False)),
    Recipe(label="prm", margin=0.1),
    *(Recipe(label="prm", classes=classes) for classes in (4, 10)),
]


def held_columns(keys: list[tuple[int, int]], truth: Gains, by_prm: Gains) -> tuple[np.ndarray, np.ndarray]:
    made = [np.array([table[i][number, "greedy"] for i, number in keys]) for table in (truth, by_prm)]
    return made[0], made[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prm", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--json", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    prm = load_judge(args.prm)[0]
    data, held = steps.load(args.data)[: args.problems], steps.load(args.held_out)
    gained = {"truth": gains(data, None), "prm": gains(data, prm)}
    truth, by_prm = gains(held, None), gains(held, prm)

    reward = {(j.group, j.number): value for _, judged in rewards(prm, held) for j, value in judged if j.kind == "greedy"}
    keys = sorted(reward)
    columns = held_columns(keys, truth, by_prm)
    least = np.array([min(held[i].contexts[number].logprobs[0]) for i, number in keys])
    table = {
        "problems": len(data),
        "epochs": args.epochs,
        "min log-prob": scores(-least, *columns, columns[0]),
        "1 - reward": scores(np.array([1 - reward[key] for key in keys]), *columns, columns[0]),
    }
    for base in VARIANTS:
        recipe = Recipe(base.annotated, base.label, base.margin, base.balanced, base.classes, args.epochs)
        judge = train(prm.state_dict(), labelled(data, gained[recipe.label], recipe.annotated), recipe).eval()
        found = [(j, p) for j, p in predict(judge, labelled(held, truth, recipe.annotated)) if j.kind == "greedy"]
        columns = held_columns([(j.group, j.number) for j, _ in found], truth, by_prm)
        own = columns[recipe.label == "prm"] - recipe.margin
        table[recipe.name] = scores(np.array([p for _, p in found]), *columns, own)
        print(recipe.name, table[recipe.name], flush=True)
        args.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
