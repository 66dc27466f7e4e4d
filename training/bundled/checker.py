"""Checks an answer text by program: the final number, the whole text, and each step's equation."""

import re

from .task import STEP_BREAK, calculate

FINAL = re.compile(r"The answer is (\d+)\.\s*$")
EQUATION = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")


def final_number(text: str) -> str | None:
    """The number in the last line "The answer is N.", or None."""
    found = FINAL.search(text)
    return found.group(1) if found else None


def true_equations(step: str) -> bool:
    """Whether the step holds an equation and every equation in it is true."""
    found = EQUATION.findall(step)
    return bool(found) and all(calculate(int(a), op, int(b)) == int(r) for a, op, b, r in found)


def steps_of(text: str) -> list[str]:
    """The steps of an answer, its last line left out."""
    return [part for part in text.split(STEP_BREAK) if part and not FINAL.match(part)]
