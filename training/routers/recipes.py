"""Compares judges that were trained on the same steps by different recipes: accuracy against escalated steps, simulated
on the held-out problems, with 95 % intervals by the bootstrap over problems, also of the first one less each other.

    python -m routers.recipes ../public/models OUT.json "ours=A.pt,B.pt" "the paper's=C.pt" … [--cache FILE] [--problems N]

A reward model escalates as rsd does, a router as arbitrage. Several checkpoints of a name differ in their seed; their
figures are averaged. `routers.plot` draws the file.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from bundled import vocabulary

from . import steps
from .curves import EVERY, NONE, area, least, thresholds
from .judge import load_judge
from .simulate import Contexts, Rule, Run, Scores, rules, simulate

SHARES = (0.1, 0.15, 0.2, 0.3)
KEEP = 0.98
DRAWS = 1000


@dataclass
class Curve:
    """One rule at every threshold; each array is [threshold, problem]."""

    solved: np.ndarray
    escalated: np.ndarray
    steps: np.ndarray
    useless: np.ndarray

    def points(self, drawn: np.ndarray) -> list[dict]:
        """The curve on these problems, from the draft alone to the target alone."""
        shares = self.escalated[:, drawn].sum(1) / self.steps[:, drawn].sum(1)
        found = zip(shares, self.solved[:, drawn].mean(1), strict=True)
        return [{"escalated": float(share), "accuracy": float(accuracy)} for share, accuracy in found]


def curve(plan: list[list[Run]]) -> Curve:
    def table(figure) -> np.ndarray:
        return np.array([[figure(run) for run in runs] for runs in plan])

    return Curve(
        table(lambda run: run.solved),
        table(lambda run: run.by.count("t")),
        table(lambda run: len(run.kept)),
        table(lambda run: run.useless),
    )


def figures(points: list[dict], target: float) -> dict[str, float]:
    shares, accuracies = np.array(sorted((p["escalated"], p["accuracy"]) for p in points)).T
    at = {f"accuracy_{share}": float(np.interp(share, shares, accuracies)) for share in SHARES}
    return at | {"area": area(points), "escalated_98": least(points, KEEP * target, "escalated")}


def mean(curves: list[Curve], drawn: np.ndarray) -> dict[str, float]:
    """Of the judges of one name: the mean of their figures on these problems."""
    each = [figures(one.points(drawn), float(one.solved[-1, drawn].mean())) for one in curves]
    return {name: float(np.mean([found[name] for found in each])) for name in each[0]}


@dataclass
class Summary:
    """A name's figures on all problems, and on the problems of each draw."""

    whole: dict[str, float]
    draws: list[dict[str, float]]

    def told(self) -> dict[str, list[float]]:
        """Each figure and its interval."""
        made = {}
        for name, value in self.whole.items():
            parts = (value, *np.quantile([one[name] for one in self.draws], [0.025, 0.975]))
            made[name] = [round(float(part), 4) for part in parts]
        return made

    def less(self, other: "Summary") -> "Summary":
        """The differences, draw by draw, since both are of the same problems."""

        def minus(mine: dict[str, float], theirs: dict[str, float]) -> dict[str, float]:
            return {name: value - theirs[name] for name, value in mine.items()}

        return Summary(minus(self.whole, other.whole), [minus(*both) for both in zip(self.draws, other.draws, strict=True)])


def summary(curves: list[Curve], draws: list[np.ndarray]) -> Summary:
    every = np.arange(curves[0].solved.shape[1])
    return Summary(mean(curves, every), [mean(curves, drawn) for drawn in draws])


def drawn_points(curves: list[Curve]) -> list[dict]:
    """For `routers.plot`: the first judge's curve."""
    first = curves[0]
    shares = first.escalated.sum(1) / first.steps.sum(1)
    useless = [u / e if e else None for u, e in zip(first.useless.sum(1), first.escalated.sum(1), strict=True)]
    found = zip(shares, first.solved.mean(1), useless, strict=True)
    return [{"escalation_rate": float(s), "accuracy": float(a), "useless_escalations": u} for s, a, u in found]


def measured(contexts: Contexts, problems: list[steps.Record], rule: Rule) -> Curve:
    ends = simulate(contexts, problems, [(rule, NONE), (rule, EVERY)])
    plan = [(rule, at) for at in thresholds(rule, contexts, [*ends[0], *ends[1]])]
    return curve([ends[0], *simulate(contexts, problems, plan), ends[1]])


def judged(path: Path) -> Rule:
    judge, recipe = load_judge(path)
    layout = "annotated" if recipe.get("annotated") else "prompt"
    made = rules(None, Scores(judge), layout) if judge.classes else rules(Scores(judge), None, layout)
    return next(rule for rule in made if rule.name == ("arbitrage" if judge.classes else "rsd"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("judges", nargs="+", help="NAME=CHECKPOINT[,CHECKPOINT …]")
    parser.add_argument("--cache", type=Path, help="what the models wrote in each context, kept between calls")
    parser.add_argument("--problems", type=int)
    args = parser.parse_args()
    torch.set_num_threads(1)
    problems = steps.held_out(vocabulary.load(args.models / "target"), args.problems)
    contexts = Contexts(args.models / "draft", args.models / "target", args.cache)
    named = {name: paths.split(",") for name, paths in (each.split("=", 1) for each in args.judges)}
    curves = {name: [measured(contexts, problems, judged(Path(path))) for path in paths] for name, paths in named.items()}
    free = {rule.name: rule for rule in rules(None, None, "prompt")}
    curves |= {
        name: [measured(contexts, problems, free[rule])]
        for name, rule in (("log-probability", "min-logprob"), ("random", "random"))
    }
    rng = np.random.default_rng(1)
    draws = [rng.integers(0, len(problems), len(problems)) for _ in range(DRAWS)]
    target = float(curves["random"][0].solved[-1].mean())
    every = np.arange(len(problems))
    found = {name: summary(each, draws) for name, each in curves.items()}
    first, *others = named
    told = {
        name: found[name].told() | {"escalated_98_each": [round(mean([one], every)["escalated_98"], 4) for one in each]}
        for name, each in curves.items()
    }
    told |= {f"{first} less {other}": found[first].less(found[other]).told() for other in others}
    for name, figure in told.items():
        print(json.dumps({"judge": name, **figure}), flush=True)
    systems = [{"system": name, "points": drawn_points(each)} for name, each in curves.items()]
    about = {"suite": "bundled-math", "split": "held-out", "prompts": len(problems), "target_accuracy": target}
    args.out.write_text(json.dumps({**about, "summary": told, "systems": systems}) + "\n")


if __name__ == "__main__":
    main()
