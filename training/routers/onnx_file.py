"""Writes a judge as ONNX: input_ids, attention_mask (int64, [batch, length]) → logits [batch, length, classes].

Built node by node: twenty kinds of operator, opset 17, nothing an exporter adds. Matrices are stored as 8-bit integers
with one scale for each output (half the file of f16) and multiplied in f32. Padding may stand on either side.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bundled.model import Sizes

from .judge import Judge

OPSET = 17


def whole_numbers(weight: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """8-bit integers and the scales along `axis` that they are multiplied with."""
    scale = np.maximum(np.abs(weight).max(1 - axis, keepdims=True) / 127, 1e-8).astype(np.float32)
    return np.clip(np.round(weight / scale), -127, 127).astype(np.int8), scale


class Graph:
    """Collects nodes and constants; every method returns the name of what it made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}

    def op(self, kind: str, *inputs: str, **attributes) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, value: np.ndarray, name: str | None = None) -> str:
        name = name or f"constant_{len(self.constants)}"
        self.constants[name] = value
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def matrix(self, name: str, weight: np.ndarray, axis: int) -> str:
        """8-bit integers and a scale for every place along `axis`."""
        whole, scale = whole_numbers(weight, axis)
        zeros = self.constant(np.zeros(weight.shape[axis], np.int8), f"{name}.zero")
        scales = self.constant(scale.flatten(), f"{name}.scale")
        return self.op("DequantizeLinear", self.constant(whole, name), scales, zeros, axis=axis)

    def linear(self, x: str, name: str, weight: np.ndarray) -> str:
        return self.op("MatMul", x, self.matrix(name, np.ascontiguousarray(weight.T), 1))

    def norm(self, x: str, name: str, weight: np.ndarray, eps: float) -> str:
        mean = self.op("ReduceMean", self.op("Mul", x, x), axes=[-1])
        root = self.op("Sqrt", self.op("Add", mean, self.number(eps)))
        return self.op("Mul", self.op("Div", x, root), self.constant(weight, name))

    def heads(self, x: str, count: int, width: int) -> str:
        return self.op("Reshape", x, self.ints(0, 0, count, width))

    def rotate(self, x: str, cos: str, sin: str, half: int) -> str:
        """RoPE on halves; x [batch, heads, length, 2 half]."""
        axis, zero, middle, end = self.ints(-1), self.ints(0), self.ints(half), self.ints(2 * half)
        first, second = self.op("Slice", x, zero, middle, axis), self.op("Slice", x, middle, end, axis)
        turned = self.op("Concat", self.op("Neg", second), first, axis=-1)
        return self.op("Add", self.op("Mul", x, cos), self.op("Mul", turned, sin))


def rope(g: Graph, s: Sizes) -> tuple[str, str]:
    """Cosines and sines [batch, 1, length, head_dim] of each token's number among those that are no padding."""
    one = g.ints(1)
    number = g.op("Max", g.op("Sub", g.op("CumSum", "attention_mask", one), one), g.ints(0))
    frequencies = s.rope_theta ** (-np.arange(0, s.head_dim, 2, dtype=np.float32) / s.head_dim)
    position = g.op("Unsqueeze", g.op("Cast", number, to=TensorProto.FLOAT), g.ints(1, 3))
    angles = g.op("Mul", position, g.constant(np.concatenate([frequencies, frequencies]).astype(np.float32)))
    return g.op("Cos", angles), g.op("Sin", angles)


def bias(g: Graph) -> str:
    """0 where a token may look, -1e9 elsewhere; [batch, 1, 1, length, length]."""
    length = g.op("Gather", g.op("Shape", "input_ids"), g.constant(np.array(1, np.int64)), axis=0)
    places = g.op("Range", g.constant(np.array(0, np.int64)), length, g.constant(np.array(1, np.int64)))
    earlier = g.op("LessOrEqual", g.op("Unsqueeze", places, g.ints(0)), g.op("Unsqueeze", places, g.ints(1)))
    real = g.op("Unsqueeze", g.op("Cast", "attention_mask", to=TensorProto.BOOL), g.ints(1, 2, 3))
    return g.op("Where", g.op("And", real, earlier), g.number(0.0), g.number(-1e9))


def attention(g: Graph, s: Sizes, x: str, w: dict, at: str, cos: str, sin: str, hidden: str) -> str:
    group = s.heads // s.kv_heads

    def part(which: str, count: int) -> str:
        return g.heads(g.linear(x, f"{at}{which}_proj.weight", w[f"{at}{which}_proj.weight"]), count, s.head_dim)

    def turned(which: str, count: int) -> str:
        name = f"{at}{which}_norm.weight"
        normed = g.op("Transpose", g.norm(part(which, count), name, w[name], s.norm_eps), perm=[0, 2, 1, 3])
        return g.rotate(normed, cos, sin, s.head_dim // 2)

    # Query heads in groups, each with its one key head: [batch, key heads, group, length, head_dim].
    q = g.op("Reshape", turned("q", s.heads), g.ints(0, s.kv_heads, group, -1, s.head_dim))
    k = g.op("Unsqueeze", g.op("Transpose", turned("k", s.kv_heads), perm=[0, 1, 3, 2]), g.ints(2))
    v = g.op("Unsqueeze", g.op("Transpose", part("v", s.kv_heads), perm=[0, 2, 1, 3]), g.ints(2))
    scores = g.op("Add", g.op("Mul", g.op("MatMul", q, k), g.number(s.head_dim**-0.5)), hidden)
    mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    rows = g.op("Transpose", g.op("Reshape", mixed, g.ints(0, s.heads, -1, s.head_dim)), perm=[0, 2, 1, 3])
    name = f"{at}o_proj.weight"
    return g.linear(g.op("Reshape", rows, g.ints(0, 0, s.heads * s.head_dim)), name, w[name])


def feed_forward(g: Graph, x: str, w: dict, at: str) -> str:
    gate, up, down = (f"{at}{part}_proj.weight" for part in ("gate", "up", "down"))
    opened = g.linear(x, gate, w[gate])
    silu = g.op("Mul", opened, g.op("Sigmoid", opened))
    return g.linear(g.op("Mul", silu, g.linear(x, up, w[up])), down, w[down])


def export(judge: Judge, path: Path) -> None:
    s, g = judge.sizes, Graph()
    w = {name: value.detach().float().numpy() for name, value in judge.state_dict().items()}
    embedding = g.matrix("model.embed_tokens.weight", w["model.embed_tokens.weight"], 0)
    x = g.op("Gather", embedding, "input_ids", axis=0)
    (cos, sin), hidden = rope(g, s), bias(g)
    for index in range(s.layers):
        at = f"model.layers.{index}."
        first, second = f"{at}input_layernorm.weight", f"{at}post_attention_layernorm.weight"
        x = g.op("Add", x, attention(g, s, g.norm(x, first, w[first], s.norm_eps), w, f"{at}self_attn.", cos, sin, hidden))
        x = g.op("Add", x, feed_forward(g, g.norm(x, second, w[second], s.norm_eps), w, f"{at}mlp."))
    x = g.norm(x, "model.norm.weight", w["model.norm.weight"], s.norm_eps)
    head = g.op("MatMul", x, g.constant(np.ascontiguousarray(w["score.weight"].T), "score.weight"))
    g.nodes.append(helper.make_node("Add", [head, g.constant(w["score.bias"], "score.bias")], ["logits"], name="logits"))
    shape = ["batch", "length"]
    graph = helper.make_graph(
        g.nodes,
        "router",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*shape, judge.classes])],
        [numpy_helper.from_array(value, name) for name, value in g.constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
