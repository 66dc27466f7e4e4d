"""The tokenizer in public/models: round trips, digits, blank lines, chat template; no torch needed."""

import json
from itertools import islice
from pathlib import Path
from random import Random

import jinja2
import pytest

from bundled import vocabulary
from bundled.task import problems

MODELS = Path(__file__).parent.parent.parent / "public" / "models"


@pytest.fixture(scope="module")
def tokenizer():
    return vocabulary.load(MODELS / "target")


def test_one_vocabulary() -> None:
    files = {(MODELS / name / "tokenizer.json").read_bytes() for name in ("target", "mid", "draft")}
    assert len(files) == 1


def test_size_and_specials(tokenizer) -> None:
    assert tokenizer.get_vocab_size() == vocabulary.SIZE
    assert [tokenizer.id_to_token(i) for i in range(6)] == vocabulary.SPECIALS


def test_any_text_round_trips(tokenizer) -> None:
    rng = Random(5)
    for _ in range(300):
        points = [
            rng.choice([rng.randrange(1, 0x250), rng.randrange(1, 0xD800), rng.randrange(0xE000, 0x110000)]) for _ in range(20)
        ]
        text = "".join(map(chr, points)) + rng.choice(["\n\n", "\n\n\n", " 12 ", ""])
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_digits_and_blank_lines_stand_alone(tokenizer) -> None:
    blank = tokenizer.encode("\n\n").ids
    assert len(blank) == 1
    for problem in islice(problems(9, held_out=False), 200):
        tokens = tokenizer.encode(problem.answer).tokens
        assert all(len(t) == 1 for t in tokens if any(c.isdigit() for c in t))
        assert tokenizer.encode(problem.answer).ids.count(blank[0]) == len(problem.steps)


def render(messages: list[dict], add_generation_prompt: bool) -> str:
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    template = json.loads((MODELS / "target" / "tokenizer_config.json").read_text())["chat_template"]
    return environment.from_string(template).render(messages=messages, add_generation_prompt=add_generation_prompt)


def test_chat_template(tokenizer) -> None:
    user, reply, system = ({"role": r, "content": c} for r, c in (("user", "Q"), ("assistant", "A"), ("system", "S")))
    assert render([user], True) == "<bos><user>Q<assistant>"
    assert render([user, reply], False) == "<bos><user>Q<assistant>A<eos>"
    assert render([user, reply, user], True) == "<bos><user>Q<assistant>A<eos><user>Q<assistant>"
    assert render([system, user], True) == "<bos><user>S\n\nQ<assistant>"
    question = "Mia has 12 apples."
    text = render([{"role": "user", "content": question}], True)
    assert tokenizer.encode(text).ids == vocabulary.prompt_ids(tokenizer, question)
