"""The judge: a Qwen3 body with a value head (reward) or a classifier (router) on the last norm's output.

Sizes are those of a language model with one layer more, the bundled judges' the mid's: a token can only be compared with
what was predicted in its place by a layer above the one where the prediction is ready. The added layer begins as the identity.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from bundled import evaluate
from bundled.model import SIZES, LanguageModel, Sizes

from .rows import Batch

JUDGE = replace(SIZES["mid"], layers=SIZES["mid"].layers + 1)


class Judge(LanguageModel):
    """`classes` 0: a reward, sigmoid of one value; otherwise logits of so many classes."""

    def __init__(self, classes: int = 0, sizes: Sizes = JUDGE) -> None:
        super().__init__(sizes)
        self.classes = classes
        if classes:
            self.score = nn.Linear(sizes.width, classes)
        else:
            self.v_head = nn.ModuleDict({"summary": nn.Linear(sizes.width, 1)})
        for parameter in self.top.parameters():
            nn.init.zeros_(parameter)

    @property
    def top(self) -> nn.Linear:
        return self.score if self.classes else self.v_head["summary"]

    def judge(self, hidden: Tensor) -> Tensor:
        """Logits of the classes, or one value, in f32; [..., classes or 1]."""
        return self.top(hidden.float())

    def states_of(self, batch: Batch, dtype: torch.dtype = torch.float32) -> Tensor:
        return self.hidden(batch.ids, dtype, positions=batch.positions, mask=batch.mask)


def from_language_model(folder: Path, classes: int = 0) -> Judge:
    """The body of an exported language model, a layer that does nothing yet on top, and a zero head."""
    model = evaluate.load(folder)
    judge = Judge(classes, replace(model.sizes, layers=model.sizes.layers + 1))
    judge.load_state_dict(model.state_dict(), strict=False)
    for layer in judge.model.layers[model.sizes.layers :]:
        nn.init.zeros_(layer.self_attn.o_proj.weight)
        nn.init.zeros_(layer.mlp.down_proj.weight)
    return judge


def sized(state: dict) -> Sizes:
    """The sizes that the weights have."""
    layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("model.layers."))
    first = "model.layers.0."
    head_dim = len(state[first + "self_attn.q_norm.weight"])
    heads, kv_heads = (len(state[f"{first}self_attn.{name}_proj.weight"]) // head_dim for name in "qk")
    ffn, width = state[first + "mlp.gate_proj.weight"].shape
    return replace(JUDGE, layers=layers, width=width, heads=heads, kv_heads=kv_heads, head_dim=head_dim, ffn=ffn)


def shorter(state: dict, kept: list[int]) -> dict:
    """The weights with these layers only."""
    made = {}
    for name, value in state.items():
        parts = name.split(".")
        if parts[1] == "layers":
            if int(parts[2]) not in kept:
                continue
            parts[2] = str(kept.index(int(parts[2])))
        made[".".join(parts)] = value
    return made


def from_judge(state: dict, classes: int) -> Judge:
    """A router that begins as another one of as many classes, or as a reward model: same body; its classes order steps by the
    reward, low reward last.

    The logit of class c is -value · (2c / (classes - 1) - 1) / 2: with two classes softmax[1] = sigmoid(-value).
    """
    judge = Judge(classes, sized(state))
    if classes and "score.weight" in state:
        judge.load_state_dict(state)
        return judge
    body = {name: value for name, value in state.items() if name.startswith("model.")}
    judge.load_state_dict(body, strict=False)
    if classes:
        slope = torch.linspace(-0.5, 0.5, classes)[:, None]
        judge.score.weight.data = -slope * state["v_head.summary.weight"]
        judge.score.bias.data = -slope[:, 0] * state["v_head.summary.bias"]
    else:
        judge.load_state_dict(state)
    return judge


def load_judge(path: Path) -> tuple[Judge, dict]:
    """A judge and its recipe: from a training checkpoint, or from a folder that `routers.export` wrote (weights rounded to f16)."""
    if path.is_dir():
        config = json.loads((path / "config.json").read_text())
        classes, recipe = len(config.get("id2label", {})), {"annotated": config["layout"] == "annotated"}
        weights = {name: value.float() for name, value in load_file(path / "model.safetensors").items()}
    else:
        saved = torch.load(path)
        recipe, weights = saved.get("recipe", {}), saved["model"]
        classes = recipe.get("classes", 0)
    judge = Judge(classes, sized(weights))
    judge.load_state_dict(weights)
    return judge.eval(), recipe


def resampled(problems: np.ndarray, draws: int = 500) -> Iterator[np.ndarray]:
    """Bootstrap over problems: the places of the steps of as many problems, drawn with replacement. `problems`: each step's."""
    places = [np.flatnonzero(problems == one) for one in np.unique(problems)]
    rng = np.random.default_rng(1)
    for _ in range(draws):
        yield np.concatenate([places[i] for i in rng.integers(0, len(places), len(places))])


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The chance that a positive scores higher than a negative; ties count half."""
    scores, labels = np.asarray(scores, float), np.asarray(labels, bool)
    positive, negative = np.sort(scores[labels]), np.sort(scores[~labels])
    if not len(positive) or not len(negative):
        return float("nan")
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(negative, positive, "right")
    return float(below.sum() / (2 * len(positive) * len(negative)))
