"""Accuracy against escalated steps and target tokens on the held-out problems, for every rule over its threshold.

    python -m routers.curves ../public/models --prm PRM.pt --router ROUTER.pt --json data/routers-curves.json [--cache FILE]
    python -m routers.curves ../public/models --level hard --draft mid     (bounds of another pair: no judges)

Everything greedy. `truth` knows which step is right and escalates a share of the steps where only the target's is: the
upper bound. `wrong` knows which of the draft's steps are right, not what the target would write: a perfect reward.
`oracle` runs both models and compares the reward model's scores. The area is that between a rule's curve and random
routing's (share of escalated steps across, accuracy up), in parts of the area of `truth`.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from bundled import vocabulary
from bundled.task import LEVELS

from . import steps
from .judge import load_judge
from .simulate import Contexts, Rule, Run, Scores, rules, simulate

SHARES = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
EVERY, NONE = -1e9, 1e9


def point(threshold: float, runs: list[Run], whole: int) -> dict:
    """One point of a curve; `whole`: the tokens the target writes alone."""
    count = sum(len(run.kept) for run in runs)
    escalated = sum(run.by.count("t") for run in runs)
    return {
        "threshold": round(threshold, 6),
        "accuracy": sum(run.solved for run in runs) / len(runs),
        "escalated": escalated / count,
        "target_tokens": sum(run.target_tokens for run in runs) / whole,
        "useless": sum(run.useless for run in runs) / max(1, escalated),
        "steps": count / len(runs),
    }


def thresholds(rule: Rule, contexts: Contexts, runs: list[Run]) -> list[float]:
    """Thresholds that escalate given shares of the steps of finished runs."""
    if rule.name in ("random", "wrong", "truth"):
        return [1 - share for share in SHARES] + ([] if rule.name == "random" else [0.0])
    doubts, replay = [], [(Run(run.problem), run) for run in runs]
    pairs = [(again, run, n) for again, run in replay for n in range(len(run.kept))]
    if rule.reads and rule.judge:
        wanted = set()
        for again, run, n in pairs:
            again.kept, again.by = run.kept[:n], run.by[:n]
            wanted |= set(rule.reads(again, contexts.known[again.key]))
        rule.judge.ensure(wanted)
    for again, run, n in pairs:
        again.kept, again.by = run.kept[:n], run.by[:n]
        doubts.append(rule.doubt(again, contexts.known[again.key]))
    return sorted({float(np.quantile(doubts, 1 - share)) for share in SHARES}, reverse=True)


def area(curve: list[dict], x: str = "escalated") -> float:
    points = sorted((p[x], p["accuracy"]) for p in curve)
    xs, ys = zip(*points, strict=True)
    grid = np.linspace(0, 1, 1001)
    return float(np.trapezoid(np.interp(grid, xs, ys), grid))


def least(curve: list[dict], accuracy: float, x: str) -> float | None:
    """The least share at which the curve reaches an accuracy (between points: a straight line)."""
    points = sorted((p[x], p["accuracy"]) for p in curve)
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 >= accuracy:
            return x0
        if y1 >= accuracy:
            return x0 + (x1 - x0) * (accuracy - y0) / (y1 - y0)
    return None


def ratio(one: str, other: str, curves: dict[str, list[dict]], accuracy: float) -> float:
    """The escalations that one rule needs for an accuracy, in parts of another's."""
    shares = [least(curves[name], accuracy, "escalated") for name in (one, other)]
    return shares[0] / shares[1] if shares[0] and shares[1] else float("nan")


def summarise(curves: dict[str, list[dict]], draft: float, target: float) -> dict:
    random = area(curves["random"])
    best = area(curves["truth"]) - random
    levels = {"98 % of the target": 0.98 * target}
    levels |= {f"{part:.0%} of the way": draft + part * (target - draft) for part in (0.25, 0.5, 0.75, 0.9)}
    return {
        "draft": draft,
        "target": target,
        "area": {name: (area(curve) - random) / best for name, curve in curves.items()},
        "escalated_at": {
            level: {name: least(curve, accuracy, "escalated") for name, curve in curves.items()}
            for level, accuracy in levels.items()
        },
        "arbitrage_to_rsd": {
            level: ratio("arbitrage", "rsd", curves, accuracy)
            for level, accuracy in levels.items()
            if {"arbitrage", "rsd"} <= set(curves)
        },
        "truth_to_wrong": ratio("truth", "wrong", curves, 0.98 * target),
        "target_tokens_at_98": {name: least(curve, 0.98 * target, "target_tokens") for name, curve in curves.items()},
    }


def measure(contexts: Contexts, problems: list[steps.Record], made: list[Rule]) -> dict:
    by_name = {rule.name: rule for rule in made}
    only = simulate(contexts, problems, [(by_name["random"], NONE), (by_name["random"], EVERY)])
    whole = sum(run.target_tokens for run in only[1])
    ends = [point(NONE, only[0], whole), point(EVERY, only[1], whole)]
    plan = [(rule, threshold) for rule in made for threshold in thresholds(rule, contexts, [*only[0], *only[1]])]
    curves: dict[str, list[dict]] = {rule.name: [ends[0]] for rule in made}
    for (rule, threshold), runs in zip(plan, simulate(contexts, problems, plan), strict=True):
        curves[rule.name].append(point(threshold, runs, whole))
    for curve in curves.values():
        curve.append(ends[1])
    return {"problems": len(problems), "summary": summarise(curves, *(end["accuracy"] for end in ends)), "curves": curves}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--prm", type=Path)
    parser.add_argument("--router", type=Path)
    parser.add_argument("--cache", type=Path, help="what the models wrote in each context, kept between calls")
    parser.add_argument("--problems", type=int)
    parser.add_argument("--level", choices=LEVELS, default="trained")
    parser.add_argument("--draft", default="draft")
    parser.add_argument("--target", default="target")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    problems = steps.held_out(vocabulary.load(args.models / "target"), args.problems, args.level)
    contexts = Contexts(args.models / args.draft, args.models / args.target, args.cache)
    prm = Scores(load_judge(args.prm)[0]) if args.prm else None
    router, recipe = load_judge(args.router) if args.router else (None, {})
    layout = "annotated" if recipe.get("annotated") else "prompt"
    result = rounded(measure(contexts, problems, rules(prm, Scores(router) if router else None, layout)))
    print(json.dumps(result["summary"], indent=1))
    for name, curve in result["curves"].items():
        print(name, [(p["escalated"], p["accuracy"], p["useless"]) for p in curve])
    if args.json:
        result = {"level": args.level} | result
        args.json.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
