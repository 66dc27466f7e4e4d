"""Puts worked examples before the problems of SVAMP, so that a small model answers them in short steps: one calculation each,
a blank line between them. Writes prompts for `outrider thresholds --prompts` and `outrider bench --answers`.

    python -m routers.worked svamp.json OUT.jsonl [--problems 100] [--offset 0]     (from training/)
"""

import argparse
import json
from pathlib import Path

EXAMPLES = [
    (
        "Sam had 5 apples. He bought 8 more apples and gave 3 apples to Ann. How many apples does Sam have now?",
        "After buying more, Sam has 5 + 8 = 13 apples.\n\nHe gave 3 away, so 13 - 3 = 10 apples are left.\n\nThe answer is 10.",
    ),
    (
        "A book costs 12 dollars and a pen costs 3 dollars. How much more does the book cost than the pen?",
        "The book costs 12 - 3 = 9 dollars more.\n\nThe answer is 9.",
    ),
    (
        "There are 6 boxes with 4 pens in each box. 7 of the pens are broken. How many pens work?",
        "The boxes hold 6 * 4 = 24 pens.\n\nOf these, 24 - 7 = 17 pens work.\n\nThe answer is 17.",
    ),
]


def prompt(question: str) -> list[dict[str, str]]:
    shots = [{"role": role, "content": text} for pair in EXAMPLES for role, text in zip(("user", "assistant"), pair, strict=True)]
    return [*shots, {"role": "user", "content": question}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("svamp", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--offset", type=int, default=0)
    asked = parser.parse_args()
    wanted = json.loads(asked.svamp.read_text())[asked.offset : asked.offset + asked.problems]
    lines = []
    for problem in wanted:
        question = f"{problem['Body'].rstrip().rstrip('.')}. {problem['Question']}"
        lines.append(json.dumps({"messages": prompt(question), "Answer": problem["Answer"]}) + "\n")
    asked.out.write_text("".join(lines))


if __name__ == "__main__":
    main()
