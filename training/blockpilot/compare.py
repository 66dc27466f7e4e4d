"""Does a block size for each prompt beat the best fixed size? With 95 % intervals over held-out problems.

    python -m blockpilot.compare DUMP.npz [--costs FILE] [--candidates 6 7 8 9 10]      (from training/)

Five folds: for each fifth of the problems, the best fixed size and the policies are learned from the other four.
"Gain" is the time of the best fixed size divided by that of the row, minus 1.
Costs of 1 for every size (`--costs flat`) compare rounds, hence τ. Where every problem has several drawn answers, the
oracle is cross-validated: it takes the size that was quickest over a problem's other answers. The oracle that sees the
very answer it is timed on is shown as a bound.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

from .policy import Data, best_fixed, choose, costs, fixed, learn, read

FOLDS = 5
DRAWS = 2000


def answers_of(path: Path) -> int:
    """Rows of each problem."""
    with np.load(path) as found:
        _, counts = np.unique(found["questions"], return_counts=True)
    return int(counts.min())


def part(data: Data, rows: torch.Tensor) -> Data:
    return Data(data.logits[rows], data.times[rows], data.tokens[rows], data.rounds[rows], data.blocks)


def crossed(data: Data, fold: torch.Tensor, chosen: Callable[[Data, Data], torch.Tensor]) -> torch.Tensor:
    """Every row's choice, made by what the other folds taught."""
    choice = torch.zeros(len(fold), dtype=torch.int64)
    for i in range(FOLDS):
        choice[fold == i] = chosen(part(data, fold != i), part(data, fold == i))
    return choice


def learned_choices(
    train: Data, held: Data, *, width: int, goal: str, by: np.ndarray | None, epochs: int, seed: int
) -> torch.Tensor:
    """What a policy of this width chooses for the held-out rows, taught by the others."""
    policy = learn(train, width=width, goal=goal, epochs=epochs, seed=seed)
    return choose(policy, held.logits, "raw", by)


def cross_validated(data: Data, answers: int) -> torch.Tensor:
    """For every answer the size that is quickest over the problem's other answers."""
    times = data.times.view(-1, answers, len(data.blocks))
    others = times.sum(1, keepdim=True) - times
    return others.flatten(0, 1).argmin(1)


def gain(data: Data, base: torch.Tensor, choices: list[torch.Tensor], answers: int) -> tuple[float, float, float]:
    """The gain of the mean over choices, and its interval: problems are drawn anew."""

    def times(choice: torch.Tensor) -> np.ndarray:
        return data.times.gather(1, choice[:, None]).view(-1, answers).sum(1).numpy()

    own, reference = np.mean([times(choice) for choice in choices], axis=0), times(base)
    drawn = np.random.default_rng(1).integers(0, len(own), (DRAWS, len(own)))
    low, high = np.quantile(reference[drawn].sum(1) / own[drawn].sum(1), [0.025, 0.975])
    return tuple(100 * (ratio - 1) for ratio in (reference.sum() / own.sum(), low, high))


def histogram(data: Data, choices: list[torch.Tensor]) -> str:
    counted = Counter(data.blocks[i] for choice in choices for i in choice.tolist())
    total = sum(counted.values())
    return ", ".join(f"{block}: {100 * counted[block] / total:.0f} %" for block in data.blocks if counted[block])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path, help="what dump.py wrote")
    parser.add_argument("--costs", help='JSON {"block size": milliseconds of a round}, or "flat"')
    parser.add_argument("--candidates", type=int, nargs="*", help="block sizes (default: all)")
    parser.add_argument("--widths", type=int, nargs="*", default=[64, 2048])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with np.load(args.dump) as found:
        blocks = args.candidates or found["blocks"].tolist()
    cost = np.ones(len(blocks)) if args.costs == "flat" else costs(Path(args.costs) if args.costs else None, blocks)
    answers, data = answers_of(args.dump), read(args.dump, blocks, cost)
    problems = len(data.tokens) // answers
    fold = torch.arange(problems).repeat_interleave(answers) % FOLDS
    base = crossed(data, fold, lambda train, held: fixed(held, best_fixed(train)))
    best = ", ".join(str(blocks[i]) for i in base.unique().tolist())
    print(f"{problems} problems, {answers} answers each; best fixed size {best}\n")
    print("| chosen by | gain over it | 95 % | sizes |\n| --- | --- | --- | --- |")

    def row(name: str, choices: list[torch.Tensor]) -> None:
        value, low, high = gain(data, base, choices, answers)
        print(f"| {name} | {value:+.1f} % | {low:+.1f} to {high:+.1f} | {histogram(data, choices)} |", flush=True)

    row("oracle that sees the answer", [data.times.argmin(1)])
    if answers > 1:
        row("oracle, cross-validated", [cross_validated(data, answers)])
    for width in args.widths:
        for goal, name in (("rate", "predicted τ and costs"), ("time", "label: the quickest"), ("tau", "label: largest τ")):
            by = cost if goal == "rate" else None

            learned = partial(learned_choices, width=width, goal=goal, by=by, epochs=args.epochs)
            answered = [crossed(data, fold, partial(learned, seed=seed)) for seed in range(args.seeds)]
            row(f"policy of width {width}, {name}", answered)


if __name__ == "__main__":
    main()
