"""The policy: it learns what can be learned, is exported faithfully, and its tables of time are right."""

import json

import numpy as np
import onnxruntime
import pytest
import torch

from blockpilot.export import export
from blockpilot.policy import GOALS, INPUTS, Policy, choose, features, learn, read, speed, tau

BLOCKS = [1, 4, 8]
COST = np.array([2.0, 3.0, 5.0])


@pytest.fixture
def data(tmp_path):
    """Prompts whose first logit says which size is best: many rounds at every size but that one."""
    rng = np.random.default_rng(1)
    best = rng.integers(0, 3, 300)
    rounds = np.full((300, 3), 40)
    rounds[np.arange(300), best] = 5
    logits = rng.normal(size=(300, 12)).astype(np.float32)
    logits[:, 0] = 3.0 * best
    np.savez(tmp_path / "d.npz", logits=logits, rounds=rounds, answer_tokens=np.full(300, 81), blocks=np.array(BLOCKS))
    return read(tmp_path / "d.npz", BLOCKS, COST)


def test_time_and_length(data) -> None:
    assert speed(data, torch.zeros(300, dtype=torch.int64)) == pytest.approx((data.rounds[:, 0] * 2.0).sum() / (300 * 80))
    assert tau(data, data.rounds.argmin(1)) == pytest.approx(80 / 5)


def test_candidates_are_chosen_by_name(data, tmp_path) -> None:
    fewer = read(tmp_path / "d.npz", [8, 1], np.array([5.0, 2.0]))
    assert torch.equal(fewer.rounds, data.rounds[:, [2, 0]])
    assert torch.equal(fewer.times, data.times[:, [2, 0]])


@pytest.mark.parametrize("goal", GOALS)
def test_learns(data, goal: str) -> None:
    policy = learn(data, width=32, goal=goal, epochs=30)
    right = choose(policy, data.logits, "raw", COST if goal == "rate" else None) == data.rounds.argmin(1)
    assert right.float().mean() > 0.95


def test_time_and_length_can_disagree(data) -> None:
    """One token more a round is not worth twice the time: the labels by time and by τ differ."""
    data.rounds[:] = torch.tensor([20.0, 10.0, 9.0])
    data.times[:] = data.rounds * torch.from_numpy(COST).float()
    picked = {goal: choose(learn(data, width=32, goal=goal), data.logits, "raw") for goal in ("time", "tau")}
    assert (picked["time"] == 1).all()
    assert (picked["tau"] == 2).all()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_onnx_equals_torch(tmp_path, depth: int) -> None:
    torch.manual_seed(depth)
    policy = Policy(12, 3, width=16, depth=depth)
    export(policy, BLOCKS, tmp_path / "policy.onnx", "raw")
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    x = torch.randn(1, 12) * 5
    (made,) = session.run(["tau"], {"features": x.numpy()})
    assert np.allclose(made, policy(x).exp().detach().numpy(), rtol=1e-5)
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["block_sizes"], config["input"], config["vocab_size"]) == (BLOCKS, "raw", 12)


def test_inputs() -> None:
    x = torch.randn(4, 50) * 7 + 3
    made = {kind: features(x, kind) for kind in INPUTS}
    assert torch.equal(made["raw"], x)
    assert torch.allclose(made["softmax"].sum(-1), torch.ones(4))
    assert torch.allclose(made["normalised"].mean(-1), torch.zeros(4), atol=1e-5)
    assert torch.allclose(made["normalised"].std(-1), torch.ones(4), atol=1e-5)
