"""Writes one model in the Hugging Face layout: f16 weights, configuration, tokenizer, card.

python -m bundled.export target CHECKPOINT TOKENIZER_DIR ../public/models/target [--note TEXT] [--scores FILE]
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from . import vocabulary
from .model import SIZES, Sizes


def configuration(s: Sizes) -> dict:
    """What `Qwen3ForCausalLM` reads."""
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": s.vocabulary,
        "hidden_size": s.width,
        "intermediate_size": s.ffn,
        "num_hidden_layers": s.layers,
        "num_attention_heads": s.heads,
        "num_key_value_heads": s.kv_heads,
        "head_dim": s.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": s.positions,
        "rms_norm_eps": s.norm_eps,
        "rope_theta": s.rope_theta,
        "rope_scaling": None,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": True,
        "use_cache": True,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": s.layers,
        "initializer_range": 0.02,
        "pad_token_id": vocabulary.PAD,
        "bos_token_id": vocabulary.BOS,
        "eos_token_id": vocabulary.EOS,
        "torch_dtype": "float16",
    }


def generation() -> dict:
    """Greedy until <eos>."""
    return {
        "bos_token_id": vocabulary.BOS,
        "eos_token_id": [vocabulary.EOS],
        "pad_token_id": vocabulary.PAD,
        "do_sample": False,
        "max_new_tokens": 320,
    }


def share(value: float) -> str:
    return f"{100 * value:.1f} %"


def score_table(scores: dict) -> str:
    """Markdown rows of exact answers: as exported, rounded to q8, by family, by steps."""
    f16, q8 = scores["f16"], scores.get("q8")
    lines = [
        f"Greedy, {f16['problems']} held-out problems.",
        "",
        "| weights | exact final answer | exact whole text |",
        "| --- | --- | --- |",
        f"| f16, as in this file | {share(f16['answer_exact'])} | {share(f16['text_exact'])} |",
    ]
    if q8:
        lines.append(f"| q8, groups of 32, simulated | {share(q8['answer_exact'])} | {share(q8['text_exact'])} |")
    for name in ("family", "steps"):
        keys = f16[name]
        lines += ["", "| " + name + " | " + " | ".join(keys) + " |", "| --- " * (len(keys) + 1) + "|"]
        lines.append("| exact | " + " | ".join(share(v[0]) for v in keys.values()) + " |")
        lines.append("| problems | " + " | ".join(str(v[1]) for v in keys.values()) + " |")
    return "\n".join(lines)


CARD = """---
license: mit
library_name: transformers
pipeline_tag: text-generation
---
# Outrider {name}

{note}A {parameters:,}-parameter Qwen3-shaped language model ({layers} layers × {width}, {heads} query and {kv} key/value
heads of {head_dim}, FFN {ffn}, tied embeddings, {positions} positions) that solves step-by-step arithmetic word problems in
plain English. It is one of three models of one vocabulary (target, mid, draft) that show speculative decoding in a
browser. It knows nothing else.

## Use
`Qwen3ForCausalLM` loads it. Prompt: `<bos><user>QUESTION<assistant>`; it ends its answer with `<eos>` (id 2). Steps are
separated by one blank line, which is always one token; the last line is "The answer is N.".

## Data
Problems made by `training/bundled/task.py` (five families, two to six steps, no number above 150), made anew for every
update; no other data. Held out by a hash of family, operations and numbers, so no held-out arithmetic is in training.

## Results
{results}

## Files
`model.safetensors` sha256 `{sha}`. Licence: MIT.
"""


def export(name: str, state: dict, tokenizer: Path, folder: Path, note: str, scores: dict | None) -> None:
    sizes = SIZES[name]
    folder.mkdir(parents=True, exist_ok=True)
    weights = {key: value.half().contiguous() for key, value in state.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    (folder / "config.json").write_text(json.dumps(configuration(sizes), indent=2) + "\n")
    (folder / "generation_config.json").write_text(json.dumps(generation(), indent=2) + "\n")
    vocabulary.write(folder, vocabulary.load(tokenizer))
    card = CARD.format(
        name=name,
        note=f"**{note}**\n\n" if note else "",
        parameters=sum(value.numel() for value in weights.values()),
        layers=sizes.layers,
        width=sizes.width,
        heads=sizes.heads,
        kv=sizes.kv_heads,
        head_dim=sizes.head_dim,
        ffn=sizes.ffn,
        positions=sizes.positions,
        results=score_table(scores) if scores else "Not measured yet.",
        sha=hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
    )
    (folder / "README.md").write_text(card)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=SIZES)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--note", default="", help="a line at the top of the card")
    parser.add_argument("--scores", type=Path, help='JSON of evaluations: {"f16": …, "q8": …}')
    args = parser.parse_args()
    state = torch.load(args.checkpoint, weights_only=False)["model"]
    scores = json.loads(args.scores.read_text()) if args.scores else None
    export(args.name, state, args.tokenizer, args.folder, args.note, scores)


if __name__ == "__main__":
    main()
