"""SpecGuard's signals by every variant, and the tables and plots of what the engine measured."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bundled import evaluate, vocabulary
from bundled.heldout import validation
from routers import held_out, plot, recipes, signals
from routers.steps import record

MODELS = Path(__file__).parent.parent.parent / "public" / "models"


def test_auc_counts_pairs() -> None:
    better = np.array([True, True, False, False, False])
    assert signals.auc(np.array([0.1, 0.3, 0.2, 0.3, 0.4]), better) == pytest.approx(4.5 / 6)
    assert signals.auc(np.array([0.5] * 5), better) == 0.5


def test_intervals_are_of_the_same_draws() -> None:
    problems = np.repeat(np.arange(40), 3)
    better = np.tile([True, False, False], 40)
    sure = np.where(better, 0.1, 0.9)
    found = signals.intervals({"sure": sure, "the same": sure, "chance": np.full(120, 0.5)}, better, problems)
    assert found["sure"] == found["the same"] == {"auc": [1, 1], "less_the_first": [0, 0]}
    assert found["chance"] == {"auc": [0.5, 0.5], "less_the_first": [-0.5, -0.5]}
    noisy = np.where(np.arange(120) % 7 == 0, 1 - sure, sure)  # wrong in every seventh step
    low, high = signals.intervals({"noisy": noisy}, better, problems)["noisy"]["auc"]
    assert low < signals.auc(noisy, better) < high


def test_attention_is_the_models_own() -> None:
    """Weights times values, through the output matrix, are what the attention gives."""
    torch.manual_seed(1)
    model, ids = evaluate.load(MODELS / "draft"), list(range(3, 40))
    with torch.no_grad():
        state = model.states(torch.tensor([ids]))[0]
        layer = model.model.layers[0]
        x, cos, sin = layer.input_layernorm(state), model.cos[: len(ids)], model.sin[: len(ids)]
        attention = layer.self_attn
        values = attention.v_proj(x).view(len(ids), attention.kv_heads, -1).transpose(0, 1)
        mixed = signals.weights(attention, x[0], cos, sin) @ values.repeat_interleave(attention.heads // attention.kv_heads, 0)
        expected = attention(x, cos, sin, None, None)
        assert torch.allclose(attention.o_proj(mixed.transpose(0, 1).reshape(1, len(ids), -1)), expected, atol=1e-5)


def test_groundings_are_shares() -> None:
    tokenizer = vocabulary.load(MODELS / "target")
    records = [record(tokenizer, p.question, p.answer) for p in validation()[:2]]
    draft, target = evaluate.load(MODELS / "draft"), evaluate.load(MODELS / "target")
    made = signals.contexts(draft, target, records)
    for one in records:
        assert len(one.kept) == sum(text[: len(one.prompt)] == one.prompt for text, *_ in made)
    text, step, logprobs, *_ = made[-1]
    assert len(step) == len(logprobs)
    with torch.no_grad():
        found = signals.groundings(draft, text, step)
        later = signals.groundings(draft, text + step[:-1], step[-1:])
    assert len(found) == 2 * (2 + 3) * 4 * 2
    assert all((values > -1e-5).all() and (values < 1 + 1e-4).all() for key, values in found.items() if key[1] != "max")
    key = (2, "mean", "plain", "counted")
    assert found[key][-1] < later[key][0]  # the same token rests on more where the step's other tokens count too


def point(threshold: float, share: float) -> dict:
    figures = {
        "accuracy": 0.5 + share / 2,
        "accuracy_ratio": 0.6 + share / 2,
        "escalation_rate": share,
        "useless_escalations": share / 2,
        "target_tokens": share,
    }
    return {"threshold": threshold, **figures, "intervals": {name: [value / 2, value] for name, value in figures.items()}}


def test_tables_and_plots_say_what_was_measured() -> None:
    points = [point(0.0, 0.01), point(0.4, 0.3), point(0.8, 0.6)]
    rsd = {"system": "rsd", "knob": "delta", "escalates": "low", "points": points, "initial": point(0.85, 0.6)}
    curves = {"suite": "bundled-math", "split": "held-out", "prompts": 9, "target_accuracy": 0.9, "systems": [rsd]}
    for figure in ("accuracy", "useless_escalations"):
        assert plot.draw(curves, figure).count("<polyline") == 1

    def timed(system: str, right: list[bool], tokens: int = 50) -> dict:
        report = {"system": system, "target_tokens": tokens, "prompts": [{"right": each} for each in right]}
        report |= {
            "accuracy_ratio": 0.75,
            "escalation_rate": 0.25,
            "useless_escalations": 0.5,
            "whole_answers": {"total_speedup": 1.5},
        }
        return report | {
            "intervals": {"total_speedup": [1.25, 1.75], "accuracy_ratio": [0.5, 1], "escalation_rate": [0.125, 0.375]}
        }

    names = ("autoregressive", "dflash", "rsd:inner=autoregressive", "rsd:inner=dflash", "oracle", "majority")
    report = {"systems": [timed(name, [True, False]) for name in names]}
    later = {"systems": [timed(name, [True], 20) for name in ("autoregressive", "draft-model", "majority")]}
    table = {row[0]: row for row in held_out.rows(curves, [report, later], {}, [])}
    assert table["`draft-model`"][7] == "100.0 %"
    assert table["`rsd`"][1:6] == ["delta = 0.85", "9", "80.0 % [40.0, 80.0]", "90.0 % [45.0, 90.0]", "60.0 % [30.0, 60.0]"]
    assert table["`rsd`"][-2:] == ["1.50 [1.25, 1.75]"] * 2
    assert table["`dflash`"][2:6] == ["9", "90.0 %", "100.0 %", "all"]
    assert table["`majority`"][2:6] == ["2", "50.0 % [0.0, 100.0]", "75.0 % [50.0, 100.0]", "none"]
    assert table["`oracle`"][5:7] == ["25.0 % [12.5, 37.5]", "50.0 %"]
    at = {row[0]: row for row in held_out.rows(curves, [report], {"rsd": 0.41}, [])}
    assert at["`rsd`"][1:4] == ["delta = 0.41", "9", "65.0 % [32.5, 65.0]"]
    other = held_out.with_judge([*table.values()], "small", [*at.values()])
    assert len(other) == len(table) + 1
    index = next(i for i, row in enumerate(other) if row[0] == "`rsd`")
    assert other[index + 1][:2] == ["`rsd`, small", "delta = 0.41"]


def test_recipes_are_compared_at_equal_escalation() -> None:
    """Ten problems of two steps: the draft solves none, half are solved with one step escalated, all with both."""
    solved = np.array([[0] * 10, [1] * 5 + [0] * 5, [1] * 10])
    escalated = np.array([[0] * 10, [1] * 10, [2] * 10])
    one = recipes.Curve(solved, escalated, np.full((3, 10), 2), np.zeros((3, 10)))
    found = recipes.figures(one.points(np.arange(10)), 1.0)
    assert found["accuracy_0.2"] == pytest.approx(0.2)
    assert found["escalated_98"] == pytest.approx(0.98)
    assert found["area"] == pytest.approx(0.5, abs=1e-3)
    rng = np.random.default_rng(2)
    draws = [rng.integers(0, 10, 10) for _ in range(50)]
    mean = recipes.summary([one, one], draws)
    value, low, high = mean.told()["accuracy_0.2"]
    assert low < value < high
    same = mean.less(recipes.summary([one], draws)).told()
    assert same["accuracy_0.2"] == same["escalated_98"] == [0, 0, 0]
