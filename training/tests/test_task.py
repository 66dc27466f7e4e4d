"""The generator, the split and the checker; no torch needed."""

import json
from itertools import islice
from random import Random

import pytest

from bundled.checker import EQUATION, final_number, steps_of, true_equations
from bundled.heldout import FILES, VALIDATION, fixed, validation
from bundled.task import FAMILIES, LEVELS, LIMIT, MOST_STEPS, STEP_BREAK, TRAINED, Level, Unfit, calculate, problems


def sample(held_out: bool, count: int, seed: int = 1, level: Level = TRAINED) -> list:
    return list(islice(problems(seed, held_out=held_out, level=level), count))


def test_same_seed_same_problems() -> None:
    assert sample(False, 200) == sample(False, 200)
    assert sample(False, 200) != sample(False, 200, seed=2)


def test_splits_share_no_arithmetic() -> None:
    train, held = sample(False, 20_000), sample(True, 500)
    assert not {p.key for p in train} & {p.key for p in held}
    assert len({p.key for p in held}) > 450


@pytest.mark.parametrize("family", FAMILIES)
def test_key_has_no_names(family: str) -> None:
    """One key, many questions: names and objects do not decide the split."""
    make, _ = FAMILIES[family]
    for seed in range(200):
        try:
            problem = make(Random(seed))
        except Unfit:
            continue
        assert not any(word[0].isupper() for word in problem.key.split("|"))


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
def test_every_step_is_one_true_equation(level: Level) -> None:
    for problem in sample(False, 2_000, level=level):
        assert 2 <= len(problem.steps) <= MOST_STEPS
        for step in problem.steps:
            assert calculate(step.left, step.operator, step.right) == step.result
            assert len(EQUATION.findall(step.text)) == 1
            assert true_equations(step.text)
            assert "\n" not in step.text
            assert max(step.left, step.right, step.result) <= LIMIT * max(level)


def test_checker_reads_answers() -> None:
    for problem in sample(True, 300):
        assert final_number(problem.answer) == str(problem.result)
        assert steps_of(problem.answer) == [step.text for step in problem.steps]


def test_checker_refuses() -> None:
    assert final_number("The answer is 12") is None
    assert final_number("The answer is 12. And then more") is None
    assert not true_equations("So it is 3 + 4 = 8 eggs.")
    assert not true_equations("No equation here.")
    assert not true_equations("It is 7 / 2 = 3 eggs.")


@pytest.mark.parametrize("level", LEVELS)
def test_fixed_problems_are_held_out(level: str) -> None:
    lines = [json.loads(line) for line in FILES[level].read_text().splitlines()]
    assert len(lines) >= 500
    stream = {p.question: p for p in islice(problems(20_250, held_out=True, level=LEVELS[level]), len(lines) + 100)}
    for line in lines:
        problem = stream[line["question"]]
        assert problem.held_out
        assert problem.answer == line["answer"]
        assert line["answer"].count(STEP_BREAK) == line["steps"]


@pytest.mark.parametrize("level", LEVELS)
def test_validation_problems_are_in_no_other_split(level: str) -> None:
    """No arithmetic of theirs was trained on or is measured on; the committed file is what the generator makes."""
    chosen = validation(level)
    assert [json.loads(line)["question"] for line in VALIDATION[level].read_text().splitlines()] == [p.question for p in chosen]
    assert all(p.held_out and p.for_validation for p in chosen)
    assert len({p.key for p in chosen}) == len(chosen) == 600
    for other in LEVELS:
        assert not {p.key for p in chosen} & {p.key for p in fixed(other)}
    assert not {p.key for p in chosen} & {p.key for p in sample(False, 5_000, level=LEVELS[level])}
