"""Writes a trained drafter: the speculators layout in f16, or one GGUF file with Q8_0 matrices, and its card.

python -m smollm2.export CHECKPOINT FOLDER [--q8] [--scores FILE]

The GGUF is llama.cpp's: architecture `dflash` (which DSpark shares) or `eagle3`, layers of the target by their inputs,
d2t as absolute ids. Scores are what `evaluate.py tau --json` wrote.
"""

import argparse
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bundled.gguf import BOOL, FLOAT32, INNER, STRING, UINT32, field, padded, string
from drafters.eagle import Eagle3

from . import layout
from .dspark import DSpark
from .gguf import F16, F32, I64, Q8_0
from .target import TAPS
from .train import folded, new

DRAFTS = {"dspark": 7, "eagle3": 7}  # that a round proposes

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

CARD = """---
license: apache-2.0
base_model: HuggingFaceTB/SmolLM2-135M-Instruct
---
# {title} drafter for SmolLM2-135M-Instruct

{about}
{parameters:,} parameters. It reads the outputs of the target's layers {taps} and drafts {drafted:,} of its {vocabulary:,} tokens.
It serves this target only.

## Data
{tokens:,} answer tokens (texts seen again count again) of the target itself: greedy and temperature-1 answers to GSM8K's
training questions and to prompts that the target wrote. No evaluation prompt, and none that quotes one. Made by
`training/smollm2` of the Outrider project.

## Results
{results}

## Files
{files}
"""

ABOUT = {
    "dspark": "DSpark (arXiv 2607.05147): a block of {block} rows filled in one pass, a Markov head and a confidence head.",
    "eagle3": "EAGLE-3: one layer that reads the target's features and the next token, and then its own output again.",
}


def kind_of(drafter: DSpark | Eagle3) -> str:
    return "eagle3" if isinstance(drafter, Eagle3) else "dspark"


def ggml_name(name: str) -> str:
    if name in OUTER:
        return OUTER[name]
    layer, rest = name.removeprefix("layers.").split(".", 1) if name.startswith("layers.") else ("0", name.split(".", 1)[1])
    part = rest.removesuffix(".weight")
    return f"blk.{layer}.{'attn_norm_2' if part == 'hidden_norm' else INNER[part]}.weight"


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


def gguf(drafter: DSpark | Eagle3, taps: list[int]) -> bytes:
    infos, data, offset = [], [], 0
    tensors = {name: value for name, value in drafter.state_dict().items() if name != "t2d"}
    for name, value in tensors.items():
        if name == "d2t":
            kind, raw = I64, (value + torch.arange(len(value))).numpy().tobytes()
        elif value.ndim < 2:
            kind, raw = F32, value.float().numpy().tobytes()
        else:
            if isinstance(drafter, Eagle3) and name.endswith(("q_proj.weight", "k_proj.weight")):
                value = pairs(value, drafter.sizes.heads if "q_proj" in name else drafter.sizes.kv_heads)
            whole = value.shape[1] % 32 == 0
            kind, raw = (Q8_0, q8(value)) if whole else (F16, value.half().numpy().tobytes())
        shape = struct.pack(f"<I{value.ndim}Q", value.ndim, *reversed(value.shape))
        infos.append(string(ggml_name(name)) + shape + struct.pack("<IQ", kind, offset))
        data.append(padded(raw))
        offset += len(data[-1])
    fields = metadata(drafter, taps)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(fields))
    return padded(head + b"".join(fields) + b"".join(infos)) + b"".join(data)


def results(scores: dict | None, kind: str) -> str:
    if not scores:
        return "Not measured yet."
    rows = {name.split()[1]: row for name, row in scores.items() if name.startswith(kind)}
    kinds = list(next(iter(rows.values())))
    head = ["τ, the mean number of tokens committed in a round: held-out prompts, greedy, by the number of drafts.", ""]
    table = ["| drafts | " + " | ".join("all" if k == "tau" else k for k in kinds) + " |", "| --- " * (len(kinds) + 1) + "|"]
    table += [f"| {drafts} | " + " | ".join(f"{row[k]:.2f}" for k in kinds) + " |" for drafts, row in rows.items()]
    return "\n".join(head + table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--q8", action="store_true", help="one GGUF file instead of config.json and model.safetensors")
    parser.add_argument("--scores", type=Path)
    args = parser.parse_args()
    saved = torch.load(args.checkpoint, weights_only=False)
    drafter = new(saved["kind"])
    drafter.load_state_dict(saved["model"])
    drafter, kind = folded(drafter, saved["scale"]), saved["kind"]
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.folder / ("model.gguf" if args.q8 else "model.safetensors")
    if args.q8:
        file.write_bytes(gguf(drafter, TAPS))
    else:
        layout.save(drafter, TAPS, DRAFTS[kind], args.folder)
    card = CARD.format(
        title={"dspark": "DSpark", "eagle3": "EAGLE-3"}[kind],
        about=ABOUT[kind].format(block=getattr(drafter, "block", 0)),
        parameters=sum(p.numel() for p in drafter.parameters()),
        taps=", ".join(map(str, TAPS)),
        drafted=len(drafter.d2t),
        vocabulary=drafter.sizes.vocabulary,
        tokens=saved["tokens"],
        results=results(json.loads(args.scores.read_text()) if args.scores else None, kind),
        files=f"`{file.name}` sha256 `{hashlib.sha256(file.read_bytes()).hexdigest()}`: {file.stat().st_size:,} bytes.",
    )
    (args.folder / "README.md").write_text(card)
    print(file, file.stat().st_size)


if __name__ == "__main__":
    main()
