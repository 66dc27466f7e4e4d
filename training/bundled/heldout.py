"""Writes the fixed held-out problems: data/heldout.jsonl here, problems.json for the demo and the benchmark.

python -m bundled.heldout ../public/problems.json      (from training/)
python -m bundled.heldout ../public/problems-hard.json hard
"""

import argparse
import json
from pathlib import Path

from .task import LEVELS, problems

DATA = Path(__file__).parent.parent / "data"
FILES = {"trained": DATA / "heldout.jsonl", "hard": DATA / "heldout-hard.jsonl"}
COUNT, SEED = 600, 20_250


def fixed(level: str = "trained") -> list[dict]:
    """The same distinct problems every time."""
    found, keys = [], set()
    for problem in problems(SEED, held_out=True, level=LEVELS[level]):
        if problem.key in keys:
            continue
        keys.add(problem.key)
        found.append(
            {
                "question": problem.question,
                "answer": problem.answer,
                "result": str(problem.result),
                "family": problem.family,
                "steps": len(problem.steps),
            }
        )
        if len(found) == COUNT:
            return found
    raise AssertionError("the stream is endless")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("public", type=Path)
    parser.add_argument("level", choices=LEVELS, default="trained", nargs="?")
    args = parser.parse_args()
    made = fixed(args.level)
    DATA.mkdir(exist_ok=True)
    FILES[args.level].write_text("".join(json.dumps(p) + "\n" for p in made))
    short = [{k: p[k] for k in ("question", "answer", "result")} for p in made]
    args.public.write_text("[\n" + ",\n".join(json.dumps(p) for p in short) + "\n]\n")


if __name__ == "__main__":
    main()
