"""A drafter as one GGUF file with matrices of 4 or 8 bits: writes it, and takes the weights back to train them on.

The file is llama.cpp's: architecture `dflash` (which DSpark shares) or `eagle3`, layers of the target by their inputs,
d2t as absolute ids.
"""

import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bundled.gguf import BOOL, FLOAT32, INNER, STRING, UINT32, field, padded, string
from drafters.eagle import Eagle3

from .dspark import DSpark
from .gguf import F16, F32, I64, Q4_1, Q8_0, read
from .target import halves

OUTER = {
    "lm_head.weight": "output.weight",
    "norm.weight": "output_norm.weight",
    "fc.weight": "fc.weight",
    "hidden_norm.weight": "enc.output_norm.weight",
    "markov_head.markov_w1.weight": "markov_w1.weight",
    "markov_head.markov_w2.weight": "markov_w2.weight",
    "confidence_head.proj.weight": "conf_proj.weight",
    "confidence_head.proj.bias": "conf_proj.bias",
    "d2t": "d2t",
}


def kind_of(drafter: DSpark | Eagle3) -> str:
    return "eagle3" if isinstance(drafter, Eagle3) else "dspark"


def ggml_name(name: str) -> str:
    if name in OUTER:
        return OUTER[name]
    layer, rest = name.removeprefix("layers.").split(".", 1) if name.startswith("layers.") else ("0", name.split(".", 1)[1])
    part = rest.removesuffix(".weight")
    return f"blk.{layer}.{'attn_norm_2' if part == 'hidden_norm' else INNER[part]}.weight"


def q4(values: Tensor) -> bytes:
    """Blocks of 32: an f16 scale, an f16 least value, and 4 bits each; the first 16 are the low halves of the bytes."""
    blocks = values.float().numpy().reshape(-1, 32)
    least = blocks.min(axis=1, keepdims=True).astype(np.float16)
    scale = ((blocks.max(axis=1, keepdims=True) - least) / 15).astype(np.float16)
    above = blocks - least.astype(np.float32)
    steps = np.divide(above, scale.astype(np.float32), out=np.zeros_like(blocks), where=scale > 0)
    bits = np.rint(steps).clip(0, 15).astype(np.uint8)
    packed = bits[:, :16] | bits[:, 16:] << 4
    return np.concatenate((scale.view(np.uint8), least.view(np.uint8), packed), axis=1).tobytes()


def q8(values: Tensor) -> bytes:
    """Blocks of 32: an f16 scale and 32 signed bytes."""
    blocks = values.float().numpy().reshape(-1, 32)
    scale = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    steps = np.divide(blocks, scale.astype(np.float32), out=np.zeros_like(blocks), where=scale > 0)
    return np.concatenate((scale.view(np.uint8), np.rint(steps).clip(-127, 127).astype(np.int8).view(np.uint8)), axis=1).tobytes()


def metadata(drafter: DSpark | Eagle3, taps: list[int]) -> list[bytes]:
    s, kind = drafter.sizes, kind_of(drafter)
    arch = "eagle3" if kind == "eagle3" else "dflash"
    made = [
        field("general.architecture", STRING, arch),
        field("general.name", STRING, f"SmolLM2-135M-Instruct {kind} drafter"),
        field(f"{arch}.block_count", UINT32, s.layers),
        field(f"{arch}.context_length", UINT32, 8192),
        field(f"{arch}.embedding_length", UINT32, s.width),
        field(f"{arch}.feed_forward_length", UINT32, s.ffn),
        field(f"{arch}.attention.head_count", UINT32, s.heads),
        field(f"{arch}.attention.head_count_kv", UINT32, s.kv_heads),
        field(f"{arch}.attention.key_length", UINT32, s.head_dim),
        field(f"{arch}.attention.value_length", UINT32, s.head_dim),
        field(f"{arch}.attention.layer_norm_rms_epsilon", FLOAT32, s.norm_eps),
        field(f"{arch}.rope.freq_base", FLOAT32, s.rope_theta),
        field(f"{arch}.vocab_size", UINT32, s.vocabulary),
        field(f"{arch}.target_layers", UINT32, [layer + 1 for layer in taps]),
    ]
    if isinstance(drafter, Eagle3):
        return [
            *made,
            field("eagle3.target_hidden_size", UINT32, s.width),
            field("eagle3.norm_before_residual", BOOL, drafter.midlayer.normed),
        ]
    return [
        *made,
        field("dflash.block_size", UINT32, drafter.block),
        field("dflash.attention.causal", BOOL, False),
        field("dflash.sample_from_anchor", BOOL, True),
        field("dflash.has_confidence_head", BOOL, True),
        field("tokenizer.ggml.mask_token_id", UINT32, drafter.mask_id),
    ]


def pairs(weight: Tensor, heads: int) -> Tensor:
    """The rows of a head as GGUF's `llama` has them: those that turn together follow one another."""
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


# Of the matrices, by ggml's name.
QUANTISED = {"Q8_0": (Q8_0, q8), "Q4_1": (Q4_1, q4)}


def gguf(drafter: DSpark | Eagle3, taps: list[int], matrices: str) -> bytes:
    """`matrices`: how they are stored, a key of `QUANTISED`."""
    matrix, quantised = QUANTISED[matrices]
    infos, data, offset = [], [], 0
    tensors = {name: value for name, value in drafter.state_dict().items() if name != "t2d"}
    for name, value in tensors.items():
        if name == "d2t":
            stored, raw = I64, (value + torch.arange(len(value))).numpy().tobytes()
        elif value.ndim < 2:
            stored, raw = F32, value.float().numpy().tobytes()
        else:
            if isinstance(drafter, Eagle3) and name.endswith(("q_proj.weight", "k_proj.weight")):
                value = pairs(value, drafter.sizes.heads if "q_proj" in name else drafter.sizes.kv_heads)
            whole = value.shape[1] % 32 == 0
            stored, raw = (matrix, quantised(value)) if whole else (F16, value.half().numpy().tobytes())
        shape = struct.pack(f"<I{value.ndim}Q", value.ndim, *reversed(value.shape))
        infos.append(string(ggml_name(name)) + shape + struct.pack("<IQ", stored, offset))
        data.append(padded(raw))
        offset += len(data[-1])
    fields = metadata(drafter, taps)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(fields))
    return padded(head + b"".join(fields) + b"".join(infos)) + b"".join(data)


def restore(drafter: DSpark | Eagle3, path: Path) -> None:
    """Takes the weights and the draft vocabulary of a file that `gguf` wrote: as exact as its bits are."""
    _, tensors = read(path)
    ids = tensors["d2t"].to(drafter.d2t.device)
    made = {"d2t": ids - torch.arange(len(ids)), "t2d": torch.zeros_like(drafter.t2d)}
    made["t2d"][ids] = True
    for name in drafter.state_dict():
        if name not in made:
            value = tensors[ggml_name(name)]
            if isinstance(drafter, Eagle3) and name.endswith(("q_proj.weight", "k_proj.weight")):
                value = halves(value, drafter.sizes.heads if "q_proj" in name else drafter.sizes.kv_heads)
            made[name] = value
    drafter.load_state_dict(made)
