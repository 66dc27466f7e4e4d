"""Endless training rows: problems (loss on the answer) and, early on, drills (loss on results)."""

from collections.abc import Iterator
from random import Random

import torch
from tokenizers import Tokenizer
from torch import Tensor

from .task import FAMILIES, LIMIT, Problem, Unfit, calculate, draw
from .vocabulary import ASSISTANT, BOS, EOS, PAD, USER

IGNORE = -100
DRILLS = [(0.30, 0.5), (0.55, 0.25), (0.75, 0.1), (1.01, 0.0)]  # until this share of the run: this share of rows
SHORT_UNTIL = 0.08  # problems of at most three steps until this share of the run
Row = tuple[list[int], list[int]]


def training_problem(rng: Random, longest: int = 6) -> Problem:
    """A problem that is not held out, of at most `longest` steps."""
    while True:
        problem = draw(rng)
        if len(problem.steps) <= longest and not problem.held_out:
            return problem


def family_problem(rng: Random, family: str) -> Problem:
    """A problem of one family that is not held out."""
    while True:
        try:
            problem = FAMILIES[family][0](rng)
        except Unfit:
            continue
        if not problem.held_out:
            return problem


def drill(rng: Random) -> list[str]:
    """Eight equations: half from training problems, half drawn evenly from the same range."""
    lines = [rng.choice(training_problem(rng).steps).equation for _ in range(4)]
    while len(lines) < 8:
        operator = rng.choice("+++---**/")
        if operator in "+-":
            left, right = rng.randint(2, LIMIT), rng.randint(2, 60)
        else:
            left, right = rng.randint(2, 9), rng.randint(2, 9)
            left = left * right if operator == "/" else left
        result = calculate(left, operator, right)
        if 1 <= result <= LIMIT:
            lines.append(f"{left} {operator} {right} = {result}")
    rng.shuffle(lines)
    return lines


def row(tokenizer: Tokenizer, question: str, answer: str) -> Row:
    """Ids and next-token labels of one problem."""
    prompt = [BOS, USER, *tokenizer.encode(question).ids, ASSISTANT]
    reply = [*tokenizer.encode(answer).ids, EOS]
    ids = prompt + reply
    return ids[:-1], [IGNORE] * (len(prompt) - 1) + reply


def drill_row(tokenizer: Tokenizer, lines: list[str]) -> Row:
    """Ids and labels of one drill: only results and the blank line after them count."""
    ids, labels = [BOS], [IGNORE]
    for line in lines:
        left, right = line.rsplit("=", 1)
        told = tokenizer.encode(f" {left}=").ids
        result = tokenizer.encode(f"{right}\n\n").ids
        ids += told + result
        labels += [IGNORE] * len(told) + result
    return ids[:-1], labels[1:]


def pack(rows: list[Row]) -> tuple[Tensor, Tensor]:
    """Rows padded on the right to the next multiple of 16."""
    width = -(-max(len(ids) for ids, _ in rows) // 16) * 16
    ids = torch.tensor([r + [PAD] * (width - len(r)) for r, _ in rows])
    labels = torch.tensor([r + [IGNORE] * (width - len(r)) for _, r in rows])
    return ids, labels


class Batches:
    """Batches of about `tokens` padded tokens; rows of like length go together."""

    def __init__(self, tokenizer: Tokenizer, tokens: int, seed: int, focus: tuple[str, float] | None = None) -> None:
        """`focus` names a family and the share of rows that it gets on top of its usual one."""
        self.tokenizer, self.tokens, self.rng, self.focus = tokenizer, tokens, Random(seed), focus
        self.progress = 0.0

    def rows(self, count: int) -> list[Row]:
        drills = next(share for until, share in DRILLS if self.progress < until)
        longest = 3 if self.progress < SHORT_UNTIL else 6
        made = []
        for _ in range(count):
            if self.rng.random() < drills:
                made.append(drill_row(self.tokenizer, drill(self.rng)))
            else:
                focused = self.focus is not None and self.rng.random() < self.focus[1]
                problem = family_problem(self.rng, self.focus[0]) if focused else training_problem(self.rng, longest)
                made.append(row(self.tokenizer, problem.question, problem.answer))
        return made

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        while True:
            rows = sorted(self.rows(384), key=lambda r: len(r[0]))
            groups: list[list[Row]] = [[]]
            for one in rows:
                width = -(-len(one[0]) // 16) * 16
                if (len(groups[-1]) + 1) * width > self.tokens:
                    groups.append([])
                groups[-1].append(one)
            self.rng.shuffle(groups)
            for group in groups:
                yield pack(group)
