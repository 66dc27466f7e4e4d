"""Writes a policy that predicts log τ as ONNX: "features" [1, n] to "tau" [1, sizes]; config.json next to it says the rest.

Built node by node, so that the file holds five kinds of operator and nothing an exporter adds.
"""

import hashlib
import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper, numpy_helper

from .policy import Policy

OPSET = 17

CARD = """---
license: mit
---
# Outrider BlockPilot policy

For the bundled target and its DFlash drafter: after the prefill it predicts, for block sizes {blocks}, how many
tokens a round will commit (τ). The engine divides by the round times it has measured and takes the quickest size.
Input ("features"): the target's {input} logits of the prompt's last row, {width} numbers; output ("tau"): one τ a size.
Two hidden layers, the second with a residual (arXiv 2606.31315).

## Data
2,400 training problems of `training/bundled/task.py`: the target's logits, and the rounds that every block size took.

## Results
What it gains over a fixed block size: see `training/blockpilot/README.md`.

## Files
`policy.onnx` sha256 `{sha}`. Licence: MIT.
"""


def card(folder: Path) -> None:
    """The model card of an exported policy."""
    config = json.loads((folder / "config.json").read_text())
    text = CARD.format(
        blocks=", ".join(map(str, config["block_sizes"])),
        input=config["input"],
        width=config["vocab_size"],
        sha=hashlib.sha256((folder / "policy.onnx").read_bytes()).hexdigest(),
    )
    (folder / "README.md").write_text(text)


def export(policy: Policy, blocks: list[int], path: Path, kind: str) -> None:
    weights = {name: value.detach().numpy() for name, value in policy.state_dict().items()}
    initial = [numpy_helper.from_array(value, name) for name, value in weights.items()]

    def linear(name: str, x: str, y: str) -> onnx.NodeProto:
        return helper.make_node("Gemm", [x, f"{name}.weight", f"{name}.bias"], [y], transB=1)

    nodes = [linear("first", "features", "first"), helper.make_node("Relu", ["first"], ["x0"])]
    for i in range(len(policy.hidden)):
        nodes += [
            linear(f"hidden.{i}", f"x{i}", f"h{i}"),
            helper.make_node("Relu", [f"h{i}"], [f"r{i}"]),
            helper.make_node("Add", [f"x{i}", f"r{i}"], [f"x{i + 1}"]),
        ]
    nodes += [linear("last", f"x{len(policy.hidden)}", "log_tau"), helper.make_node("Exp", ["log_tau"], ["tau"])]
    width = policy.first.in_features
    graph = helper.make_graph(
        nodes,
        "blockpilot",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, width])],
        [helper.make_tensor_value_info("tau", TensorProto.FLOAT, [1, len(blocks)])],
        initial,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    config = {
        "architectures": ["BlockPilotPolicy"],
        "model_type": "blockpilot",
        "vocab_size": width,
        "block_sizes": blocks,
        "input": kind,
    }
    path.with_name("config.json").write_text(json.dumps(config, indent=2) + "\n")
    card(path.parent)
