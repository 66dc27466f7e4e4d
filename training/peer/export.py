"""A bundled language model as ONNX, the way transformers.js reads it: what the benchmark page compares our engine with.

python -m peer.export ../public/models/target ../public/peers/target      (from training/)

The graph is onnxruntime-genai's own for its WebGPU provider, with f32 arithmetic and a key/value cache. Weights that f16 holds
without loss (all of the trained ones: they were published in f16) lie in the file as f16 before a Cast, which the runtime folds
when it loads the model: half the download, the same numbers.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")
SMALLEST = 4096
"""Elements of a weight for which a Cast is worth its node."""


def build(source: Path, folder: Path) -> onnx.ModelProto:
    options = ["-m", "model", "-i", str(source), "-o", str(folder), "-c", str(folder), "-p", "fp32", "-e", "webgpu"]
    prune = ["--extra_options", "prune_lm_head=true"]  # the last row's logits are all that decoding reads
    subprocess.run([sys.executable, "-m", "onnxruntime_genai.models.builder", *options, *prune], check=True)
    return onnx.load(folder / "model.onnx")


def fix_cache_shape(model: onnx.ModelProto, head_dim: int) -> None:
    """transformers.js takes the shape of an empty cache from the graph's inputs."""
    for value in [*model.graph.input, *model.graph.output]:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param == "kv_cache_dim":
                dim.dim_value = head_dim


def fix_head(model: onnx.ModelProto, source: Path) -> None:
    """The builder takes whatever has as many rows as the vocabulary for the head. Here gate and up have them too, so its head
    reads the first layer and holds the last one's weights: it belongs after the final norm, and is the embedding."""
    embedding = load_file(source / "model.safetensors")["model.embed_tokens.weight"].astype(np.float32)
    graph = model.graph
    (weight,) = [each for each in graph.initializer if each.name == "lm_head.MatMul.weight"]
    weight.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(embedding.T), weight.name))
    (norm,) = [node for node in graph.node if any("final_norm" in name for name in node.input)]
    head = [node for node in graph.node if node.name.startswith("/lm_head/")]
    (pruned,) = [node for node in head if node.name == "/lm_head/prune/Gather"]
    pruned.input[0] = norm.output[0]
    others = [node for node in graph.node if node not in head]
    del graph.node[:]
    graph.node.extend([*others, *head])


def store_as_half(model: onnx.ModelProto) -> int:
    """Returns how many weights it was done to."""
    graph, casts = model.graph, []
    for weight in graph.initializer:
        if weight.data_type != TensorProto.FLOAT:
            continue
        values = numpy_helper.to_array(weight)
        half = values.astype(np.float16)
        if values.size < SMALLEST or not np.array_equal(half.astype(np.float32), values):
            continue
        name = weight.name
        weight.CopyFrom(numpy_helper.from_array(half, f"{name}.f16"))
        casts.append(helper.make_node("Cast", [f"{name}.f16"], [name], f"{name}.cast", to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    return len(casts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = build(given.source, Path(folder))
    fix_cache_shape(model, json.loads((given.source / "config.json").read_text())["head_dim"])
    fix_head(model, given.source)
    halves = store_as_half(model)
    (given.out / "onnx").mkdir(parents=True, exist_ok=True)
    file = given.out / "onnx" / "model.onnx"
    onnx.save(model, file)
    for name in FILES:
        shutil.copy(given.source / name, given.out / name)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB, {halves} weights as f16")


if __name__ == "__main__":
    main()
