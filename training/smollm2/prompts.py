"""Where prompts come from: GSM8K's training part, and what the model itself writes after its user header.

None may be an evaluation prompt: one that equals such a prompt, or shares ten words in a row with one, is refused.
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

RUN = 10  # words in a row

# How a self-written message begins; the model goes on from there. Weights are shares of answers.
OPENINGS = {
    "chat": ["", "", "What", "How", "Why", "Who", "When", "Where", "Which", "Can you", "Explain", "Describe", "Give me",
             "List", "Compare", "Imagine", "Tell me", "Suggest", "I", "My", "Is", "Write", "Write a", "Compose", "Draft",
             "Create", "Pretend you are", "Provide", "Write a news article about", "Write an encyclopedia article about"],
    "code": ["Write a Python function", "Write a function", "Write a program that", "Implement", "Write a Python program",
             "Write a JavaScript function", "Write an SQL query", "Complete this function:\n\ndef", "Write a class",
             "How do I", "Fix the bug in this code:\n", "Develop a"],
    "translation": ["Translate German to English: ", "Translate to French:", "Translate the following sentence"],
}  # fmt: skip
SHARES = {"math": 0.36, "chat": 0.32, "code": 0.2, "translation": 0.04, "summary": 0.08}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def evaluation_prompts(data: Path) -> Iterator[str]:
    """Every prompt of the data folder that is not training data."""
    for name, field in (("gsm8k-test", "question"), ("math500-test", "problem"), ("mt-bench", "turns"), ("spec-bench", "turns")):
        for line in (data / f"{name}.jsonl").read_text().splitlines():
            value = json.loads(line)[field]
            yield from [value] if isinstance(value, str) else value
    for line in gzip.decompress((data / "humaneval.jsonl.gz").read_bytes()).decode().splitlines():
        yield json.loads(line)["prompt"]
    for row in json.loads((data / "svamp.json").read_text()):
        yield f"{row['Body']} {row['Question']}"


class Evaluation:
    """Tells whether a prompt is, or quotes, an evaluation prompt."""

    def __init__(self, prompts: Iterator[str]) -> None:
        self.whole: set[tuple[str, ...]] = set()
        self.runs: set[tuple[str, ...]] = set()
        for prompt in prompts:
            said = tuple(words(prompt))
            self.whole.add(said)
            self.runs.update(said[i : i + RUN] for i in range(len(said) - RUN + 1))

    def holds(self, prompt: str) -> bool:
        said = tuple(words(prompt))
        return said in self.whole or any(said[i : i + RUN] in self.runs for i in range(len(said) - RUN + 1))


def questions(data: Path, rng: Random) -> Iterator[str]:
    """GSM8K's training questions, in random order, again and again."""
    lines = (data / "gsm8k-train.jsonl").read_text().splitlines()
    while True:
        for line in rng.sample(lines, len(lines)):
            yield json.loads(line)["question"]
