"""Writes the fixed problems of the two splits that no model is trained on: data/*.jsonl here, and lists in public/.

Held-out problems are measured on. Validation problems are for choosing: thresholds, defaults, recipes. They have a key
range of their own (task.py). The held-out lists are older than that range, so their keys in it are left out of it.

python -m bundled.heldout      (from training/)
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .task import LEVELS, Problem, problems

DATA = Path(__file__).parent.parent / "data"
PUBLIC = DATA.parent.parent / "public"
FILES = {"trained": DATA / "heldout.jsonl", "hard": DATA / "heldout-hard.jsonl"}
VALIDATION = {"trained": DATA / "validation.jsonl", "hard": DATA / "validation-hard.jsonl"}
LISTS = {
    FILES["trained"]: PUBLIC / "problems.json",
    FILES["hard"]: PUBLIC / "problems-hard.json",
    VALIDATION["trained"]: PUBLIC / "problems-validation.json",
    VALIDATION["hard"]: PUBLIC / "problems-hard-validation.json",
}
COUNT, SEED = 600, 20_250


def distinct(stream: Iterator[Problem], without: frozenset[str] = frozenset()) -> list[Problem]:
    """The first problems with keys of their own."""
    found: dict[str, Problem] = {}
    for problem in stream:
        if problem.key not in without:
            found.setdefault(problem.key, problem)
        if len(found) == COUNT:
            break
    return list(found.values())


@cache
def fixed(level: str = "trained") -> list[Problem]:
    """The held-out problems: the same every time."""
    return distinct(problems(SEED, held_out=True, level=LEVELS[level]))


def validation(level: str = "trained") -> list[Problem]:
    """None of them is a held-out problem of any level."""
    taken = frozenset(problem.key for each in LEVELS for problem in fixed(each))
    stream = problems(SEED + 1, held_out=True, level=LEVELS[level])
    return distinct((problem for problem in stream if problem.for_validation), taken)


def main() -> None:
    DATA.mkdir(exist_ok=True)
    for level in LEVELS:
        for made, path in ((fixed(level), FILES[level]), (validation(level), VALIDATION[level])):
            told = [{"question": p.question, "answer": p.answer, "result": str(p.result)} for p in made]
            kinds = [{"family": p.family, "steps": len(p.steps)} for p in made]
            path.write_text("".join(json.dumps(a | b) + "\n" for a, b in zip(told, kinds, strict=True)))
            LISTS[path].write_text("[\n" + ",\n".join(json.dumps(p) for p in told) + "\n]\n")


if __name__ == "__main__":
    main()
